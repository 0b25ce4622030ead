"""BATCH gives the results of STREAMING for keys and fields of every type, declared or not, in memory and on disk.

The records are tuples, which BATCH exchanges in columns; other fields make it change the columns while it collects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Configuration, Duration, Time, Types, WatermarkStrategy
from scurry.datastream import (
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import (
    CountEvictor,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    TumblingEventTimeWindows,
)
from scurry.runtime.exchange import key_blocks, key_records, ordering
from scurry.runtime.local import batch_rows
from scurry.runtime.operators.batch import windows as batch_windows
from scurry.runtime.tasks import batch_task
from support.cases import CASES

#: of each type of keys: its declaration, None if there is none, and the keys
KEYS: dict[str, tuple[Any, list[Any]]] = {
    "text": (Types.STRING(), ["a", "b", "é", ""]),
    "long": (Types.LONG(), [0, 1, -5, 2**62]),
    "float": (Types.DOUBLE(), [0.0, 1.5, float("inf")]),
    "boolean": (Types.BOOLEAN(), [True, False]),
    "tuple": (Types.TUPLE([Types.STRING(), Types.LONG()]), [("a", 1), ("a", 2)]),
    "any": (None, ["a", 1, True, 1.0, 2**70, None, b"b"]),
}
#: of each type of the last field likewise
FIELDS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "long": (Types.LONG(), st.integers(-(2**40), 2**40)),
    "double": (Types.DOUBLE(), st.sampled_from([-0.0, 0.5, 1e300])),
    "big": (Types.BIG_INT(), st.sampled_from([1, 2**63, -(2**63) - 1])),
    "any": (None, st.sampled_from([1, True, 2.5, 2**64])),
    "nested": (None, st.sampled_from([None, float("nan"), [1, (2, None)], {"a": [2**70]}, ("x", 1), True, b"y"])),
}


class Latest(KeyedProcessFunction):
    """Emits each record with the greatest amount of its key so far."""

    def open(self, runtime_context: Any) -> None:
        self.most = runtime_context.get_state(ValueStateDescriptor("most", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.most.update(max(self.most.value() or value[2], value[2], key=repr))
        yield value, ctx.timestamp(), type(ctx.get_current_key()).__name__


def greater(one: Any, other: Any) -> Any:
    return max(one, other, key=lambda each: (repr(each[2]), each[1]))


class Listed(ProcessWindowFunction[Any, Any, Any, Any]):
    """Emits the elements of a window."""

    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        yield key, context.window().start, list(elements)


class Gap(SessionWindowTimeGapExtractor):
    """A gap that depends on the record."""

    def extract(self, element: Any) -> int:
        return 3 + int(element[1]) % 4


def windowed(keyed: Any) -> Any:
    return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))


JOBS: dict[str, Callable[[Any], DataStream]] = {
    "tumbling": lambda keyed: keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(greater),
    "sessions": lambda keyed: keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(5))).reduce(greater),
    "process": lambda keyed: keyed.process(Latest()),
    "trigger": lambda keyed: windowed(keyed).trigger(PurgingTrigger.of(CountTrigger.of(2))).process(Listed()),
    "evictor": lambda keyed: windowed(keyed).evictor(CountEvictor.of(2)).process(Listed()),
    "lateness": lambda keyed: (
        windowed(keyed).allowed_lateness(5).side_output_late_data(OutputTag("late")).process(Listed())
    ),
    "merging": lambda keyed: (
        keyed.window(EventTimeSessionWindows.with_dynamic_gap(Gap()))
        .trigger(EventTimeTrigger.create())
        .process(Listed())
    ),
}
#: Those whose results depend on the order of records, which BATCH has sorted by time.
IN_ORDER = {"trigger", "evictor", "lateness", "merging"}


@pytest.fixture(autouse=True, params=["memory", "disk"])
def _small_limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_windows, "_MANY", 1)
    monkeypatch.setattr(ordering, "_MANY", 4)
    monkeypatch.setattr(batch_task, "RUN_RECORDS", 8)
    monkeypatch.setattr(batch_task, "FIRST_RECORDS", 3)
    monkeypatch.setattr(key_blocks, "_LEAST_RECORDS", 2)
    monkeypatch.setattr(key_records, "_WAITING_RECORDS", 4)
    if request.param == "disk":
        monkeypatch.setattr(batch_rows, "_HELD_BYTES", 1000)


def results(job: str, mode: str, key: str, field: str, declared: bool, records: list[Any]) -> list[str]:
    settings_ = Configuration.from_dict({"scurry.runner": "local", "execution.runtime-mode": mode})
    env = StreamExecutionEnvironment.get_execution_environment(settings_).set_parallelism(2)
    types = [KEYS[key][0], Types.LONG(), FIELDS[field][0]]
    kind = Types.TUPLE(types) if declared and None not in types else None
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(9)).with_timestamp_assigner(
        lambda value, _: value[1]
    )
    stream = env.from_collection(records).map(lambda each: each, kind).assign_timestamps_and_watermarks(strategy)
    keyed = stream.key_by(lambda each: each[0], KEYS[key][0] if declared else None)
    return sorted(map(repr, JOBS[job](keyed).execute_and_collect()))


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "undeclared"])
@pytest.mark.parametrize("key", KEYS)
def test_batch_of_records_of_every_type_emits_what_streaming_does(key: str, declared: bool) -> None:
    @settings(max_examples=max(CASES // 4, 4), deadline=None)
    @given(st.sampled_from(list(JOBS)), st.sampled_from(list(FIELDS)), st.data())
    def check(job: str, field: str, data: st.DataObject) -> None:
        record = st.tuples(st.sampled_from(KEYS[key][1]), st.integers(-20, 40), FIELDS[field][1])
        records = data.draw(st.lists(record, min_size=6, max_size=20))
        if job in IN_ORDER:
            records.sort(key=lambda each: each[1])
        expected, found = (results(job, mode, key, field, declared, records) for mode in ("STREAMING", "BATCH"))
        assert found == expected

    check()
