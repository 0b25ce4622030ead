"""Runs of programs on simulated machines with the model of Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from scurry.errors import CheckpointCorruptedError, CheckpointMismatchError
from scurry.runtime.driver.client import RunningJob
from scurry.spark.streaming.runner import StreamingRunner
from scurry.testing.simulation import Program, Run, Schedule, Simulation
from scurry.testing.simulation.simulator import SimulatedJob, causes_of
from support.simulated.spark import Cluster, spark_of

#: Operations after which the machine writes back what Spark has not forced to the disk: some three micro-batches.
_WRITTEN_BACK = 60


class _OnSpark(SimulatedJob):
    """A run whose processes are drivers of Spark."""

    simulation = "SparkSimulation"
    settings = {**SimulatedJob.settings, "scurry.runner": "spark", "spark.sql.shuffle.partitions": "2"}
    _driven: tuple[RunningJob, Callable[[RunningJob], None] | None] | None = None
    #: why the job cannot go on: a crash has damaged what nothing else has
    _given_up: str | None = None
    #: version and parallelism of the last process whose query ran: those of the present generation
    _running = (0, 0)

    def __init__(self, program: Program, schedule: Schedule, root: str) -> None:
        super().__init__(program, schedule, root)
        self._disk.written_back_after = _WRITTEN_BACK
        self._running = 0, schedule.parallelism

    def run(self) -> Run:
        with spark_of(self._machine, self._root, self._wait):
            return super().run()

    def _runner(self) -> Any:
        return StreamingRunner()

    def _drive(self, client: RunningJob, steps: Any, serve: Callable[[RunningJob], None] | None = None) -> None:
        before, self._driven = self._driven, (client, serve)
        try:
            super()._drive(client, steps, serve)
        finally:
            self._driven = before

    def _process(self) -> bool:
        over = super()._process()
        if self._machine.crashed:
            self._watermarks.clear()  # batches that were committed may be rolled back
        return over or self._given_up is not None

    def _expected_failure(self, client: RunningJob) -> None:
        """Do what an error says: run the program as it was, or give up where a crash has damaged too much."""
        super()._expected_failure(client)
        crashed = any(fault.kind == "crash" for fault in self._machine.dealt)
        for error in causes_of(client.get_job_execution_result()._future.exception()):
            if isinstance(error, CheckpointCorruptedError) and crashed:
                self._given_up = str(error)
            if isinstance(error, CheckpointMismatchError) and "have to be computed again" in str(error):
                self._version, self._parallelism = self._running

    def _check(self, output: list[Any]) -> None:
        if self._given_up is None:
            super()._check(output)
            return
        more = Counter(output) - Counter(self._program.expected(self._given))
        assert not more, f"twice or wrong, before the job gave up: {more}"

    def _check_savepoints(self, output: list[Any]) -> None:
        if self._given_up is None:
            super()._check_savepoints(output)

    def _wait(self, cluster: Cluster, seconds: float) -> None:
        assert self._driven is not None and cluster.query is not None
        client, serve = self._driven
        self._step(client, seconds, serve)
        self._running = self._version, client.execution.plan.settings.parallelism
        cluster.query.step()


class SparkSimulation(Simulation):
    """Runs of a program on simulated machines with the model of Spark."""

    job_class = _OnSpark
