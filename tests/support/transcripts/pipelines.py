"""The pipelines of the transcripts, from what a script says under `window:` or `process:`.

Records are (key, value) pairs. The module runs on scurry as well as on PyFlink, where `flink_runner.py` uses it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from support.transcripts.commands import Commands

try:
    from scurry.common import Time, Types
    from scurry.datastream import OutputTag
    from scurry.datastream import functions as fn
    from scurry.datastream import state as st
    from scurry.datastream import window as win
except ImportError:  # on Flink itself
    from pyflink.common import Time, Types  # type: ignore[no-redef]
    from pyflink.datastream import OutputTag  # type: ignore[no-redef]
    from pyflink.datastream import functions as fn  # type: ignore[no-redef]
    from pyflink.datastream import state as st  # type: ignore[no-redef]
    from pyflink.datastream import window as win  # type: ignore[no-redef]

LATE = OutputTag("late")
FIRINGS = st.ValueStateDescriptor("firings", Types.LONG())
FIRINGS_OF_KEY = st.ValueStateDescriptor("firings of key", Types.LONG())
ms = Time.milliseconds


def build(script: dict[str, Any], stream: Any) -> tuple[Any, Any]:
    """The results of a script's pipeline over a stream of records, and its late records if the script wants them."""
    if "process" in script:
        return stream.key_by(key_of).process(Commands(script["process"] or {})), None
    first = windowed(script["window"], stream)
    late = first.get_side_output(LATE) if script["window"].get("late_output") else None
    if "then" in script:
        return windowed(script["then"], first.map(key_and_last)), late
    return first, late


def key_of(record: Any) -> Any:
    return record[0]


def key_and_last(result: Any) -> Any:
    """A result of one window as a record for the next."""
    return result[0], result[-1]


# ---------------------------------------------------------------- windows


def windowed(spec: dict[str, Any], stream: Any) -> Any:
    over_all = spec.get("all", False)
    assigner = ASSIGNERS[spec["assigner"]](spec)
    windows = stream.window_all(assigner) if over_all else stream.key_by(key_of).window(assigner)
    if "trigger" in spec:
        windows = windows.trigger(trigger(spec["trigger"]))
    if "lateness" in spec:
        windows = windows.allowed_lateness(spec["lateness"])
    if spec.get("late_output"):
        windows = windows.side_output_late_data(LATE)
    return FUNCTIONS[spec.get("function", "contents")](windows, over_all)


def _timed(event: str, processing: str) -> Any:
    return lambda spec: getattr(win, processing if spec.get("time") == "processing" else event)


def _tumbling(spec: dict[str, Any]) -> Any:
    kind = _timed("TumblingEventTimeWindows", "TumblingProcessingTimeWindows")(spec)
    return kind.of(ms(spec["size"]), ms(spec.get("offset", 0)))


def _sliding(spec: dict[str, Any]) -> Any:
    kind = _timed("SlidingEventTimeWindows", "SlidingProcessingTimeWindows")(spec)
    return kind.of(ms(spec["size"]), ms(spec["slide"]), ms(spec.get("offset", 0)))


class GapInRecord(win.SessionWindowTimeGapExtractor):
    def extract(self, element: Any) -> int:
        return int(element[1])


def _session(spec: dict[str, Any]) -> Any:
    kind = _timed("EventTimeSessionWindows", "ProcessingTimeSessionWindows")(spec)
    return kind.with_dynamic_gap(GapInRecord()) if spec.get("gap") == "dynamic" else kind.with_gap(ms(spec["gap"]))


class DecadeOfValue(win.WindowAssigner):
    """A custom assigner: windows of ten by the record's value instead of its time; negative values go nowhere."""

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
        start = element[1] // 10 * 10
        return [win.TimeWindow(start, start + 10)] if start >= 0 else []

    def get_default_trigger(self, env: Any) -> Any:
        return win.EventTimeTrigger()

    def get_window_serializer(self) -> Any:
        return win.TimeWindowSerializer()

    def is_event_time(self) -> bool:
        return True


