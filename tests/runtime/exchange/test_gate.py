from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.graph import operators as ops
from scurry.graph.plan import ChannelGroup, Edge
from scurry.runtime.driver.requests import CONTROL
from scurry.runtime.exchange.input_gate import InputGate
from scurry.runtime.exchange.wire import (
    ACTIVE,
    DATA,
    IDLE,
    MAX_TIME,
    MIN_TIME,
    PROGRESS,
    RESUMED,
    WireRow,
    channel_id,
    pack,
    unpack,
)
from support.cases import cases

#: Task 1 has two instances, task 2 has one that may fall idle after 10 ms.
A0, A1, B = channel_id(1, 0), channel_id(1, 1), channel_id(2, 0)


def edges() -> list[Edge]:
    senders = [ChannelGroup(1, 2), ChannelGroup(2, 1, idle_timeout=10)]
    return [Edge(0, 9, 0, ops.Rebalance(), senders=senders), Edge(1, 9, 1, ops.Broadcast(), senders=senders[:1])]


def data(channel: int, seq: int, block: str, port: int = 0) -> WireRow:
    return WireRow(0, port, DATA, channel, seq, block.encode())


def time(channel: int, *points: tuple[int, int, int] | tuple[int, int, int, int]) -> WireRow:
    """Points are (seq, watermark, stamp), or with False at the end when no records came since the last one."""
    return WireRow(0, 0, PROGRESS, channel, 0, pack([(*point, True)[:4] for point in points]))


def watermarks(rows: list[WireRow], gate: InputGate | None = None) -> list[int]:
    """The combined watermark after each step of time."""
    return [payload[0] for _, index, payload in merged(rows, gate) if index is None]


def merged(rows: list[WireRow], gate: InputGate | None = None) -> list[Any]:
    gate = gate or InputGate(edges(), {})
    for row in rows:
        gate.add(row)
    return list(gate.merge())


def blocks(rows: list[WireRow], gate: InputGate | None = None) -> list[str]:
    return [payload.decode() for _, index, payload in merged(rows, gate) if index is not None]


WATERMARKS: list[tuple[str, list[WireRow], list[int]]] = [
    ("nothing", [], []),
    ("one of three channels has spoken", [time(A0, (1, 50, 1))], [MIN_TIME]),
    ("an instance that never speaks does not hold its own task back, another task's does",
     [time(A0, (1, 50, 1)), time(B, (1, 40, 1))], [MIN_TIME, 40]),
    ("an instance that has not begun holds time back if the others of its task have ended",
     [time(A0, (1, MAX_TIME, 1)), time(B, (1, 40, 1))], [MIN_TIME, MIN_TIME]),
    ("the minimum over all channels",
     [time(A0, (1, 50, 1)), time(A1, (1, 30, 2)), time(B, (1, 40, 3))], [MIN_TIME, MIN_TIME, 30]),
    ("the lowest channel goes on first",
     [time(A0, (1, 10, 1), (2, 30, 2)), time(A1, (1, 20, 1), (2, 25, 2)), time(B, (1, 100, 1))],
     [MIN_TIME, MIN_TIME, 10, 20, 25]),
    ("a channel that has ended holds nobody back",
     [time(A0, (1, MAX_TIME, 1)), time(A1, (1, 7, 1)), time(B, (1, MAX_TIME, 1))], [MIN_TIME, MIN_TIME, 7]),
    ("the end of all inputs",
     [time(channel, (1, MAX_TIME, 1)) for channel in (A0, A1, B)], [MIN_TIME, MIN_TIME, MAX_TIME]),
    ("the end from the runner", [time(A0, (1, 5, 1)), time(CONTROL, (0, MAX_TIME, 2))], [MIN_TIME, MAX_TIME]),
    ("a tick moves no watermark", [time(CONTROL, (0, MIN_TIME, 9))], [MIN_TIME]),
    ("a lower watermark than before is no step back",
     [time(A0, (1, 9, 1), (2, 3, 2)), time(B, (1, 9, 1))], [MIN_TIME, 9, 9]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "expected"), [case[1:] for case in WATERMARKS], ids=[case[0] for case in WATERMARKS])
