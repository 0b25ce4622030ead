"""Run jobs on a simulated machine by schedules, and shrink a schedule that finds a fault."""

from __future__ import annotations

import contextvars
import os
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ClassVar

from scurry.common import Configuration
from scurry.common._garbage import rarely_collected
from scurry.common.job_status import JobStatus
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import CheckpointLockedError, JobError, ScurryError
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.steps import Steps
from scurry.runtime.local.runner import LocalRunner
from scurry.testing.plans import job_plan_of
from scurry.testing.simulation.determined import determined
from scurry.testing.simulation.event_loop import event_loops_of
from scurry.testing.simulation.files import SimulatedDisk
from scurry.testing.simulation.machine import KilledError, Machine
from scurry.testing.simulation.programs import FoundFault, Program, Run
from scurry.testing.simulation.schedules import Schedule
from scurry.testing.simulation.watermarks import CommittedWatermarks

__all__ = ["SimulatedJob", "Simulation"]

#: A job that does not end after so many operations never does, nor one that was started so often.
_MOST_OPERATIONS, _MOST_PROCESSES = 20_000, 60
#: A shrinking ends after so many runs.
_MOST_TRIALS = 400
_SETTINGS = {
    "scurry.runner": "local",
    "scurry.progress": "off",
    "pipeline.max-parallelism": "16",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "3",
    "restart-strategy.fixed-delay.delay": "1 s",
}


