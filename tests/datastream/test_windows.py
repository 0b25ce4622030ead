from __future__ import annotations

import datetime
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.common.time import Duration, Time
from scurry.datastream.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    MergingWindowAssigner,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)
from scurry.errors import ArgumentError, ArgumentTypeError, MissingTimestampError
from support.state_in_memory import ValueStateInMemory

MIN = -(2**63)


class Context(WindowAssigner.WindowAssignerContext):
    """Processing time 1234 and, as its own runtime context, one value state."""

    def __init__(self) -> None:
        self.state = ValueStateInMemory()

    def get_current_processing_time(self) -> int:
        return 1234

    def get_runtime_context(self) -> Any:
        return self

    def get_state(self, descriptor: Any) -> Any:
        return self.state


def assigned(assigner: Any, timestamp: int) -> list[tuple[int, int]]:
    return [(w.start, w.end) for w in assigner.assign_windows("x", timestamp, Context())]


def merged(*windows: tuple[int, int]) -> list[tuple[list[tuple[int, int]], tuple[int, int]]]:
    groups: list[Any] = []

    class Callback(MergingWindowAssigner.MergeCallback[TimeWindow]):
        def merge(self, to_be_merged: Any, merge_result: TimeWindow) -> None:
            groups.append(([(w.start, w.end) for w in to_be_merged], (merge_result.start, merge_result.end)))

    EventTimeSessionWindows.with_gap(1).merge_windows([TimeWindow(*w) for w in windows], Callback())
    return groups


class TestTimeWindow:
    @pytest.mark.parametrize(
        ("timestamp", "offset", "size", "start"),
        [
            (0, 0, 10, 0),
            (9, 0, 10, 0),
            (10, 0, 10, 10),
            (-1, 0, 10, -10),
            (-10, 0, 10, -10),
            (-11, 0, 10, -20),
            (12, 3, 10, 3),
            (2, 3, 10, -7),
            (0, -3, 10, -3),
            (-4, -3, 10, -13),
        ],
    )
    def test_window_start_is_right_around_the_epoch(self, timestamp: int, offset: int, size: int, start: int) -> None:
        assert TimeWindow.get_window_start_with_offset(timestamp, offset, size) == start

    @given(st.integers(-(10**15), 10**15), st.integers(1, 10**9), st.integers())
    def test_window_of_a_timestamp_contains_it(self, timestamp: int, size: int, shift: int) -> None:
        start = TimeWindow.get_window_start_with_offset(timestamp, shift % size, size)
        assert start <= timestamp < start + size
        assert (start - shift) % size == 0

    def test_max_timestamp_is_the_last_one_inside(self) -> None:
        assert TimeWindow(0, 10).max_timestamp() == 9

    def test_windows_that_only_touch_intersect(self) -> None:
        assert TimeWindow(0, 10).intersects(TimeWindow(10, 20))
        assert not TimeWindow(0, 10).intersects(TimeWindow(11, 20))

    def test_cover_spans_both(self) -> None:
        assert TimeWindow(5, 10).cover(TimeWindow(0, 7)) == TimeWindow(0, 10)

    def test_windows_are_ordered_by_start_then_end(self) -> None:
        assert sorted([TimeWindow(5, 6), TimeWindow(0, 9), TimeWindow(0, 3)]) == [
            TimeWindow(0, 3),
            TimeWindow(0, 9),
            TimeWindow(5, 6),
        ]

    def test_percent_formatting_shows_the_window(self) -> None:
        assert "%s" % TimeWindow(0, 10) == "TimeWindow(start=0, end=10)"  # noqa: UP031


@pytest.mark.parametrize("window", [TimeWindow(-5, 5), CountWindow(3), GlobalWindow.get()])
class TestEveryWindow:
    def test_survives_pickling_as_an_equal_key(self, window: Any) -> None:
        copy = pickle.loads(pickle.dumps(window))
        assert copy == window and hash(copy) == hash(window)

    def test_differs_from_other_kinds(self, window: Any) -> None:
        others = [TimeWindow(1, 2), CountWindow(1), GlobalWindow()]
        assert [type(o) for o in others if o == window] in ([], [GlobalWindow])

    def test_pickles_small_next_to_others_of_its_kind(self, window: Any) -> None:
        assert len(pickle.dumps([window] * 2)) - len(pickle.dumps([window])) < 12


