"""Shortcuts that read and write dataclasses, and functions with states as parameters: plans of the long forms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scurry.common import Configuration, Row, Types
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.datastream import AsyncDataStream, StreamExecutionEnvironment
from scurry.datastream._records import json_schema
from scurry.datastream.connectors.file_system import FileSink, FileSource
from scurry.datastream.decorators import asynchronous, process
from scurry.datastream.formats.json import JsonBulkWriters, JsonReaderFormat
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ListState, MapState, ValueState
from scurry.errors import ArgumentTypeError, JobError, MalformedRecordError
from scurry.graph.shipping import load_plan, ship
from scurry.testing import TestHarness, job_plan_of


@dataclass
class Click:
    user: str
    amount: int
    price: float | None = None


CLICKS = [Click("ann", 1, 2.5), Click("bob", 2, None), Click("ann", 3, 0.5)]
Context = KeyedProcessFunction.Context[str]


def environment() -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


def nodes(build: Callable[[StreamExecutionEnvironment], Any]) -> Any:
    """The plan of a program, without the lines that built it."""
    env = environment()
    build(env)
    plan = json.loads(env.get_execution_plan())
    return [{key: node[key] for key in ("id", "type", "pact", "parallelism") if key in node} for node in plan["nodes"]]


# ------------------------------------------------------------------ files


class TestFiles:
    @pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
    def test_what_is_written_is_read_back(self, kind: str, tmp_path: Path) -> None:
        env = environment()
        getattr(env.from_collection(CLICKS), f"write_{kind}")(str(tmp_path), Click)
        env.execute()
        read = getattr(environment(), f"read_{kind}")(str(tmp_path), Click)
        assert sorted(read.execute_and_collect(), key=lambda click: click.amount) == CLICKS

    def test_csv_may_have_a_header(self, tmp_path: Path) -> None:
        env = environment()
        env.from_collection(CLICKS).write_csv(str(tmp_path), Click, header=True)
        env.execute()
        (file,) = tmp_path.glob("**/part-*")
        assert file.read_text().splitlines()[0] == "user,amount,price"
        assert list(environment().read_csv(str(tmp_path), Click, header=True).execute_and_collect()) == CLICKS

    @pytest.mark.parametrize(
        "lines",
        [
            "price,amount,user\n2.5,1,ann\n,2,bob\n0.5,3,ann\n",
            "\ufeffamount,ignored,user,price\n1,x,ann,2.5\n2,,bob,\n3,y,ann,0.5\n",
            'ignored,ignored,"user",price,amount\na,b,"ann",2.5,1\n1,"2\n3",bob,,2\n1,2,ann,0.5,3\n',
        ],
    )
    def test_columns_of_csv_are_found_by_the_names_of_the_header(self, lines: str, tmp_path: Path) -> None:
        (tmp_path / "f.csv").write_text(lines)
        assert list(environment().read_csv(str(tmp_path), Click, header=True).execute_and_collect()) == CLICKS

    def test_each_csv_file_has_a_header_of_its_own_and_optional_columns_may_be_missing(self, tmp_path: Path) -> None:
        (tmp_path / "1.csv").write_text("amount,user\n1,ann\n")
        (tmp_path / "2.csv").write_text("user,price,amount\nbob,2.5,2\n")
        found = environment().read_csv(str(tmp_path), Click, header=True).execute_and_collect()
        assert sorted(found, key=lambda click: click.amount) == [Click("ann", 1), Click("bob", 2, 2.5)]

    @pytest.mark.parametrize(
        ("header", "reason"),
        [
            ("user,amont", "the header has no column 'amount'; did you mean 'amont'? There are user, amont"),
            ("user,amount,user", "the header has 2 columns 'user'; rename all but one"),
            ("ann,1", "the header has no column 'user'; there are ann, 1"),
        ],
    )
    def test_a_header_that_lacks_a_column_is_refused(self, header: str, reason: str, tmp_path: Path) -> None:
        (tmp_path / "f.csv").write_text(f"{header}\nann,1\n")
        with pytest.raises(JobError) as failed:
            list(environment().read_csv(str(tmp_path), Click, header=True).execute_and_collect())
        assert f"{tmp_path}/f.csv:1: malformed record '{header}': {reason}" in str(failed.value)

    def test_reading_has_the_plan_of_the_long_form(self, tmp_path: Path) -> None:
        def long(env: StreamExecutionEnvironment) -> None:
            row = Types.ROW_NAMED(["user", "amount", "price"], [Types.STRING(), Types.LONG(), Types.DOUBLE()])
            lines = JsonReaderFormat.for_type_info(row)
            source = FileSource.for_record_stream_format(lines, str(tmp_path)).build()
            rows = env.from_source(source, None, str(tmp_path))
            rows.map(lambda row: Click(*row), output_type=Click).print()

        assert nodes(lambda env: env.read_json(str(tmp_path), Click).print()) == nodes(long)

    def test_writing_has_the_plan_of_the_long_form(self, tmp_path: Path) -> None:
        def long(env: StreamExecutionEnvironment) -> None:
            row = Types.ROW_NAMED(["user", "amount", "price"], [Types.STRING(), Types.LONG(), Types.DOUBLE()])
            rows = env.from_collection(CLICKS).map(lambda c: Row(c.user, c.amount, c.price), output_type=row)
            rows.sink_to(FileSink.for_bulk_format(str(tmp_path), JsonBulkWriters.for_type_info(row)).build())

        assert nodes(lambda env: env.from_collection(CLICKS).write_json(str(tmp_path), Click)) == nodes(long)

    def test_a_timestamp_assigner_finds_the_fields(self, tmp_path: Path) -> None:
        class Amount(TimestampAssigner):
            def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
                return int(value.amount)

        (tmp_path / "clicks").write_text('{"user": "ann", "amount": 7}\n')
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Amount())
        clicks = environment().read_json(str(tmp_path / "clicks"), Click, strategy)
        assert list(clicks.execute_and_collect()) == [Click("ann", 7)]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (dict, "expected a dataclass that describes the records, got <class 'dict'>"),
        ("Click", "expected a dataclass"),
    ],
)
def test_what_is_no_dataclass_is_refused(record: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        environment().read_json("in", record)


@dataclass
class Odd:
    parts: set[int]


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_a_field_that_files_do_not_have_is_named(kind: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"field 'parts' of Odd is set\[int\]"):
        getattr(environment(), f"read_{kind}")("in", Odd)


# ------------------------------------------------------------------ Kafka


@dataclass
class Order:
    customer: str
    amount: int
    note: str | None
    tags: list[str] = field(default_factory=list)
    kind: str = "card"


class TestMissingFields:
    """A field that records lack is its default or None, if its type says so, and else an error that names it."""

    def failure(self, stream: Any) -> str:
        with pytest.raises(JobError) as failed, stream.execute_and_collect() as records:
            list(records)
        return str(failed.value)

    def test_a_json_object_without_a_field_that_needs_a_value_is_malformed(self, tmp_path: Path) -> None:
        (tmp_path / "orders").write_text('{"card": "x", "amount": 1, "custmer": "Ann"}\n')
        text = self.failure(environment().read_json(str(tmp_path / "orders"), Order))
        assert f"{tmp_path}/orders:1: malformed record" in text
        assert "there is no field 'customer'; did you mean 'custmer'? There are card, amount, custmer" in text

    def test_a_message_without_it_is_malformed(self) -> None:
        with pytest.raises(MalformedRecordError, match="there is no field 'amount'; there are customer"):
            json_schema(Order).deserialize(b'{"customer": "Ann"}')

    def test_null_is_no_value(self, tmp_path: Path) -> None:
        (tmp_path / "orders").write_text('{"customer": null, "amount": 1}\n')
        text = self.failure(environment().read_json(str(tmp_path / "orders"), Order))
        assert "MissingFieldError: the record has no value for 'customer' of Order" in text
        assert "declare it `| None` or with a default" in text

    def test_fields_with_a_default_or_none_may_be_missing(self, tmp_path: Path) -> None:
        (tmp_path / "orders").write_text('{"customer": "Ann", "amount": 1}\n')
        with environment().read_json(str(tmp_path / "orders"), Order).execute_and_collect() as orders:
            assert list(orders) == [Order("Ann", 1, None, [], "card")]

    def test_a_parquet_file_without_the_column_fails(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"card": ["x"], "amount": [1]}), tmp_path / "clicks.parquet")
        text = self.failure(environment().read_parquet(str(tmp_path / "clicks.parquet"), Click))
        assert f"{tmp_path}/clicks.parquet: the file has no column 'user'; there are card, amount" in text

    def test_a_null_of_parquet_is_no_value(self, tmp_path: Path) -> None:
        columns = {"user": pa.array([None], pa.string()), "amount": [1]}
        pq.write_table(pa.table(columns), tmp_path / "clicks.parquet")
        text = self.failure(environment().read_parquet(str(tmp_path / "clicks.parquet"), Click))
        assert "the record has no value for 'user' of Click" in text

    def test_an_empty_column_of_csv_is_no_value(self, tmp_path: Path) -> None:
        (tmp_path / "clicks.csv").write_text(",1,2.0\n")
        text = self.failure(environment().read_csv(str(tmp_path / "clicks.csv"), Click))
        assert "the record has no value for 'user' of Click" in text


def test_messages_are_objects_of_json() -> None:
    pytest.importorskip("confluent_kafka")
    env = environment()
    env.read_kafka("localhost:9092", "clicks", Click).write_kafka("localhost:9092", "copies", Click)
    (to_row,) = env._operators[-1].inputs
    (to_record,) = to_row.inputs
    (source,) = to_record.inputs
    row = Types.ROW_NAMED(["user", "amount", "price"], [Types.STRING(), Types.LONG(), Types.DOUBLE()])
    assert (source.name, source.output_type, to_row.output_type) == ("clicks", row, row)


# ------------------------------------------------------------------ functions with states as parameters


@process
def running(
    value: Click, ctx: Context, count: ValueState[int], seen: ListState[int], by: MapState[str, int]
) -> Iterator[tuple[str, int]]:
    """Count clicks."""
    number = (count.value() or 0) + value.amount
    count.update(number)
    seen.add(value.amount)
    by.put(value.user, number)
    ctx.timer_service().register_event_time_timer(10)
    yield ctx.get_current_key(), number


@running.when_timer_fires
def say(timestamp: int, ctx: Context, seen: ListState[int]) -> Iterator[tuple[str, int]]:
    yield ctx.get_current_key(), -sum(seen.get())


class TestProcess:
    def test_states_are_those_of_the_key(self) -> None:
        counts = environment().from_collection(CLICKS).key_by(lambda click: click.user).process(running)
        assert sorted(counts.execute_and_collect()) == [("ann", -4), ("ann", 1), ("ann", 4), ("bob", -2), ("bob", 2)]

    def test_its_plan_is_that_of_a_class(self) -> None:
        class Running(KeyedProcessFunction[str, Click, tuple[str, int]]):
            def process_element(self, value: Click, ctx: Context) -> Iterator[tuple[str, int]]:
                yield "", 0

        def build(function: Any) -> Any:
            return nodes(lambda env: env.from_collection(CLICKS).key_by(lambda c: c.user).process(function).print())

        assert build(running) == build(Running())

    def test_it_travels_to_workers(self) -> None:
        env = environment()
        env.from_collection(CLICKS).key_by(lambda click: click.user).process(running).print()
        plan = load_plan(ship(job_plan_of(env)))
        assert any(getattr(op.operator, "function", None) is not None for op in plan.operators.values())

    def test_states_have_the_names_and_types_of_the_parameters(self) -> None:
        descriptors = running._descriptors
        assert {name: (each.name, type(each).__name__) for name, each in descriptors.items()} == {
            "count": ("count", "ValueStateDescriptor"),
            "seen": ("seen", "ListStateDescriptor"),
            "by": ("by", "MapStateDescriptor"),
        }
        assert descriptors["count"].type_info == Types.LONG()

    def test_the_harness_takes_it(self) -> None:
        with TestHarness.of(lambda s: s.key_by(lambda click: click.user).process(running)) as harness:
            harness.process(Click("ann", 5), 1)
            assert harness.outputs() == [("ann", 5)]

    def test_a_parameter_that_is_no_state_is_named(self) -> None:
        def counts(value: Click, ctx: Context, count: int) -> None: ...

        with pytest.raises(ArgumentTypeError, match="parameter 'count' of .*counts is no state: annotate it as Value"):
            process(counts)

    def test_a_timer_cannot_ask_for_other_states(self) -> None:
        def counts(value: Click, ctx: Context, count: ValueState[int]) -> None: ...

        def fires(timestamp: int, ctx: Context, total: ValueState[int]) -> None: ...

        with pytest.raises(ArgumentTypeError, match=r"fires asks for the state 'total'; counts has \['count'\]"):
            process(counts).when_timer_fires(fires)


# ------------------------------------------------------------------ asynchronous functions


def test_a_function_declared_async_has_one_result_for_each_record() -> None:
    @asynchronous
    async def double(value: int) -> int:
        return 2 * value

    doubled = AsyncDataStream.ordered_wait(environment().from_collection([1, 2, 3]), double, 1_000)
    assert list(doubled.execute_and_collect()) == [2, 4, 6]


def test_a_function_that_is_not_declared_async_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="@asynchronous takes a function declared 'async def'"):
        asynchronous(len)  # type: ignore[arg-type]
