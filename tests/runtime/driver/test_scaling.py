"""Which parallelism a job should have, given the task slots there are."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scurry.graph.settings import JobSettings
from scurry.runtime.driver.scaling import Scaling, ScalingPolicy


def settings(parallelism: int = 4, **configuration: str) -> JobSettings:
    keys = {"mode": "scheduler-mode", "scheduler": "jobmanager.scheduler"}
    values = {keys.get(key, key): value for key, value in configuration.items()}
    return JobSettings("job", parallelism, configuration=values)


def test_a_job_that_asks_for_nothing_keeps_its_parallelism() -> None:
    assert Scaling.of(settings()) is None
    assert Scaling.of(settings(scheduler="Default")) is None


def test_a_reactive_job_takes_every_slot_up_to_its_key_groups() -> None:
    for scheduler in ("Default", "adaptive"):
        scaling = Scaling.of(settings(mode="reactive", scheduler=scheduler))
        assert scaling is not None and scaling.reactive and scaling.most == 128


def test_an_adaptive_job_takes_no_more_slots_than_its_parallelism() -> None:
    scaling = Scaling.of(settings(parallelism=6, scheduler="adaptive"))
    assert scaling is not None and not scaling.reactive and scaling.most == 6


def test_times_are_those_of_flink() -> None:
    assert Scaling.of(settings(mode="REACTIVE")) == Scaling(True, 128, 10_000, 60_000, 30_000)
    prefix = "jobmanager.adaptive-scheduler"
    named: dict[str, Any] = {
        f"{prefix}.resource-stabilization-timeout": "1 s",
        f"{prefix}.executing.resource-stabilization-timeout": "2 s",
        f"{prefix}.scaling-interval.min": "3 s",
    }
    assert Scaling.of(settings(mode="REACTIVE", **named)) == Scaling(True, 128, 1000, 2000, 3000)


class Story:
    """A job whose slots change as time goes by, and which does at once what the policy says."""

    def __init__(self, scaling: Scaling, parallelism: int) -> None:
        self.scaling, self.policy, self.parallelism = scaling, ScalingPolicy(scaling), parallelism
        self.now = 0
        self.seen: list[tuple[int, int]] = []  # (time, slots)
        self.changes: list[tuple[int, int, int]] = []  # (observations before, time, parallelism)
        self.policy.began(0)

    def observe(self, after: int, slots: int) -> None:
        self.now += after
        self.seen.append((self.now, slots))
        wanted = self.policy.observe(slots, self.parallelism, self.now)
        if wanted is not None:
            assert wanted != self.parallelism
            self.parallelism = wanted
            self.changes.append((len(self.seen), self.now, wanted))
            self.policy.began(self.now)


times = st.sampled_from([0, 1, 500, 1000, 3000])
scalings = st.builds(Scaling, st.just(True), st.integers(1, 4), st.just(0), times, times)
observations = st.lists(st.tuples(st.integers(0, 1200), st.integers(0, 6)), max_size=40)


@given(scalings, st.integers(1, 4), observations)
def test_changes_follow_stable_slots_and_keep_their_distance(
    scaling: Scaling, parallelism: int, happens: list[tuple[int, int]]
) -> None:
    story = Story(scaling, parallelism)
    for after, slots in happens:
        story.observe(after, slots)
    before = 0
    for seen, at, wanted in story.changes:
        assert 1 <= wanted <= scaling.most
        assert at - before >= scaling.cooldown_ms
        before = at
        # going back over the observations, all say the same, for as long as is asked for
        unlike = [number for number, slots in enumerate(story.seen[:seen]) if min(slots[1], scaling.most) != wanted]
        since, _ = story.seen[unlike[-1] + 1 if unlike else 0]
        assert at - since >= scaling.stabilization_ms


@given(scalings, st.integers(1, 4), observations, st.integers(1, 6))
def test_slots_that_stay_are_followed_in_the_end(
    scaling: Scaling, parallelism: int, happens: list[tuple[int, int]], slots: int
) -> None:
    story = Story(scaling, parallelism)
    for after, some in happens:
        story.observe(after, some)
    for _ in range(8):
        story.observe(1000, slots)
    assert story.parallelism == min(slots, scaling.most)


def test_a_job_without_slots_waits_with_the_parallelism_it_has() -> None:
    story = Story(Scaling(True, 128, 0, 1000, 0), 3)
    for _ in range(10):
        story.observe(1000, 0)
    assert story.changes == []


def test_an_executor_that_is_replaced_in_time_changes_nothing() -> None:
    story = Story(Scaling(True, 128, 0, 5000, 0), 2)
    for slots in (2, 1, 1, 2, 2, 2, 2, 2, 2, 2):
        story.observe(1000, slots)
    assert story.changes == []
