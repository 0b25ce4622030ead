from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Types
from scurry.common.output_tag import OutputTag
from scurry.errors import OperatorError
from scurry.graph import operators as ops
from scurry.graph.nodes import Origin
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector

LATE = OutputTag("late")
COUNTS = OutputTag("counts", Types.DOUBLE())


class Consumer:
    def __init__(self) -> None:
        self.records: list[tuple[Any, int | None]] = []
        self.watermarks: list[int] = []

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        self.records += [(value, timestamps[i] if timestamps else None) for i, value in enumerate(values)]

    def watermark(self, watermark: int) -> None:
        self.watermarks.append(watermark)


def collector(output_type: Any = None, *tags: str) -> tuple[Collector, Consumer, dict[str, Consumer]]:
    plan = OperatorPlan(1, "1", "Map", ops.Map(None), output_type, 1, Origin("job.py", 7))
    subject, main, side = Collector(plan), Consumer(), {tag: Consumer() for tag in tags}
    subject.main.append(main)
    for tag, consumer in side.items():
        subject.side[tag] = [consumer]
    return subject, main, side


def test_every_consumer_of_the_main_output_gets_every_record() -> None:
    subject, first, _ = collector()
    second = Consumer()
    subject.main.append(second)
    subject.emit([1, 2], [10, 20])
    assert first.records == second.records == [(1, 10), (2, 20)]
    assert subject.count == 2


def test_tagged_values_go_to_their_side_output_with_their_timestamps() -> None:
    subject, main, side = collector(None, "late", "counts")
    subject.emit_tagged([1, (LATE, "x"), 2, (COUNTS, 3), (LATE, "y")], [10, 20, 30, 40, 50])
    assert main.records == [(1, 10), (2, 30)]
    assert side["late"].records == [("x", 20), ("y", 50)]
    assert side["counts"].records == [(3.0, 40)]
    assert subject.count == 2


def test_pairs_that_begin_with_no_tag_are_records() -> None:
    subject, main, _ = collector(None, "late")
    subject.emit_tagged([("late", 1)], None)
    assert main.records == [(("late", 1), None)]


def test_side_output_nobody_reads_is_dropped() -> None:
    subject, main, _ = collector()
    subject.emit_tagged([(LATE, "x"), 1], None)
    assert main.records == [(1, None)]


def test_watermarks_reach_all_outputs() -> None:
    subject, main, side = collector(None, "late")
    subject.watermark(7)
    assert (main.watermarks, side["late"].watermarks) == ([7], [7])


def test_results_are_brought_to_their_declared_type() -> None:
    subject, main, _ = collector(Types.DOUBLE())
    subject.emit([1, 2.5], None)
    assert [(value, type(value)) for value, _ in main.records] == [(1.0, float), (2.5, float)]


@pytest.mark.parametrize("emit", ["emit", "emit_tagged"])
def test_a_result_of_another_type_names_it_and_the_operator(emit: str) -> None:
    subject, _, _ = collector(Types.INT())
    with pytest.raises(OperatorError) as failure:
        getattr(subject, emit)([1, "two", 3], None)
    text = str(failure.value)
    assert failure.value.failure.record == "'two'"
    assert "'Map' built at job.py:7" in text and "return a matching value or change the declared type" in text


def test_a_side_output_value_of_another_type_names_it() -> None:
    subject, _, _ = collector(None, "counts")
    with pytest.raises(OperatorError) as failure:
        subject.emit_tagged([(COUNTS, "many")], None)
    assert failure.value.failure.record == "'many'"


def test_a_declared_type_does_not_apply_to_side_outputs() -> None:
    subject, _, side = collector(Types.INT(), "late")
    subject.emit_tagged([1, (LATE, "text")], None)
    assert side["late"].records == [("text", None)]
