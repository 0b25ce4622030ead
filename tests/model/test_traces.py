"""The model accepts what the engine records, and refuses the same steps in an order that loses or repeats something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.ranges import NumberSequenceSource
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ScurryError
from scurry.runtime.driver.protocol import TRACE_FILE, ProtocolTrace
from scurry.testing.simulation import KINDS, Simulation
from support.cases import cases
from support.model.spin import Unavailable
from support.model.traces import Step, Trace, damaged, laid_out, traces_in, unexplained
from support.simulated import PROGRAMS
from support.simulated.on_spark import SparkSimulation
from support.simulated.runs import ON_SPARK as ON_SPARK_TOO

pytestmark = pytest.mark.slow

#: A job in process that is killed after a checkpoint, and goes on: run, step and numbers, positions.
IN_PROCESS = """
    a taken
    a begun 1 0 0
    a started 1 0
    a checkpoint 0 0 @p
    a output 0
    a noted 0
    a saved 0
    a checkpoint 1 0 @q
    b taken
    b output 1
    b noted 1
    b started 1 2 @q
    b checkpoint 2 0 @r
    b output 2
    b noted 2
    b finished
"""
#: A job on Spark that is killed between the commits of its sinks and Spark's, and goes on as another program.
ON_SPARK = """
    a taken
    a begun 1 0 0
    a started 1 0 0
    a assigned 0 2 0
    a computed 0 0 1
    a prepared 0
    a output 0
    a assigned 2 3 0
    a computed 1 0 1
    a prepared 1
    a output 1
    b taken
    b settled 1
    b begun 2 2 1
    b started 2 0 0
    b assigned 0 2 0
    b computed 2 0 1
    b prepared 2
    b output 2
    b assigned 2 4 0
    b computed 3 0 1
    b prepared 3
    b output 3
    b finished
"""
#: The driver looks for the end of the repeated batch after it has logged: it logs once more before the next one ends.
LOOKED_LATE = """
    a taken
    a begun 1 0 0
    a started 1 0 0
    a assigned 0 2 0
    b taken
    b started 1 0 2
    b computed 0 0 1
    b prepared 0
    b output 0
    b assigned 2 3 0
    b assigned 3 4 0
    b computed 1 0 1
    b prepared 1
    b output 1
    b computed 2 0 1
    b prepared 2
    b output 2
    b finished
"""
#: The driver logs that time has passed while batches that were rolled back are computed again.
TICKED = """
    a taken
    a begun 1 0 0
    a started 1 0 0
    a assigned 0 2 0
    a computed 0 0 1
    a prepared 0
    a output 0
    a assigned 2 4 0
    a computed 1 0 1
    a prepared 1
    a output 1
    a assigned 4 6 0
    a computed 2 0 1
    a prepared 2
    a output 2
    b taken
    b repaired 1
    b started 1 1 6
    b assigned 6 7 0
    b computed 1 0 1
    b prepared 1
    b output 1
    b computed 2 0 1
    b prepared 2
    b output 2
    b computed 3 0 1
    b prepared 3
    b output 3
    b finished
"""
#: A savepoint beside the job: the message to the tasks and what sources assign are logged at once, and its files are
#: written while batches go on.
SAVED_BESIDE = """
    a taken
    a begun 1 0 0
    a started 1 0 0
    a assigned 0 2 0
    a computed 0 0 1
    a prepared 0
    a output 0
    a assigned 2 3 0
    a assigned 3 5 0
    a computed 1 0 1
    a prepared 1
    a output 1
    a assigned 5 7 0
    a computed 2 0 1
    a saved 1
    a prepared 2
    a output 2
    a finished
"""
#: An entry of the log of assignments is damaged that a batch had which sinks may know: other records follow.
LOST_ENTRY = """
    a taken
    a begun 1 0 0
    a started 1 0 0
    a assigned 0 2 0
    a computed 0 0 1
    a prepared 0
    a output 0
    a assigned 2 4 0
    a computed 1 0 1
    a prepared 1
    a output 1
    - damaged
    b taken
    b started 1 1 2
    b assigned 2 5 0
    b computed 1 0 1
    b prepared 1
    b output 1
    b finished
"""

#: Entries wait after kills: of two whose channels differ a batch has both, of two with the same channel one.
WAITING = """
    a taken
    a begun 1 0 0
    a started 1 0 0
    a assigned 0 1 0
    b taken
    b started 1 0 1
    b assigned 1 2 0
    a taken
    a started 1 0 2
    a computed 0 1 1
    a prepared 0
    a output 0
    a assigned 2 4 0
    b taken
    b started 1 1 4
    b computed 1 4 1
    b prepared 1
    b output 1
    b assigned 4 5 0
    b assigned 5 6 0
    b computed 2 5 1
    b prepared 2
    b output 2
    b computed 3 6 1
    b prepared 3
    b output 3
    b finished