class TestTimeAssigners:
    def test_tumbling_event_time(self) -> None:
        assert assigned(TumblingEventTimeWindows.of(Time.seconds(1)), 1999) == [(1000, 2000)]

    def test_tumbling_with_offset(self) -> None:
        days_of_utc_plus_8 = TumblingEventTimeWindows.of(Time.days(1), Time.hours(-8))
        assert assigned(days_of_utc_plus_8, 0) == [(-8 * 3_600_000, 16 * 3_600_000)]

    def test_sliding_event_time_gives_the_latest_window_first(self) -> None:
        assert assigned(SlidingEventTimeWindows.of(10, 5), 7) == [(5, 15), (0, 10)]

    def test_sliding_with_gaps_leaves_some_records_out(self) -> None:
        assert assigned(SlidingEventTimeWindows.of(5, 10), 7) == []
        assert assigned(SlidingEventTimeWindows.of(5, 10), 4) == [(0, 5)]

    def test_sliding_before_the_epoch(self) -> None:
        assert assigned(SlidingEventTimeWindows.of(10, 5, 1), -3) == [(-4, 6), (-9, 1)]

    def test_processing_time_assigners_look_at_the_clock(self) -> None:
        assert assigned(TumblingProcessingTimeWindows.of(100), MIN) == [(1200, 1300)]
        assert assigned(SlidingProcessingTimeWindows.of(100, 50), MIN) == [(1200, 1300), (1150, 1250)]

    @pytest.mark.parametrize("size", [Time.seconds(2), Duration.of_seconds(2), datetime.timedelta(seconds=2), 2000])
    def test_any_amount_of_time_is_taken(self, size: Any) -> None:
        assert repr(TumblingEventTimeWindows.of(size)) == "TumblingEventTimeWindows(2000, 0)"

    def test_records_without_timestamp_are_refused_in_event_time(self) -> None:
        with pytest.raises(MissingTimestampError, match="the record has no timestamp"):
            assigned(TumblingEventTimeWindows.of(10), MIN)

    @pytest.mark.parametrize("kind", [TumblingEventTimeWindows, TumblingProcessingTimeWindows])
    def test_tumbling_offset_must_be_below_the_size(self, kind: Any) -> None:
        for size, offset in [(10, 10), (10, -10), (0, 0)]:
            with pytest.raises(ArgumentError, match=r"abs\(offset\) < size"):
                kind.of(size, offset)

    @pytest.mark.parametrize("kind", [SlidingEventTimeWindows, SlidingProcessingTimeWindows])
    def test_sliding_offset_must_be_below_the_slide(self, kind: Any) -> None:
        for size, slide, offset in [(10, 5, 5), (0, 5, 0), (10, 0, 0)]:
            with pytest.raises(ArgumentError, match=r"abs\(offset\) < slide and size > 0"):
                kind.of(size, slide, offset)

    def test_default_triggers_follow_the_clock_of_the_assigner(self) -> None:
        assert isinstance(TumblingEventTimeWindows.of(1).get_default_trigger(None), EventTimeTrigger)  # type: ignore[arg-type]
        assert isinstance(SlidingProcessingTimeWindows.of(1, 1).get_default_trigger(None), ProcessingTimeTrigger)  # type: ignore[arg-type]
        assert SlidingEventTimeWindows.of(1, 1).is_event_time()
        assert not TumblingProcessingTimeWindows.of(1).is_event_time()