class Simulation:
    """Runs of a program on simulated machines.

    Args:
        program: The program.
        kinds: Kind of a fault -> its weight; all those of the program's endpoints if not given.
        records: The largest number of records of a run.
    """

    #: what runs a schedule
    job_class: ClassVar[type[SimulatedJob]]

    def __init__(self, program: Program, kinds: dict[str, int] | None = None, records: int = 30) -> None:
        self._program, self._records = program, records
        self._kinds = program.endpoints.kinds if kinds is None else kinds
        self._usual: int | None = None

    def schedule(self, seed: int) -> Schedule:
        """Return the schedule of a seed."""
        if self._usual is None:
            self._usual = self.run(Schedule(0, self._records)).operations
        return Schedule.of_seed(seed, self._records, self._usual, self._kinds)

    def run(self, schedule: Schedule) -> Run:
        """Run a schedule.

        Raises:
            FoundFault: The run did not do what it has to do.
        """
        root = tempfile.mkdtemp(prefix="scurry-simulation-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        try:
            return self.job_class(self._program, schedule, root).run()
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def check(self, schedules: int, first: int = 0) -> list[Run]:
        """Run the schedules of seeds one after the other; shrink the first one that finds a fault.

        Raises:
            FoundFault: One did not do what it has to do; its text is a test of the shrunk schedule.
        """
        runs = []
        for seed in range(first, first + schedules):
            run = self.attempt(seed)
            if isinstance(run, FoundFault):
                raise self.shrink(run)
            runs.append(run)
        return runs

    def attempt(self, schedule: Schedule | int) -> Run | FoundFault:
        """Run a schedule, or that of a seed; return the fault that it finds, if it does."""
        try:
            return self.run(self.schedule(schedule) if isinstance(schedule, int) else schedule)
        except FoundFault as found:
            return found

    def shrink(self, found: FoundFault) -> FoundFault:
        """Return the fault that the simplest schedule finds, of those to which steps lead that find one, too."""
        trials, simpler = 0, True
        while simpler and trials < _MOST_TRIALS:
            simpler = False
            for smaller in found.schedule.smaller():
                trials += 1
                same = self.attempt(smaller)
                if isinstance(same, FoundFault):
                    found, simpler = same, True
                    break
                if trials >= _MOST_TRIALS:
                    break
        return found


class SimulatedJob:
    """One run: processes, one after the other, until the job has ended."""

    #: settings of each job
    settings: ClassVar[dict[str, str]] = _SETTINGS
    #: the simulation in the test that is printed
    simulation: ClassVar[str] = "Simulation"

    def __init__(self, program: Program, schedule: Schedule, root: str) -> None:
        self._program, self._schedule, self._root = program, schedule, root
        self._machine = Machine(schedule.seed, schedule.faults, root)
        self._disk = SimulatedDisk(self._machine)
        given = program.records(schedule.records, random.Random(schedule.seed))
        self._given = given
        partitions = schedule.partitions
        self._records = tuple((_partition(key, partitions), record, time_ms) for key, record, time_ms in given)
        program.endpoints.prepare(root, self._records, partitions)
        self._parallelism = schedule.parallelism
        self._processes = self._version = 0
        #: where checkpoints are, and the savepoint to start from
        self._checkpoints, self._origin = f"{root}/checkpoints-0", ""
        self._savepoints: list[Future[str]] = []
        #: number of a savepoint that is complete -> what was committed then
        self._committed: dict[int, Counter[Any]] = {}
        self._stopping: Future[str] | None = None
        #: output -> the watermarks of the job that writes it
        self._watermarks: defaultdict[str, CommittedWatermarks] = defaultdict(CommittedWatermarks)
        #: how the last process has ended, unless it died
        self._last = ""

    def run(self) -> Run:
        """Run the schedule."""
        machine = self._machine
        try:
            with (
                rarely_collected(),
                machine.running(),
                self._disk.active(),
                determined(machine),
                event_loops_of(machine),
                self._program.endpoints.active(machine),
            ):
                while not self._process():
                    if self._processes > _MOST_PROCESSES or machine.operations > _MOST_OPERATIONS:
                        raise AssertionError(f"the job has not ended after {self._processes} processes{self._last}")
                output = self._output("out")
                self._check(output)
                machine.deal_no_more()
                self._check_savepoints(output)
                for watermarks in self._watermarks.values():
                    assert not watermarks.wrong, watermarks.wrong[0]
        except AssertionError as wrong:
            raise self._found(str(wrong)) from wrong
        except Exception as error:  # of no job: those of jobs are results
            raise self._found(f"{type(error).__name__}: {error}") from error
        return Run(machine.digest, machine.operations, self._processes, tuple(machine.dealt), output)

    def _found(self, reason: str) -> FoundFault:
        name = self._program.name
        test = (
            f"def test_{name}_{self._schedule.seed}() -> None:\n    {self.simulation}({name}()).run({self._schedule})\n"
        )
        return FoundFault(self._schedule, reason, test, list(self._machine.latest))

    # ---------------------------------------------------------------- oracles

    def _output(self, name: str) -> list[Any]:
        try:
            with self._disk.by_machine():
                return self._program.endpoints.output(self._root, name, self._machine)
        except (ScurryError, ValueError) as error:
            raise AssertionError(f"the output cannot be read: {error}") from error

    def _check(self, output: list[Any]) -> None:
        if self._program.check is not None:
            self._program.check(self._given, output)
            return
        expected, found = Counter(self._program.expected(self._given)), Counter(output)
        lost, more = sorted((expected - found).elements()), sorted((found - expected).elements())
        assert not lost and not more, f"lost: {lost}, twice or wrong: {more}"

    def _check_savepoints(self, output: list[Any]) -> None:
        """Restore each savepoint: it goes on where it was taken, with no output that is wrong, twice or left out."""
        for number, future in enumerate(self._savepoints):
            if not future.done() or future.exception() is not None:
                continue
            self._checkpoints, self._origin = f"{self._root}/restored-{number}", future.result()
            name = f"restored-{number}"
            self._machine.start_process()
            client, steps = self._start(name)
            self._drive(client, steps)
            status = client.get_job_status().result()
            assert status == JobStatus.FINISHED, f"savepoint {number} is not restored: {_reason(client)}"
            if self._program.check is not None:
                continue
            restored, every = Counter(self._output(name)), Counter(output)
            twice, lost = restored - every, every - restored - self._committed.get(number, every)
            assert not twice and not lost, (
                f"after savepoint {number}: twice or wrong {sorted(twice.elements())}, lost {sorted(lost.elements())}"
            )

    # ---------------------------------------------------------------- processes

    def _start(self, output: str) -> tuple[RunningJob, Steps[None]]:
        settings = {
            **self.settings,
            "execution.checkpointing.dir": self._checkpoints,
            "parallelism.default": str(self._parallelism),
            "state.savepoints.dir": f"{self._root}/savepoints",
            **({"execution.state-recovery.path": self._origin} if self._origin else {}),
            **self._program.settings,
        }
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
        program, root = self._program, self._root
        builds = (program.build, *program.versions)
        source = program.endpoints.source(root, self._records, self._schedule.partitions)
        builds[self._version % len(builds)](env, source, program.endpoints.sink(root, output))
        job = JobExecution(job_plan_of(env, self._program.name), clock=self._machine.clock)
        job.totals, started = self._watermarks[output].of(job.plan), list[Steps[None]]()
        return RunningJob(job, self._runner(), started.append), started[0]

    def _runner(self) -> Any:
        return LocalRunner(threads=False)

    def _process(self) -> bool:
        """Start the job and drive it until it ends, fails or dies; return whether it has done its work."""
        machine = self._machine
        self._processes += 1
        machine.start_process()
        client = None
        try:
            client, steps = self._start("out")
            self._drive(client, steps, self._serve)
        except KilledError:
            pass
        except ScurryError as error:
            if client is not None or not machine.dealt:
                raise
            machine.note(f"not started: {error}")
            return False
        if client is None or machine.dead:
            self._disk.end_process()
            if machine.crashed:
                self._disk.lose()
            return False
        assert not self._disk.connections, "the job has ended and left its database open"
        status = client.get_job_status().result()
        self._last = f", of which the last one has {status.name.lower()}: {_reason(client)}"
        machine.note(f"{status.name} {_reason(client)}")
        stopping, self._stopping = self._stopping, None
        if status == JobStatus.FINISHED and stopping is not None and stopping.done() and not stopping.exception():
            self._checkpoints, self._origin = f"{self._root}/checkpoints-{self._processes}", stopping.result()
            return False
        if status == JobStatus.FAILED:
            self._expected_failure(client)
        return status == JobStatus.FINISHED

    def _expected_failure(self, client: RunningJob) -> None:
        """Accept failures that the schedule has caused; the job is started again, as a supervisor does."""
        error = client.get_job_execution_result()._future.exception()
        assert isinstance(error, JobError | ScurryError), f"an error of no kind: {error!r}"
        assert self._machine.dealt, f"the job fails without a fault: {error}"
        causes = causes_of(error)
        locked = [each for each in causes if isinstance(each, CheckpointLockedError)]
        assert not locked, f"the job is refused its own directory: {locked[0]}"
        refused = [each for each in causes if isinstance(each, AssertionError)]
        assert not refused, f"an assertion of the driver or of a sink: {refused[0]}"

    def _drive(self, client: RunningJob, steps: Steps[None], serve: Callable[[RunningJob], None] | None = None) -> None:
        context = contextvars.copy_context()
        try:
            while True:
                wait = context.run(next, steps, None)
                if wait is None or self._machine.dead:
                    return
                self._step(client, wait.seconds, serve)
        finally:
            context.run(steps.close)

    def _step(self, client: RunningJob, seconds: float, serve: Callable[[RunningJob], None] | None) -> None:
        """Let the time between two steps of a job pass."""
        machine = self._machine
        machine.passes(seconds)
        machine.operation("step", f"{client.execution.totals.batches}")
        assert machine.operations < _MOST_OPERATIONS, "the job goes on for ever"
        if serve is not None:
            for number, future in enumerate(self._savepoints):
                if number not in self._committed and future.done():
                    self._committed[number] = Counter(self._output("out"))
            serve(client)

    def _serve(self, client: RunningJob) -> None:
        """Make the requests that are due."""
        requests = self._machine.requests
        while requests:
            fault = requests.pop(0)
            if fault.kind == "savepoint":
                self._savepoints.append(client.trigger_savepoint()._future)
            elif fault.kind == "stop" and self._stopping is None:
                self._stopping = client.stop_with_savepoint(False)._future
            elif fault.kind == "rescale":
                self._parallelism = fault.amount
                client.rescale(fault.amount)
            elif fault.kind == "change":
                self._version = fault.amount
                self._machine.die()
            elif fault.kind == "second":
                self._second(client)

    def _second(self, first: RunningJob) -> None:
        machine, held = self._machine, first.execution.protocol.holds
        dealt = len(machine.dealt)
        try:
            client, steps = self._start("out")
        except ScurryError as refused:
            if len(machine.dealt) == dealt:
                raise
            machine.note(f"not started: {refused}")
            return
        self._drive(client, steps)
        if machine.dead:
            raise KilledError
        if len(machine.dealt) > dealt or not held:  # it failed for another reason, or came first
            return
        error = client.get_job_execution_result()._future.exception()
        cause = None if error is None else error.__cause__
        assert isinstance(cause, CheckpointLockedError), f"a second driver was not refused, but ended with {error!r}"


Simulation.job_class = SimulatedJob


def causes_of(error: BaseException | None) -> list[BaseException]:
    """Return an error and those behind it."""
    causes: list[BaseException] = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    return causes


def _reason(client: RunningJob) -> str:
    failures = client.execution.failures
    return failures[-1].error if failures else ""


def _partition(key: Any, partitions: int) -> int:
    return sum(repr(key).encode()) % partitions
