"""Records are converted to their declared type once: timestamps are assigned to what has been converted."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
from scurry.errors import JobError
from scurry.runtime.exchange.collector import Collector
from scurry.runtime.exchange.record_columns import TakenApart

PAIR = Types.TUPLE([Types.STRING(), Types.LONG()])
OTHER = OutputTag("other", Types.STRING())
STRATEGY = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: 1)


def environment() -> StreamExecutionEnvironment:
    settings = Configuration.from_dict({"scurry.runner": "local", "execution.runtime-mode": "BATCH"})
    return StreamExecutionEnvironment.get_execution_environment(settings)


def converted_by(stream: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[Any]]:
    """Run a job; return the names of the operators that converted records, and the results."""
    names: list[str] = []
    convert = Collector._converted

    def watched(self: Any, *arguments: Any) -> Any:
        names.append(self._plan.name)
        return convert(self, *arguments)

    monkeypatch.setattr(Collector, "_converted", watched)
    return names, sorted(stream.execute_and_collect())


def test_what_a_map_has_converted_is_not_converted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = environment().from_collection([1, 2]).map(lambda each: ("a", each), PAIR)
    names, found = converted_by(pairs.assign_timestamps_and_watermarks(STRATEGY), monkeypatch)
    assert names == ["Map"] and found == [("a", 1), ("a", 2)]


def test_records_of_a_type_that_can_change_are_converted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = environment().from_collection([1]).map(lambda each: [each], Types.LIST(Types.LONG()))
    names, _ = converted_by(lists.assign_timestamps_and_watermarks(STRATEGY), monkeypatch)
    assert names == ["Map", "Timestamps/Watermarks"]


def test_what_all_inputs_of_a_union_have_converted_is_not_converted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    env = environment()
    one, other = (env.from_collection([number]).map(lambda each: ("a", each), PAIR) for number in (1, 2))
    names, _ = converted_by(one.union(other).assign_timestamps_and_watermarks(STRATEGY), monkeypatch)
    assert names == ["Map", "Map"]


def test_a_map_before_timestamps_refuses_what_does_not_fit() -> None:
    stream = environment().from_collection([1]).map(lambda each: ("a", "one"), PAIR)
    with pytest.raises(JobError, match="Map"):
        list(stream.assign_timestamps_and_watermarks(STRATEGY).execute_and_collect())


class Sides(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield OTHER, "x"
        yield "a", value


def test_records_of_a_side_output_keep_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    side = environment().from_collection([1]).process(Sides(), PAIR).get_side_output(OTHER)
    _, found = converted_by(side.assign_timestamps_and_watermarks(STRATEGY), monkeypatch)
    assert found == ["x"]


@pytest.mark.parametrize(("by_key", "taken_apart"), [(True, 1), (False, 0)])
def test_only_what_is_sent_by_key_is_taken_apart(
    by_key: bool, taken_apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    converters: list[Any] = []
    converter = TakenApart.converter

    def watched(self: Any, declared: Any, packs: bool) -> Any:
        converters.append(declared)
        return converter(self, declared, packs)

    monkeypatch.setattr(TakenApart, "converter", watched)
    pairs = environment().from_collection([1, 2]).map(lambda each: ("a", each), PAIR)
    sent = pairs.key_by(lambda each: each[0], Types.STRING()) if by_key else pairs.rebalance()
    assert sorted(sent.map(lambda each: each, PAIR).execute_and_collect()) == [("a", 1), ("a", 2)]
    assert len(converters) == taken_apart
