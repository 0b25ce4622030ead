from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scurry.runtime.clock import ProcessingClock


class Wall:
    def __init__(self, now: int = 1_000) -> None:
        self.time = now

    def __call__(self) -> int:
        return self.time


def test_runs_at_real_speed() -> None:
    wall = Wall()
    clock = ProcessingClock(wall)
    wall.time += 7
    assert clock.now() == 1_007


def test_starts_a_batch_at_the_time_its_records_were_read() -> None:
    wall = Wall(10_000)
    clock = ProcessingClock(wall)
    clock.set(2_000)
    wall.time += 5
    assert (clock.now(), clock.stamp) == (2_005, 2_000)


def test_moves_forward_to_the_stamp_of_what_is_processed() -> None:
    clock = ProcessingClock(Wall())
    clock.set(100)
    clock.advance_to(400)
    assert (clock.now(), clock.stamp) == (400, 400)


def test_a_stamp_that_the_clock_has_passed_moves_only_the_stamp() -> None:
    wall = Wall()
    clock = ProcessingClock(wall)
    clock.set(100)
    wall.time += 50
    clock.advance_to(120)
    assert (clock.now(), clock.stamp) == (150, 120)


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 5_000))))
def test_never_goes_back_within_a_batch(steps: list[tuple[int, int]]) -> None:
    wall = Wall()
    clock = ProcessingClock(wall)
    clock.set(0)
    seen = [clock.now()]
    for elapsed, stamp in steps:
        wall.time += elapsed  # a machine's clock may be set back
        clock.advance_to(stamp)
        seen.append(clock.now())
    assert seen == sorted(seen)
