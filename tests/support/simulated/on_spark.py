"""Runs of programs on simulated machines with the model of Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.runtime.driver.client import RunningJob
from scurry.spark.streaming.runner import StreamingRunner
from scurry.testing.simulation import KINDS, Program, Run, Simulation
from scurry.testing.simulation.simulator import SimulatedJob
from support.simulated.spark import Cluster, spark_of

#: Spark forces nothing to the disk; the clocks of its tasks are those of Spark's machines.
SPARK_KINDS = {kind: weight for kind, weight in KINDS.items() if kind != "crash"}


class _OnSpark(SimulatedJob):
    """A run whose processes are drivers of Spark."""

    simulation = "SparkSimulation"
    settings = {**SimulatedJob.settings, "scurry.runner": "spark", "spark.sql.shuffle.partitions": "2"}
    _driven: tuple[RunningJob, Callable[[RunningJob], None] | None] | None = None

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

    def _wait(self, cluster: Cluster, seconds: float) -> None:
        assert self._driven is not None and cluster.query is not None
        client, serve = self._driven
        self._step(client, seconds, serve)
        cluster.query.step()


class SparkSimulation(Simulation):
    """Runs of a program on simulated machines with the model of Spark."""

    job_class = _OnSpark

    def __init__(self, program: Program, kinds: dict[str, int] | None = None, records: int = 30) -> None:
        super().__init__(program, SPARK_KINDS if kinds is None else kinds, records)