def test_watermarks(rows: list[WireRow], expected: list[int]) -> None:
    assert watermarks(rows) == expected


def test_a_silent_channel_with_an_idle_timeout_is_left_out_until_it_speaks() -> None:
    first = InputGate(edges(), {})
    assert watermarks([time(A0, (1, 50, 100)), time(B, (1, 5, 100))], first)[-1] == 5
    second = InputGate(edges(), first.save())
    assert watermarks([time(A0, (2, 60, 110))], second) == [5]
    third = InputGate(edges(), second.save())
    assert watermarks([time(A0, (3, 70, 111))], third) == [70]
    fourth = InputGate(edges(), third.save())
    assert watermarks([time(B, (2, 20, 112)), time(A0, (4, 90, 113))], fourth) == [70, 70]


def test_a_channel_without_idle_timeout_is_waited_for() -> None:
    first = InputGate(edges(), {})
    watermarks([time(A0, (1, 5, 0)), time(A1, (1, 50, 0)), time(B, (1, MAX_TIME, 0))], first)
    assert watermarks([time(A1, (2, 60, 10_000))], InputGate(edges(), first.save())) == [5]


def test_ticks_find_out_who_is_idle() -> None:
    gate = InputGate(edges(), {})
    watermarks([time(A0, (1, 50, 100)), time(B, (1, 5, 100))], gate)
    assert watermarks([time(CONTROL, (0, MIN_TIME, 111))], InputGate(edges(), gate.save())) == [50]


def test_a_channel_that_was_read_later_than_others_in_a_batch_is_waited_for() -> None:
    gate = InputGate(edges(), {})
    watermarks([time(A0, (1, 50, 100)), time(B, (1, 5, 100))], gate)
    rows = [time(A0, (2, 60, 150)), time(B, (2, 7, 190), (3, 8, 191, False), (4, 9, 220))]
    assert watermarks(rows, InputGate(edges(), gate.save())) == [7, 8, 9, 9]


def test_it_is_left_out_when_it_has_nothing_further_in_the_batch() -> None:
    gate = InputGate(edges(), {})
    watermarks([time(A0, (1, 50, 100)), time(B, (1, 5, 100))], gate)
    rows = [time(A0, (2, 60, 150), (3, 70, 200)), time(B, (2, 7, 160), (3, 7, 190, False))]
    assert watermarks(rows, InputGate(edges(), gate.save()))[-1] == 70


@pytest.mark.parametrize(("spoke", "waits"), [(12, False), (11, True)])
def test_the_end_of_a_channel_that_was_idle_does_not_wait_for_others(spoke: int, waits: bool) -> None:
    """Its timeout is 10."""
    ending = time(B, (0, MIN_TIME, 1, False), (1, 7, spoke), (2, MAX_TIME, spoke, False))
    going_on = time(A0, (1, 99, 20), (2, 120, 21))
    assert (99 not in watermarks([ending, going_on])) == waits


@pytest.mark.parametrize("idle", [True, False])
def test_channels_are_silent_since_the_job_was_started_again(idle: bool) -> None:
    gate = InputGate(edges(), {})
    watermarks([time(A0, (1, 50, 100)), time(B, (1, 5, 100, IDLE if idle else ACTIVE))], gate)
    second = InputGate(edges(), gate.save())
    resumed = time(CONTROL, (0, MIN_TIME, 1000, RESUMED))
    assert watermarks([time(A0, (2, 60, 1010)), resumed], second) == [50 if idle else 5]
    assert watermarks([time(A0, (3, 70, 1011))], InputGate(edges(), second.save())) == [70]


def test_points_without_records_do_not_keep_a_channel_awake() -> None:
    gate = InputGate(edges(), {})
    rows = [time(A0, (1, 50, 100)), time(B, (1, 5, 100), (2, 5, 108, False), (3, 5, 116, False))]
    assert watermarks(rows, gate)[-1] == 50


def test_a_channel_that_calls_itself_idle_is_left_out_until_it_has_records() -> None:
    gate = InputGate(edges(), {})
    rows = [time(A0, (1, 50, 100)), time(B, (1, 5, 100, IDLE), (2, 5, 101, ACTIVE))]
    assert watermarks(rows, gate) == [MIN_TIME, 50, 50]
    again = InputGate(edges(), gate.save())
    assert watermarks([time(A0, (2, 70, 102))], again) == [50]


