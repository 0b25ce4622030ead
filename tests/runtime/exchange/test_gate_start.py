"""The input gate at the beginning of a job: a channel that is read late makes none of its records late."""

from __future__ import annotations

from scurry.graph import operators as ops
from scurry.graph.plan import ChannelGroup, Edge
from scurry.runtime.exchange.input_gate import InputGate, Point
from scurry.runtime.exchange.wire import DATA, MAX_TIME, MIN_TIME, PROGRESS, WireRow, channel_id, pack

FIRST_POINTS: list[Point] = [(0, MIN_TIME, 1000, False), (1, 500, 1200, True), (2, 900, 1400, True)]


def gate() -> InputGate:
    edge = Edge(0, 1, 0, ops.Hash(lambda value: value), progress=True, senders=[ChannelGroup(0, 2)])
    return InputGate([edge], {})


def send(to: InputGate, instance: int, points: list[Point], blocks: dict[int, bytes]) -> None:
    channel = channel_id(0, instance)
    to.add(WireRow(0, 0, PROGRESS, channel, 0, pack(points)))
    for seq, block in blocks.items():
        to.add(WireRow(0, 0, DATA, channel, seq, block))


def watermark_before(merging: InputGate, block: bytes) -> int:
    watermark = MIN_TIME
    for _, index, payload in merging.merge():
        if index is None:
            watermark = payload[0]
        elif payload == block:
            return watermark
    raise AssertionError(f"{block!r} did not come out")


def test_a_channel_read_after_another_has_ended_is_not_late() -> None:
    merging = gate()
    send(merging, 0, FIRST_POINTS, {1: b"a", 2: b"b"})
    send(merging, 1, [(0, MIN_TIME, 2000, False), (1, 100, 2200, True)], {1: b"c"})
    assert watermark_before(merging, b"c") == MIN_TIME


def test_a_channel_without_anything_holds_nobody_back() -> None:
    merging = gate()
    send(merging, 0, FIRST_POINTS, {1: b"a", 2: b"b"})
    assert watermark_before(merging, b"b") == 500


def test_the_end_of_a_channel_does_not_end_time_for_one_that_has_sent_nothing_yet() -> None:
    merging = gate()
    send(merging, 0, [(0, MIN_TIME, 1000, False), (1, MAX_TIME, 1200, False)], {})
    list(merging.merge())
    assert merging.watermark == MIN_TIME
    send(merging, 1, [(2, MIN_TIME, 2000, False), (3, 100, 2200, True), (4, MAX_TIME, 2300, False)], {3: b"c"})
    merged = [payload if index is not None else payload[0] for _, index, payload in merging.merge()]
    assert merged[merged.index(b"c") - 1] == MIN_TIME
    assert merging.watermark == MAX_TIME
