"""Interval joins against a model that keeps every record and looks at all of them each time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common.output_tag import OutputTag
from scurry.datastream import DataStream, ProcessJoinFunction
from scurry.errors import OperatorError
from support.cases import CASES
from support.runtime.divided_state import dividing_early
from support.runtime.scripted_pipeline import MAX_TIME, MIN_TIME, Driven, Record, Step

LATE = (OutputTag("late left"), OutputTag("late right"))
PAIRED = OutputTag("pairs again")

#: (key, number); the number tells records apart
Value = tuple[str, int]


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield left, right, ctx.get_left_timestamp(), ctx.get_right_timestamp(), ctx.get_timestamp()


@dataclass(frozen=True)
class Bounds:
    """The bounds of a join."""

    lower: int
    upper: int
    lower_open: bool = False
    upper_open: bool = False

    def joins(self, left: int, right: int) -> bool:
        above = right > left + self.lower if self.lower_open else right >= left + self.lower
        below = right < left + self.upper if self.upper_open else right <= left + self.upper
        return above and below

    def over(self, side: int) -> int:
        """How long after its time Flink's IntervalJoinOperator keeps a record."""
        if side == 0:
            return max(0, self.upper - self.upper_open)
        return max(0, -(self.lower + self.lower_open))

    def join(
        self, left: DataStream, right: DataStream, function: ProcessJoinFunction | None = None, late: bool = True
    ) -> DataStream:
        keyed, other = left.key_by(lambda value: value[0]), right.key_by(lambda value: value[0])
        joined = keyed.interval_join(other).between(self.lower, self.upper)
        if self.lower_open:
            joined = joined.lower_bound_exclusive()
        if self.upper_open:
            joined = joined.upper_bound_exclusive()
        if late:
            joined = joined.side_output_left_late_data(LATE[0]).side_output_right_late_data(LATE[1])
        return joined.process(function or Pair())


@dataclass
class Model:
    """What Flink's IntervalJoinOperator does, without any cleverness."""

    bounds: Bounds
    watermark: int = MIN_TIME
    buffers: tuple[list[Record], list[Record]] = field(default_factory=lambda: ([], []))
    pairs: list[Any] = field(default_factory=list)
    late: tuple[list[Value], list[Value]] = field(default_factory=lambda: ([], []))

    def record(self, record: Record) -> None:
        side = record.input
        if record.timestamp < self.watermark:
            self.late[side].append(record.value)
            return
        self.buffers[side].append(record)
        for other in self.buffers[1 - side]:
            left, right = (record, other) if side == 0 else (other, record)
            times = left.timestamp, right.timestamp
            if left.value[0] == right.value[0] and self.bounds.joins(*times):
                self.pairs.append((left.value, right.value, *times, max(times)))

    def time(self, watermark: int) -> None:
        if watermark <= self.watermark:  # Flink hands on only what goes forward, so no timer fires
            return
        self.watermark = watermark
        for side, buffer in enumerate(self.buffers):
            over = self.bounds.over(side)
            buffer[:] = [record for record in buffer if record.timestamp + over > self.watermark]


def ordered(low: int, high: int, lower_open: bool, upper_open: bool) -> Bounds:
    return Bounds(min(low, high), max(low, high), lower_open, upper_open)


BOUNDS = st.builds(ordered, st.integers(-12, 12), st.integers(-12, 12), st.booleans(), st.booleans())
RECORDS = st.builds(
    Record, st.tuples(st.sampled_from("ab"), st.integers(1, 99)), st.integers(-10, 40), st.integers(0, 1)
)
STEPS = st.lists(st.one_of(RECORDS, RECORDS, RECORDS, st.integers(-10, 45)), max_size=30)


def driven(bounds: Bounds) -> Driven:
    return Driven(lambda left, right: bounds.join(left, right))


@settings(max_examples=2 * CASES)
@given(BOUNDS, st.lists(STEPS, min_size=1, max_size=3))
def test_interval_joins_agree_with_the_model(bounds: Bounds, batches: list[list[Step]]) -> None:
    check(bounds, batches)


@settings(max_examples=CASES)
@given(BOUNDS, st.lists(STEPS, min_size=1, max_size=4))
def test_interval_joins_with_records_in_parts_agree_with_the_model(bounds: Bounds, batches: list[list[Step]]) -> None:
    with dividing_early():
        check(bounds, batches)