def test_when_all_channels_are_idle_time_goes_to_the_highest_watermark() -> None:
    rows = [time(A0, (1, 50, 100, IDLE)), time(A1, (1, 70, 100, IDLE)), time(B, (1, 5, 100, IDLE))]
    assert watermarks(rows)[-1] == 70


def test_data_comes_before_the_point_that_covers_it() -> None:
    rows = [time(A0, (1, 5, 1), (2, 9, 2)), data(A0, 2, "two"), data(A0, 1, "one")]
    kinds = [payload.decode() if index is not None else payload[1] for _, index, payload in merged(rows)]
    assert kinds == ["one", 1, "two", 2]


def test_blocks_know_their_input() -> None:
    steps = merged([data(A0, 1, "left", port=0), data(A0, 2, "right", port=1)])
    assert [(index, payload) for _, index, payload in steps] == [(0, b"left"), (1, b"right")]


def test_blocks_of_one_position_keep_the_order_they_came_in() -> None:
    assert blocks([data(A0, 1, "first"), data(A0, 1, "second"), data(A0, 1, "third")]) == ["first", "second", "third"]


@pytest.mark.parametrize("stamps", [(1, 2), (2, 1)])
def test_the_earlier_stamp_decides_a_tie(stamps: tuple[int, int]) -> None:
    rows = [data(A0, 1, "0"), data(A1, 1, "1"), time(A0, (1, 5, stamps[0])), time(A1, (1, 5, stamps[1]))]
    assert blocks(rows) == (["0", "1"] if stamps[0] < stamps[1] else ["1", "0"])


def test_what_is_left_of_a_channel_is_known_to_the_next_batch() -> None:
    gate = InputGate(edges(), {})
    watermarks([time(A0, (1, 30, 1)), time(A1, (1, 20, 1)), time(B, (1, 40, 1))], gate)
    assert watermarks([time(A1, (2, 35, 2))], InputGate(edges(), gate.save())) == [30]


# ------------------------------------------------------------------ properties

#: Segments of a channel: how many blocks, by how much the watermark rises after them, and by how much the clock.
SEGMENTS = st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 9), st.integers(0, 30)), max_size=5)
BATCHES = st.lists(st.fixed_dictionaries({A0: SEGMENTS, A1: SEGMENTS, B: SEGMENTS}), min_size=1, max_size=3)


class Sender:
    """Numbers blocks and points as tasks do: positions ascend, from batch to batch, too."""

    def __init__(self, channel: int) -> None:
        self.channel = channel
        self.watermark = self.stamp = 0

    def rows(self, batch: int, segments: list[tuple[int, int, int]]) -> list[WireRow]:
        seq, points, rows = batch << 24, [], []
        points.append((seq, MIN_TIME, self.stamp, False))
        for count, rise, elapsed in segments:
            for _ in range(count):
                seq += 1
                rows.append(data(self.channel, seq, f"{self.channel}/{seq}"))
            self.watermark += rise
            self.stamp += elapsed
            points.append((seq, self.watermark, self.stamp, bool(count)))
        return [*rows, time(self.channel, *points)] if segments else []


def batches_of(specs: list[dict[int, Any]], first: int) -> list[list[WireRow]]:
    senders = {channel: Sender(channel) for channel in (A0, A1, B)}
    return [
        [row for channel, segments in spec.items() for row in senders[channel].rows(first + number, segments)]
        for number, spec in enumerate(specs)
    ]


@settings(max_examples=cases(80), deadline=None)
@given(BATCHES, st.sampled_from([0, 255, 1_000_000]))
def test_everything_is_delivered_once_in_order_and_the_watermark_never_falls(specs: Any, first: int) -> None:
    saved: dict[int, Any] = {}
    highest = MIN_TIME
    for rows in batches_of(specs, first):
        gate = InputGate(edges(), saved)
        steps = merged(rows, gate)
        sent = [row.block.decode() for row in rows if row.kind == DATA]
        got = [payload.decode() for _, index, payload in steps if index is not None]
        for channel in (A0, A1, B):
            mine = [name for name in got if name.startswith(f"{channel}/")]
            assert mine == [name for name in sent if name.startswith(f"{channel}/")]
        assert len(got) == len(sent)
        for _, index, payload in steps:
            if index is None:
                assert payload[0] >= highest
                highest = payload[0]
        saved = gate.save()


