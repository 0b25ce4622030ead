"""Programs of streams and tables: state in each part, errors that name the user's line, bounded and unbounded input."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, JobStatus, Row, RowKind, Types, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import JobError, UnsupportedError, ValidationError
from scurry.table import ChangelogMode, DataTypes, EnvironmentSettings, Schema, StreamTableEnvironment
from scurry.table.udf import udf
from support.statements.tables import read, until, write

PAIR = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.LONG()])


def environments(mode: str = "STREAMING", **settings: str) -> tuple[StreamExecutionEnvironment, StreamTableEnvironment]:
    chosen = {"scurry.runner": "local", "execution.runtime-mode": mode, "parallelism.default": "2", **settings}
    env = StreamExecutionEnvironment(Configuration.from_dict(chosen))
    return env, StreamTableEnvironment.create(env)


class Numbered(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Row]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield Row(value["k"], count)


def test_state_of_streams_and_tables_is_in_one_savepoint_and_continues_at_another_parallelism(tmp_path: Path) -> None:
    def start(**settings: str) -> Any:
        env, t_env = environments(**settings)
        t_env.execute_sql(
            f"CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', "
            "'format' = 'json', 'source.monitor-interval' = '20 ms')"
        )
        t_env.execute_sql(
            "CREATE TABLE written (k STRING, n BIGINT, s BIGINT) WITH "
            f"('connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'json')"
        )
        numbered = (
            t_env.to_data_stream(t_env.from_path("t"))
            .key_by(lambda row: row["k"], key_type=Types.STRING())
            .process(Numbered(), output_type=PAIR)
        )
        t_env.create_temporary_view("numbered", numbered)
        sums = t_env.sql_query("SELECT k, COUNT(*) AS n, SUM(v) AS s FROM numbered GROUP BY k")
        changes = t_env.to_changelog_stream(sums).filter(lambda row: row.get_row_kind() is not RowKind.UPDATE_BEFORE)
        kind = Types.ROW_NAMED(["k", "n", "s"], [Types.STRING(), Types.LONG(), Types.LONG()])
        plain = changes.map(lambda row: Row(*row), output_type=kind)
        t_env.create_statement_set().add_insert("written", t_env.from_data_stream(plain)).attach_as_datastream()
        return env.execute_async()

    def found() -> list[tuple[str, int, int]]:
        return sorted((each["k"], each["n"], each["s"]) for each in read(tmp_path / "out"))

    write(tmp_path / "in", "f1", {"k": "a"}, {"k": "b"}, {"k": "a"})
    job = start(**{"parallelism.default": "1"})
    until(lambda: found() == [("a", 1, 1), ("a", 2, 3), ("b", 1, 1)])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "in", "f2", {"k": "b"}, {"k": "c"}, {"k": "a"})
    resumed = start(**{"execution.state-recovery.path": savepoint, "parallelism.default": "3"})
    try:
        until(lambda: found()[2:3] == [("a", 3, 6)] and found()[3:] == [("b", 1, 1), ("b", 2, 3), ("c", 1, 1)])
    finally:
        resumed.cancel().result()


@dataclasses.dataclass
class Order:
    name: str
    amount: int | None


def test_dataclasses_are_rows() -> None:
    env, t_env = environments()
    orders = env.from_collection([("ann", 5), ("bob", None)]).map(lambda pair: Order(*pair), output_type=Order)
    table = t_env.from_data_stream(orders)
    assert "amount: BIGINT" in str(table.get_schema())
    with table.execute().collect() as rows:
        assert sorted(tuple(row) for row in rows) == [("ann", 5), ("bob", None)]


def test_a_record_that_does_not_fit_names_the_line_the_column_and_the_record() -> None:
    env, t_env = environments()
    stream = env.from_collection([Row("a", 1), Row("b", 300)], type_info=PAIR)
    table = t_env.from_data_stream(stream, Schema.new_builder().column("v", "TINYINT").build())
    with pytest.raises(
        JobError, match=r"(?s)column 'v' TINYINT does not accept 300.*test_stream_conversions\.py.*Row\(k='b'"
    ):
        t_env.to_data_stream(table).execute_and_collect().__next__()


def test_rows_that_are_not_inserted_are_refused_by_from_data_stream() -> None:
    env, t_env = environments()
    changed = env.from_collection([Row.of_kind(RowKind.DELETE, "a", 1)], type_info=PAIR)
    table = t_env.from_data_stream(changed, Schema.new_builder().column("v", "BIGINT").build())
    with pytest.raises(JobError, match="insert-only records but DataStream API record contains: DELETE"):
        t_env.to_data_stream(table).execute_and_collect().__next__()


def test_tables_of_another_kind_of_environment_are_not_streams() -> None:
    t_env = StreamTableEnvironment.create(environment_settings=EnvironmentSettings.in_streaming_mode())
    with pytest.raises(UnsupportedError, match="StreamExecutionEnvironment"):
        t_env.to_data_stream(t_env.sql_query("SELECT 1"))
    with pytest.raises(ValueError, match="No argument found"):
        StreamTableEnvironment.create()


def test_settings_of_both_environments_are_one() -> None:
    env, t_env = environments()
    t_env.get_config().set("parallelism.default", "3")
    assert env.get_parallelism() == 3
    env.set_parallelism(1)
    assert t_env.get_config().get("parallelism.default", "") == "1"


def test_an_unbounded_stream_is_no_table_of_batch() -> None:
    env, t_env = environments("BATCH")
    endless = env.from_source(Endless(), WatermarkStrategy.no_watermarks(), "endless", Types.LONG())
    with pytest.raises(ValidationError, match="Querying an unbounded table .* in batch mode is not allowed"):
        t_env.from_data_stream(endless)


class Endless(NumberSequenceSource):
    def __init__(self) -> None:
        super().__init__(0, 1)
        self.bounded = False


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_table_shows_itself_in_notebooks(mode: str) -> None:
    env, t_env = environments(mode, **{"parallelism.default": "1"})
    rows = env.from_collection([Row(f"<{number}>", number) for number in range(25)], type_info=PAIR)
    shown = t_env.from_data_stream(rows)._repr_html_()
    assert "<th>k<br><small>STRING</small></th>" in shown and "<td>&lt;19&gt;</td>" in shown
    assert "&lt;20&gt;" not in shown and "only the first 20 rows" in shown


def test_a_table_of_endless_input_shows_its_columns_only() -> None:
    env, t_env = environments()
    endless = env.from_source(Endless(), WatermarkStrategy.no_watermarks(), "endless", Types.LONG())
    shown = t_env.from_data_stream(endless)._repr_html_()
    assert "<th>f0<br><small>BIGINT NOT NULL</small></th>" in shown and "<td>" not in shown


def test_the_key_of_a_stream_of_changes_is_never_null() -> None:
    env, t_env = environments()
    changes = env.from_collection([Row("a", 1), Row("b", 2)], Types.ROW([Types.STRING(), Types.LONG()]))
    schema = Schema.new_builder().primary_key("f0").build()
    table = t_env.from_changelog_stream(changes, schema, ChangelogMode.upsert())
    assert [str(column) for column in table.get_resolved_schema().get_columns()] == [
        "`f0` STRING NOT NULL",
        "`f1` BIGINT",
    ]
    with table.execute().collect() as rows:
        assert sorted(tuple(row) for row in rows) == [("a", 1), ("b", 2)]


def slow(path: Path) -> Callable[[int], int]:
    """Return a function that takes a while, and notes its calls in a file."""

    def call(value: int) -> int:
        with path.open("a") as file:
            file.write(".")
        time.sleep(0.01)
        return value

    return call


def job_that_reads_a_slow_table(calls: Path) -> Any:
    env, t_env = environments("BATCH")
    t_env.create_temporary_function("slowly", udf(slow(calls), result_type=DataTypes.INT()))
    t_env.execute_sql("CREATE TABLE numbers (x INT) WITH ('connector' = 'datagen', 'number-of-rows' = '100000')")
    t_env.to_data_stream(t_env.sql_query("SELECT slowly(x) FROM numbers")).print()
    return env.execute_async()


def job_that_reads_a_slow_stream(calls: Path) -> Any:
    env, t_env = environments("BATCH")
    numbers = env.from_source(NumberSequenceSource(1, 100_000), WatermarkStrategy.no_watermarks(), "numbers")
    t_env.create_temporary_view("slow", numbers.map(slow(calls), output_type=Types.LONG()))
    t_env.execute_sql("CREATE TABLE s (x BIGINT) WITH ('connector' = 'blackhole')")
    return t_env.execute_sql("INSERT INTO s SELECT f0 FROM slow").get_job_client()


@pytest.mark.parametrize("start", [job_that_reads_a_slow_table, job_that_reads_a_slow_stream])
def test_a_job_that_another_one_waits_for_is_cancelled_with_it(start: Callable[[Path], Any], tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    job = start(calls)
    until(calls.exists)
    job.cancel().result()
    assert job.get_job_status().result() == JobStatus.CANCELED
    ended = calls.stat().st_size
    assert ended < 50_000  # of 100,000
    assert not [thread for thread in threading.enumerate() if thread.name == "scurry-job" and thread.is_alive()]