"""
#: A savepoint is taken before the first batch; an attempt fails in a step that it has done but not recorded.
BEFORE_THE_FIRST_BATCH = """
    a taken
    a begun 1 0 0
    a started 1 0 0
    a saved -1
    a started 1 0 1
    a computed 0 0 1
    a prepared 0
    a output 0
    a finished
"""


def steps(text: str) -> list[Step]:
    found = []
    for line in text.strip().splitlines():
        words, _, positions = line.strip().partition(" @")
        run, name, *numbers = words.split()
        found.append(Step(run.strip("-"), name, tuple(map(int, numbers)), positions))
    return found


def judged(text: str, directory: Path) -> Step | None:
    try:
        return unexplained(Trace("", steps(text)), directory)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(
    "text",
    [IN_PROCESS, ON_SPARK, LOOKED_LATE, TICKED, SAVED_BESIDE, LOST_ENTRY, WAITING, BEFORE_THE_FIRST_BATCH],
    ids=["in process", "on Spark", "looked late", "ticked", "saved beside", "lost entry", "waiting", "first batch"],
)
def test_a_right_trace_is_accepted(text: str, tmp_path: Path) -> None:
    assert judged(text, tmp_path) is None


#: What is wrong -> the trace, a part of it, and what replaces that.
WRONG = {
    "early output": (IN_PROCESS, "checkpoint 0 0 @p\n    a output 0", "output 0\n    a checkpoint 0 0 @p"),
    "early note of output": (IN_PROCESS, "a output 0\n    a noted 0", "a noted 0\n    a output 0"),
    "output left out": (IN_PROCESS, "b output 1\n    b noted 1\n", ""),
    "other positions": (IN_PROCESS, "started 1 2 @q", "started 1 2 @p"),
    "an earlier batch": (IN_PROCESS, "started 1 2 @q", "started 1 1 @q"),
    "an id comes twice": (IN_PROCESS, "checkpoint 2 0", "checkpoint 1 0"),
    "a savepoint of what is not committed": (IN_PROCESS, "saved 0", "saved 1"),
    "a driver without the lock": (IN_PROCESS, "b finished", "a checkpoint 3 0 @s"),
    "late log": (ON_SPARK, "assigned 2 3 0\n    a computed 1 0 1", "computed 1 0 1\n    a assigned 2 3 0"),
    "late note": (ON_SPARK, "a prepared 1\n    a output 1", "a output 1\n    a prepared 1"),
    "a batch in doubt left out": (ON_SPARK, "b settled 1\n    b begun 2 2 1", "b begun 2 1 1"),
    "ids begin anew": (ON_SPARK, "begun 2 2 1", "begun 2 0 1"),
    "a batch that never was": (ON_SPARK, "b started 2 0 0", "b started 2 1 0"),
    "a gap in the log": (ON_SPARK, "b assigned 2 4", "b assigned 3 4"),
    "a third entry of one turn": (SAVED_BESIDE, "assigned 3 5 0\n", "assigned 3 4 0\n    a assigned 4 5 0\n"),
    "a savepoint beside of what is not committed": (SAVED_BESIDE, "saved 1", "saved 2"),
    "a batch that is not repeated": (TICKED, "b computed 1 0 1\n    b prepared 1\n    b output 1\n", ""),
    "an entry that is gone without damage": (LOST_ENTRY, "- damaged\n", ""),
    "an entry that is lost with that of a committed batch": (LOST_ENTRY, "started 1 1 2", "started 1 1 0"),
    "an entry that is torn between batches": (WAITING, "b computed 1 4 1", "b computed 1 3 1"),
    "an entry that no batch has": (WAITING, "b computed 3 6 1", "b computed 3 5 1"),
    "a savepoint of a batch to come": (BEFORE_THE_FIRST_BATCH, "saved -1", "saved 0"),
    "a lost lease": (ON_SPARK, "b computed 3", "a computed 1 0 1\n    a prepared 1\n    b computed 3"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_trace_is_refused(wrong: str, tmp_path: Path) -> None:
    text, before, after = WRONG[wrong]
    assert text.count(before) == 1
    assert judged(text.replace(before, after), tmp_path) is not None


#: A job that goes on from what the directory was after its first checkpoint.
LAID_OUT_AGAIN = "c taken\nc output 0\nc noted 0\nc started 1 1 @p\nc checkpoint 1 0 @x"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("checkpoint 1", "checkpoint 0"),
        ("output 0\nc noted 0", "noted 0\nc output 0"),
        ("started 1 1 @p", "started 1 3 @p"),
    ],
    ids=["right", "an id comes twice", "early note of output", "a batch that never was"],
)
def test_a_directory_that_is_laid_out_goes_on_from_some_moment_before(before: str, after: str, tmp_path: Path) -> None:
    assert before in LAID_OUT_AGAIN
    trace = Trace("", steps(LAID_OUT_AGAIN.replace(before, after) if before else LAID_OUT_AGAIN), 1)
    trace = replace(trace, origin=tuple(steps(IN_PROCESS)))
    try:
        assert (unexplained(trace, tmp_path) is None) == (before == "")
    except Unavailable as reason:
        pytest.skip(str(reason))


def test_a_file_has_a_trace_for_each_time_that_its_directory_was_laid_out(trace: Path, tmp_path: Path) -> None:
    job = ProtocolTrace()
    job.hold(f"{tmp_path}/job/checkpoints")
    laid_out(f"{tmp_path}/job")
    laid_out(f"{tmp_path}/another")
    job.step("begun", 1, 0, 0)
    laid_out(f"{tmp_path}/job")
    job.step("finished")
    names = [([step.name for step in each.origin], [step.name for step in each.steps]) for each in traces_in(trace)]
    assert names == [([], ["taken"]), (["taken"], ["begun"]), (["taken"], ["finished"])]


def test_damage_is_a_step_of_the_trace_of_its_directory(trace: Path, tmp_path: Path) -> None:
    for name in ("job", "another"):
        ProtocolTrace().hold(f"{tmp_path}/{name}/checkpoints")
    damaged(f"{tmp_path}/job/checkpoints")
    assert [[step.name for step in each.steps] for each in traces_in(trace)] == [["taken", "damaged"], ["taken"]]


@dataclass(frozen=True)
class FailingOnce(Sink):
    """Fails in its second commit, the first time that a job has it."""

    path: str

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _Writer()

    def create_committer(self, sink_id: str) -> Committer:
        return _Committer(Path(self.path))


class _Writer(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._values = values

    def prepare_commit(self) -> list[Any]:
        return self._values


class _Committer(Committer):
    def __init__(self, path: Path) -> None:
        self._path = path

    def commit(self, batch_id: int, committables: Any) -> None:
        if batch_id == 1 and not self._path.exists():
            self._path.touch()
            raise OSError("the job dies")


def run(directory: Path, parallelism: int) -> None:
    settings = {
        "execution.checkpointing.dir": str(directory / "checkpoints"),
        "scurry.batch.max-records": "10",
        "scurry.runner": "local",
        "restart-strategy.type": "none",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(parallelism)
    numbers = env.from_source(NumberSequenceSource(0, 39), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    totals = numbers.uid("numbers").key_by(lambda n: n % 4, Types.LONG()).reduce(lambda a, b: a + b).uid("total")
    totals._sink(FailingOnce(str(directory / "failed")), "sink").uid("sink")
    env.execute()


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(TRACE_FILE, str(tmp_path / "trace"))
    yield tmp_path / "trace"


@pytest.mark.parametrize("parallelism", [2, 3])
def test_what_a_job_in_process_records_is_accepted(trace: Path, parallelism: int, tmp_path: Path) -> None:
    with pytest.raises(ScurryError, match="the job dies"):
        run(tmp_path, 2)
    run(tmp_path, parallelism)
    (found,) = traces_in(trace)
    assert [step.name for step in found.steps if step.name in ("taken", "begun", "finished")] == (
        ["taken", "begun", "taken", "finished"]
        if parallelism == 2
        else ["taken", "begun", "taken", "begun", "finished"]
    )
    try:
        assert unexplained(found, tmp_path) is None
    except Unavailable as reason:
        pytest.skip(str(reason))


#: Faults of schedules whose steps the model knows: machines that crash lose more than processes.
WITHOUT_CRASHES = {kind: weight for kind, weight in KINDS.items() if kind != "crash"}


@pytest.mark.parametrize("program", ON_SPARK_TOO)
@pytest.mark.parametrize("simulation", [Simulation, SparkSimulation])
def test_what_simulated_jobs_record_is_accepted(
    trace: Path, simulation: type[Simulation], program: str, tmp_path: Path
) -> None:
    simulated, steps_seen = simulation(PROGRAMS[program](), WITHOUT_CRASHES, records=40), 0
    for seed in range(cases(60)):
        trace.unlink(missing_ok=True)
        simulated.run(simulated.schedule(seed))
        for found in traces_in(trace):
            try:
                refused = unexplained(found, tmp_path)
            except Unavailable as reason:
                pytest.skip(str(reason))
            assert refused is None, (
                f"{simulated.schedule(seed)}: {refused}, the last of {found.steps[: found.steps.index(refused) + 1]}"
            )
            steps_seen += len(found.steps)
    assert steps_seen > 100