@settings(max_examples=cases(150), deadline=None)
@given(BATCHES, st.sets(st.sampled_from([A0, A1, B])))
def test_the_end_of_an_input_makes_no_record_late_that_its_records_did_not(specs: Any, ending: set[int]) -> None:
    """In the batch in which it ends: a task that had watermarks holds others back by the last of them."""
    saved: dict[int, Any] = {}
    never_idle = [Edge(0, 9, 0, ops.Rebalance(), senders=[ChannelGroup(1, 2), ChannelGroup(2, 1)])]
    for number, rows in enumerate(batches_of(specs, 1)):
        gate = InputGate(never_idle, saved)
        last = number + 1 == len(specs)
        if last:
            rows += [time(channel, ((number + 2) << 24, MAX_TIME, 1000)) for channel in ending]
        highest = {channel: saved[channel][0] if saved else MIN_TIME for channel in (A0, A1, B)}
        for row in rows:
            if row.kind == PROGRESS:
                marks = [point[1] for point in unpack(row.block) if point[1] != MAX_TIME]
                highest[row.channel] = max([highest[row.channel], *marks])
            gate.add(row)
        bounds = [max(highest[A0], highest[A1]), highest[B]]
        for _, index, _ in gate.merge():
            if index is not None and last:
                assert gate.watermark <= min([bound for bound in bounds if bound > MIN_TIME], default=MAX_TIME)
        saved = gate.save()


@settings(max_examples=cases(80), deadline=None)
@given(BATCHES, st.sampled_from([0, 255, 1_000_000]))
def test_steps_ascend_so_that_the_next_level_keeps_the_order(specs: Any, first: int) -> None:
    saved: dict[int, Any] = {}
    for rows in batches_of(specs, first):
        gate = InputGate(edges(), saved)
        steps = [step for step, _, _ in merged(rows, gate)]
        assert steps == sorted(steps)
        assert all(0 <= step < 1 << 63 for step in steps)
        saved = gate.save()


def test_steps_ascend_without_progress_points_too() -> None:
    rows = [data(channel, seq, f"{channel}/{seq}") for channel in (A0, A1) for seq in (7, 1 << 40, 1 << 41)]
    steps = [step for step, _, _ in merged(rows)]
    assert len(steps) == 6
    assert steps == sorted(set(steps))


@settings(max_examples=cases(40), deadline=None)
@given(BATCHES, st.randoms(use_true_random=False))
def test_groups_with_other_data_pass_through_the_same_times(specs: Any, random: Any) -> None:
    """All groups get all points but each only its share of the blocks; steps of time must agree between them."""
    saved: dict[int, Any] = {}
    for rows in batches_of(specs, 300):
        some = [row for row in rows if row.kind == PROGRESS or random.random() < 0.5]
        full, part = InputGate(edges(), saved), InputGate(edges(), saved)
        of_all = [step for step in merged(rows, full) if step[1] is None]
        assert [step for step in merged(some, part) if step[1] is None] == of_all
        saved = full.save()


@settings(max_examples=cases(40), deadline=None)
@given(BATCHES)
def test_a_second_level_delivers_data_between_the_same_points(specs: Any) -> None:
    """What the first gate emits at its steps, taken as one channel, meets the second in the same order."""
    below = [Edge(5, 10, 0, ops.Rebalance(), senders=[ChannelGroup(9, 1)])]
    for rows in batches_of(specs, 300):
        first = merged(rows)
        channel = channel_id(9)
        sent = [WireRow(0, 5, DATA, channel, step, payload) for step, index, payload in first if index is not None]
        points = [(step, *payload, True) for step, index, payload in first if index is None]
        gate = InputGate(below, {})
        second = merged([*sent, WireRow(0, 5, PROGRESS, channel, 0, pack(points))], gate)
        met, said = ([p if i is not None else p[1] for _, i, p in steps] for steps in (second, first))
        assert met == said