ASSIGNERS: dict[str, Any] = {
    "tumbling": _tumbling,
    "sliding": _sliding,
    "session": _session,
    "global": lambda spec: win.GlobalWindows.create(),
    "count": lambda spec: win.CountTumblingWindowAssigner.of(spec["size"]),
    "sliding_count": lambda spec: win.CountSlidingWindowAssigner.of(spec["size"], spec["slide"]),
    "decade_of_value": lambda spec: DecadeOfValue(),
}


class OnCommand(win.Trigger):
    """A custom trigger: the record's value says what happens to its window."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> Any:
        command = element[1]
        if isinstance(command, int):
            ctx.register_event_time_timer(command)
            return win.TriggerResult.CONTINUE
        return win.TriggerResult[command]

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> Any:
        return win.TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> Any:
        return win.TriggerResult.FIRE

    def on_merge(self, window: Any, ctx: Any) -> None:
        pass

    def clear(self, window: Any, ctx: Any) -> None:
        pass


def trigger(spec: Any) -> Any:
    """`event`, `processing`, `never`, `on_command`, or one of count, continuous and purging with its argument."""
    if isinstance(spec, str):
        kinds = {"event": win.EventTimeTrigger, "processing": win.ProcessingTimeTrigger,
                 "never": win.NeverTrigger, "on_command": OnCommand}  # fmt: skip
        return kinds[spec]()
    ((kind, argument),) = spec.items()
    if kind == "purging":
        return win.PurgingTrigger.of(trigger(argument))
    if kind == "count":
        return win.CountTrigger.of(argument)
    continuous = {"continuous_event": "ContinuousEventTimeTrigger",
                  "continuous_processing": "ContinuousProcessingTimeTrigger"}  # fmt: skip
    return getattr(win, continuous[kind]).of(ms(argument))


# ---------------------------------------------------------------- window functions


def about(window: Any) -> list[Any]:
    """What results say of their window."""
    if hasattr(window, "start"):
        return [window.start, window.end]
    return [window.id] if hasattr(window, "id") else []


class Contents(fn.ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Any:
        yield [key, *about(context.window()), [value for _, value in elements]]

    def clear(self, context: Any) -> None:
        pass


class SortedContents(Contents):
    """For merged windows, whose elements come in any order."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Any:
        yield [key, *about(context.window()), sorted(value for _, value in elements)]


class AllContents(fn.ProcessAllWindowFunction):
    def process(self, context: Any, elements: Iterable[Any]) -> Any:
        yield [*about(context.window()), [f"{key}{value}" for key, value in elements]]

    def clear(self, context: Any) -> None:
        pass


class Applied(fn.WindowFunction):
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Any:
        yield [key, *about(window), [value for _, value in inputs]]


class Numbered(fn.ProcessWindowFunction):
    """Counts the firings of a window and of its key, and says where time is."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Any:
        counts = []
        states = context.window_state().get_state(FIRINGS), context.global_state().get_state(FIRINGS_OF_KEY)
        for state in states:
            state.update((state.value() or 0) + 1)
            counts.append(state.value())
        yield [key, *about(context.window()), counts, context.current_watermark(), [value for _, value in elements]]

    def clear(self, context: Any) -> None:
        context.window_state().get_state(FIRINGS).clear()


class Sum(fn.AggregateFunction):
    def create_accumulator(self) -> Any:
        return [None, 0]

    def add(self, value: Any, accumulator: Any) -> Any:
        return [value[0], accumulator[1] + value[1]]

    def get_result(self, accumulator: Any) -> Any:
        return (accumulator[0], accumulator[1])

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return [acc_a[0], acc_a[1] + acc_b[1]]


def plus(left: Any, right: Any) -> Any:
    return left[0], left[1] + right[1]


FUNCTIONS = {
    "contents": lambda windows, over_all: windows.process(AllContents() if over_all else Contents()),
    "sorted": lambda windows, over_all: windows.process(SortedContents()),
    "apply": lambda windows, over_all: windows.apply(Applied()),
    "numbered": lambda windows, over_all: windows.process(Numbered()),
    "reduce": lambda windows, over_all: windows.reduce(plus),
    "aggregate": lambda windows, over_all: windows.aggregate(Sum()),
    "reduce and process": lambda windows, over_all: windows.reduce(plus, Contents()),
    "aggregate and process": lambda windows, over_all: windows.aggregate(Sum(), Contents()),
}