class TestSessions:
    def test_a_record_opens_a_window_as_long_as_the_gap(self) -> None:
        assert assigned(EventTimeSessionWindows.with_gap(Time.seconds(3)), 1000) == [(1000, 4000)]
        assert assigned(ProcessingTimeSessionWindows.with_gap(10), 0) == [(1234, 1244)]

    def test_dynamic_gap_asks_for_each_record(self) -> None:
        class Gap(SessionWindowTimeGapExtractor):
            def extract(self, element: Any) -> int:
                return len(element) * 7

        for extractor in (Gap(), lambda element: 7):
            assigner = EventTimeSessionWindows.with_dynamic_gap(extractor)
            assert isinstance(assigner, DynamicEventTimeSessionWindows)
            assert assigned(assigner, 5) == [(5, 12)]

    def test_gaps_must_be_positive(self) -> None:
        with pytest.raises(ArgumentError, match="0 < size"):
            EventTimeSessionWindows.with_gap(0)
        with pytest.raises(ArgumentError, match="0 < gap"):
            assigned(EventTimeSessionWindows.with_dynamic_gap(lambda element: 0), 5)
        with pytest.raises(ArgumentTypeError, match="gap extractor"):
            EventTimeSessionWindows.with_dynamic_gap(3)  # type: ignore[arg-type]

    def test_windows_that_overlap_or_touch_merge_whatever_their_order(self) -> None:
        assert merged((20, 30), (0, 10), (10, 15), (14, 16)) == [([(0, 10), (10, 15), (14, 16)], (0, 16))]

    def test_a_bridging_window_joins_its_neighbours(self) -> None:
        assert merged((0, 10), (18, 28), (9, 19)) == [([(0, 10), (9, 19), (18, 28)], (0, 28))]

    def test_single_and_equal_windows_do_not_merge(self) -> None:
        assert merged((0, 10), (11, 20)) == []
        assert merged((0, 10), (0, 10)) == []

    @given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=12))
    def test_merging_covers_every_window_once_and_leaves_groups_apart(self, pairs: list[tuple[int, int]]) -> None:
        windows = [(start, start + length) for start, length in pairs]
        groups = merged(*windows)
        grouped = [w for members, _ in groups for w in members]
        assert len(grouped) == len(set(grouped))
        covers = sorted([cover for _, cover in groups] + [w for w in set(windows) if w not in grouped])
        assert all(a[1] < b[0] for a, b in zip(covers, covers[1:], strict=False))


class TestCounts:
    def numbers(self, assigner: Any, records: int) -> list[list[int]]:
        context = Context()
        return [[w.id for w in assigner.assign_windows("x", 0, context)] for _ in range(records)]

    def test_tumbling(self) -> None:
        assert self.numbers(CountTumblingWindowAssigner.of(2), 5) == [[0], [0], [1], [1], [2]]

    def test_sliding_overlaps(self) -> None:
        ids = self.numbers(CountSlidingWindowAssigner.of(4, 2), 7)
        assert ids == [[0], [0], [1, 0], [1, 0], [2, 1], [2, 1], [3, 2]]

    def test_sliding_with_gaps(self) -> None:
        assert self.numbers(CountSlidingWindowAssigner.of(2, 3), 6) == [[0], [0], [], [1], [1], []]

    @given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 40))
    def test_a_window_holds_consecutive_records_never_more_than_its_size(self, size: int, slide: int, n: int) -> None:
        held: dict[int, list[int]] = {}
        for number, ids in enumerate(self.numbers(CountSlidingWindowAssigner.of(size, slide), n)):
            for i in ids:
                held.setdefault(i, []).append(number)
        for i, numbers in held.items():
            assert numbers == list(range(i * slide, min(n, i * slide + size)))

    def test_a_full_window_fires_and_is_dropped(self) -> None:
        trigger = CountTumblingWindowAssigner.of(2).get_default_trigger(None)  # type: ignore[arg-type]
        assert isinstance(trigger, PurgingTrigger) and isinstance(trigger.nested_trigger, CountTrigger)

    def test_sizes_must_be_positive(self) -> None:
        for size, slide in [(0, 1), (1, 0), (-1, 1)]:
            with pytest.raises(ArgumentError, match="positive"):
                CountSlidingWindowAssigner.of(size, slide)

    def test_global_windows_need_a_trigger_of_their_own(self) -> None:
        assigner = GlobalWindows.create()
        assert list(assigner.assign_windows("x", MIN, Context())) == [GlobalWindow.get()]
        assert isinstance(assigner.get_default_trigger(None), NeverTrigger)  # type: ignore[arg-type]