def test_a_watermark_that_is_repeated_removes_nothing() -> None:
    left, right = (Record(("a", 1), 0, side) for side in (0, 1))
    check(Bounds(0, 0, False, False), [[left, 0, left, right, 0, left]])


def check(bounds: Bounds, batches: list[list[Step]]) -> None:
    model, subject = Model(bounds), driven(bounds)
    for steps in batches:
        for step in steps:
            if isinstance(step, Record):
                model.record(step)
            else:
                model.time(step)
        subject.feed(steps)
        assert sorted(subject.results()) == sorted(model.pairs)
        assert tuple(subject.harness.side_output(tag) for tag in LATE) == model.late
    subject.feed([MAX_TIME])
    assert subject.is_empty()


@given(BOUNDS, st.lists(RECORDS, max_size=30))
def test_without_watermarks_all_pairs_within_the_bounds_join(bounds: Bounds, records: list[Record]) -> None:
    subject = driven(bounds)
    subject.feed([*records, MAX_TIME])
    sides = [[r for r in records if r.input == side] for side in (0, 1)]
    assert sorted(subject.results()) == sorted(
        (one.value, two.value, one.timestamp, two.timestamp, max(one.timestamp, two.timestamp))
        for one in sides[0]
        for two in sides[1]
        if one.value[0] == two.value[0] and bounds.joins(one.timestamp, two.timestamp)
    )


def left(value: Any, timestamp: int) -> Record:
    return Record(("k", value), timestamp, 0)


def right(value: Any, timestamp: int) -> Record:
    return Record(("k", value), timestamp, 1)


def test_a_record_behind_the_watermark_is_late_and_one_at_the_watermark_is_not() -> None:
    subject = driven(Bounds(-5, 5))
    subject.feed([left(1, 10), 10, right(2, 10), right(3, 9)])
    assert [pair[:2] for pair in subject.results()] == [(("k", 1), ("k", 2))]
    assert subject.harness.side_output(LATE[1]) == [("k", 3)]


def test_a_record_is_gone_once_the_watermark_reaches_its_last_partner() -> None:
    subject = driven(Bounds(0, 5))
    subject.feed([left(1, 10), 14, right(2, 15), 15, right(3, 15)])
    assert [pair[1] for pair in subject.results()] == [("k", 2)]


def test_a_record_that_comes_after_a_later_one_is_gone_in_time_too() -> None:
    subject = driven(Bounds(0, 5))
    subject.feed([left(1, 12), left(2, 10)])
    subject.feed([15, right(3, 15)])
    assert [pair[0] for pair in subject.results()] == [("k", 1)]


def test_late_records_that_nobody_asked_for_are_dropped_and_counted() -> None:
    subject = Driven(lambda left, right: Bounds(0, 5).join(left, right, late=False))
    subject.feed([10, left(1, 9), right(2, 9), right(3, 10)])
    assert subject.harness.num_late_records_dropped() == 2


def test_the_function_may_emit_to_side_outputs_nothing_or_several_results() -> None:
    class Some(ProcessJoinFunction):
        def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
            if right[1] == 1:
                return None
            return [(PAIRED, right[1]), right[1], right[1]]

    subject = Driven(lambda left, right: Bounds(0, 5).join(left, right, Some()))
    subject.feed([left(0, 0), right(1, 1), right(2, 2)])
    assert (subject.results(), subject.harness.side_output(PAIRED)) == ([2, 2], [2])


def test_a_failing_function_is_reported_with_the_pair() -> None:
    class Fails(ProcessJoinFunction):
        def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
            raise ValueError("no match")

    subject = Driven(lambda left, right: Bounds(0, 5).join(left, right, Fails()))
    with pytest.raises(OperatorError, match=r"(?s)no match.*Interval Join.*record: \(\('k', 1\), \('k', 2\)\)"):
        subject.feed([left(1, 0), right(2, 1)])


def test_a_record_without_timestamp_is_refused() -> None:
    subject = driven(Bounds(0, 5))
    with pytest.raises(OperatorError, match=r"(?s)no timestamp.*record: \('k', 2\).*assign_timestamps_and_watermarks"):
        subject.feed([left(1, 0), right(2, MIN_TIME)])
