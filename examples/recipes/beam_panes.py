"""Beam's panes: early, on-time and late firings of one window, discarding, accumulating or retracting.

An early firing is asked for every four seconds of event time, a late one for each late record. A pane says what Beam's
`PaneInfo` does: its number and its timing. Retracting, a pane takes back what the one before has said.

Prints:

    discarding    0 EARLY [2]  1 EARLY [3]  2 ON_TIME [1]  3 LATE [5]
    accumulating  0 EARLY [2]  1 EARLY [5]  2 ON_TIME [6]  3 LATE [11]
    retracting    0 EARLY [2]  1 EARLY [-2, 5]  2 ON_TIME [-5, 6]  3 LATE [-6, 11]
"""

from __future__ import annotations

from scurry.common import Time, Types
from scurry.datastream.functions import ProcessWindowFunction
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import ContinuousEventTimeTrigger, PurgingTrigger, TumblingEventTimeWindows
from scurry.testing import TestHarness

PANE = ValueStateDescriptor("pane", Types.INT())
ON_TIME = ValueStateDescriptor("on time", Types.BOOLEAN())
SAID = ValueStateDescriptor("said", Types.INT())


class Panes(ProcessWindowFunction):
    """Adds what it is given; its own state belongs to the window and goes with it."""

    def __init__(self, retracting: bool = False) -> None:
        self.retracting = retracting

    def process(self, key, context, elements):
        pane, on_time, said = (context.window_state().get_state(each) for each in (PANE, ON_TIME, SAID))
        index, total = pane.value() or 0, sum(value for _, value in elements)
        if context.current_watermark() < context.window().max_timestamp():
            timing = "EARLY"
        else:
            timing = "LATE" if on_time.value() else "ON_TIME"
            on_time.update(True)
        yield f"{index} {timing} {[-said.value(), total] if self.retracting and index else [total]}"
        pane.update(index + 1)
        said.update(total)

    def clear(self, context):
        for each in (PANE, ON_TIME, SAID):
            context.window_state().get_state(each).clear()


def panes(trigger, function):
    def build(records):
        windows = records.key_by(lambda record: record[0]).window(TumblingEventTimeWindows.of(Time.seconds(10)))
        return windows.allowed_lateness(60_000).trigger(trigger).process(function)

    return build


def run(mode, trigger, function):
    with TestHarness.of(panes(trigger, function)) as harness:
        for second, value, watermark in [(1, 2, 4), (5, 3, 8), (9, 1, 10), (3, 5, 12)]:
            harness.process(("k", value), timestamp=second * 1000)
            harness.advance_watermark(watermark * 1000)
        print(f"{mode:13}", "  ".join(harness.outputs()))


early = ContinuousEventTimeTrigger.of(Time.seconds(4))
run("discarding", PurgingTrigger.of(early), Panes())
run("accumulating", early, Panes())
run("retracting", early, Panes(retracting=True))
