"""A job follows its executors: what the scheduler does with the policy's word."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scurry.datastream import StreamExecutionEnvironment
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.scaling import Scaling
from scurry.spark.streaming.adaptive import AdaptiveScheduler, adaptive_scheduler
from scurry.testing import job_plan_of

SCALING = Scaling(reactive=True, most=8, submission_stabilization_ms=0, stabilization_ms=2000, cooldown_ms=5000)


def session(master: str, **configuration: str) -> Any:
    conf = {key.replace("_", "."): value for key, value in configuration.items()}
    return SimpleNamespace(sparkContext=SimpleNamespace(master=master, getConf=lambda: conf))


def plan(forward_to: int | None = None) -> JobPlan:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    numbers = env.from_collection(range(3)).rebalance().map(abs)
    (numbers if forward_to is None else numbers.forward().map(abs).set_parallelism(forward_to)).print()
    return job_plan_of(env, "job")


class Cluster:
    """Slots and time, as the scheduler sees them."""

    def __init__(self, job: JobExecution, slots: int) -> None:
        self.now, self.slots, self.counted = 0, slots, 0
        self.scheduler = AdaptiveScheduler(
            job, session("spark://host:7077"), SCALING, lambda: self.now, lambda _: self._count()
        )

    def _count(self) -> int:
        self.counted += 1
        return self.slots

    def requests(self, seconds: int) -> list[int]:
        """The parallelisms asked for in the next seconds; the scheduler is called ten times in each."""
        found = []
        for _ in range(10 * seconds):
            self.now += 100
            request = self.scheduler.request()
            if request is not None:
                found.append(request.parallelism)
        return found


def test_a_job_begins_with_as_many_subtasks_as_there_are_slots() -> None:
    for slots, parallelism in ((1, 1), (2, 2), (5, 5), (100, 8)):
        started = Cluster(JobExecution(plan()), slots).scheduler.start()
        assert started is not None and started.settings.parallelism == parallelism
        assert {op.parallelism for op in started.operators.values()} == {parallelism}


def test_a_job_that_is_stopped_while_it_waits_for_executors_does_not_begin() -> None:
    job = JobExecution(plan())
    job.stopping.set()
    assert Cluster(job, 0).scheduler.start() is None


def test_slots_are_counted_once_a_second() -> None:
    cluster = Cluster(JobExecution(plan()), 2)
    cluster.requests(10)
    assert cluster.counted == 10


def test_a_running_job_follows_new_slots_when_they_have_settled() -> None:
    job = JobExecution(plan())
    cluster = Cluster(job, 2)
    cluster.scheduler.began()
    cluster.requests(6)
    cluster.slots = 3
    assert cluster.requests(2) == []
    assert cluster.requests(1) == [3]
    assert list(job.log.notes) == ["following the executors: parallelism 3 instead of 2"]


def test_a_parallelism_that_the_program_does_not_allow_is_left_out_and_said_once() -> None:
    job = JobExecution(plan(forward_to=2))
    cluster = Cluster(job, 3)
    assert cluster.requests(60) == []
    (note,) = job.log.notes
    assert note.startswith("cannot follow the executors to parallelism 3, staying at 2: forward() cannot change")


def test_a_parallelism_that_the_user_asks_for_bounds_what_is_followed() -> None:
    cluster = Cluster(JobExecution(plan()), 6)
    cluster.scheduler.bound(3)
    assert cluster.requests(10)[:1] == [3]


def test_in_local_mode_the_parallelism_stays_and_the_user_is_told() -> None:
    job = JobExecution(plan())
    assert adaptive_scheduler(job, session("local[4]"), SCALING) is None
    (note,) = job.log.notes
    assert "the parallelism stays 2" in note and "local[4]" in note


def test_dynamic_allocation_is_warned_of() -> None:
    job = JobExecution(plan())
    assert adaptive_scheduler(job, session("spark://host:7077", spark_dynamicAllocation_enabled="true"), SCALING)
    assert "shrink, but not grow" in job.log.notes[0]
