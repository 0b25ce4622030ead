"""Sinks, source and lookup in pipelines, on SQLite: what does not depend on the database."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from scurry.common import Configuration, Row, Time, Types, WatermarkStrategy
from scurry.connectors.sink import WriterContext
from scurry.datastream import AsyncDataStream, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors.jdbc import (
    JdbcExecutionOptions,
    JdbcLookup,
    JdbcLookupFunction,
    JdbcSink,
    JdbcSource,
)
from scurry.errors import (
    ArgumentError,
    DatabaseAccessError,
    JobError,
    RecordRejectedError,
    StatementError,
    TypeMismatchError,
)
from support.connectors.jdbc_tables import Tables, connection_options

ROW = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
INSERT = "INSERT INTO target VALUES (?, ?)"
SINKS = [JdbcSink.sink, JdbcSink.exactly_once_sink]


def environment(mode: RuntimeExecutionMode = RuntimeExecutionMode.STREAMING) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(mode)
    env.set_parallelism(2)
    return env


class TestSinks:
    @pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
    @pytest.mark.parametrize("make", SINKS)
    def test_write_every_record_of_a_job(self, make: Any, mode: RuntimeExecutionMode, sqlite: Tables) -> None:
        sqlite.run("CREATE TABLE target (id integer, name text)")
        env = environment(mode)
        records = [Row(number, f"name {number}") for number in range(100)]
        env.from_collection(records, ROW).add_sink(make(INSERT, ROW, sqlite.options)).name("people")
        env.execute()
        assert sqlite.rows("SELECT * FROM target ORDER BY id") == [tuple(record) for record in records]

    @pytest.mark.parametrize("make", SINKS)
    def test_take_values_of_all_types_and_none(self, make: Any, sqlite: Tables) -> None:
        values = {
            "i": (Types.LONG(), 2**62),
            "f": (Types.DOUBLE(), 0.1),
            "s": (Types.STRING(), "it's \u00e4"),
            "b": (Types.BOOLEAN(), True),
            "d": (Types.BIG_DEC(), Decimal("1.10")),
            "y": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\xff"),
            "on_day": (Types.SQL_DATE(), datetime.date(2024, 2, 29)),
            "at_time": (Types.SQL_TIME(), datetime.time(1, 2, 3, 4000)),
            "at": (Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 29, 1, 2, 3)),
        }
        sqlite.run(f"CREATE TABLE target ({', '.join(values)})")
        row = Types.ROW_NAMED(list(values), [kind for kind, _ in values.values()])
        sink = make(f"INSERT INTO target VALUES ({','.join('?' * len(values))})", row, sqlite.options)
        env = environment()
        records = [Row(*(value for _, value in values.values())), Row(*([None] * len(values)))]
        env.from_collection(records, row).add_sink(sink)
        env.execute()
        written, empty = sqlite.rows("SELECT * FROM target ORDER BY i IS NULL")
        assert written == (
            2**62, 0.1, "it's \u00e4", 1, "1.10", b"\x00\xff", "2024-02-29", "01:02:03.004000", "2024-02-29 01:02:03",
        )  # fmt: skip
        assert set(empty) == {None}

    @pytest.mark.parametrize("make", SINKS)
    def test_name_operator_and_record_when_one_is_refused(self, make: Any, sqlite: Tables) -> None:
        sqlite.run("CREATE TABLE target (id integer, name text NOT NULL)")
        env = environment()
        records = [Row(1, "a"), Row(2, None), Row(3, "c")]
        env.from_collection(records, ROW).add_sink(make(INSERT, ROW, sqlite.options)).name("people")
        with pytest.raises(JobError, match="NOT NULL constraint failed: target.name") as caught:
            env.execute()
        assert "in operator 'people'" in str(caught.value)
        assert "record: Row(id=2, name=None)" in str(caught.value)
        assert sqlite.rows("SELECT * FROM target") == []

    def test_name_a_record_of_another_type(self, sqlite: Tables) -> None:
        writer = JdbcSink.sink(INSERT, ROW, sqlite.options).create_writer(WriterContext(0, 1, 0, "sink"))
        with pytest.raises(RecordRejectedError, match="declared type") as caught:
            writer.write([(1, "a"), ("one", "a")])
        assert caught.value.record == ("one", "a")

    def test_say_what_is_wrong_with_the_statement(self, sqlite: Tables) -> None:
        writer = JdbcSink.sink(INSERT, ROW, sqlite.options).create_writer(WriterContext(0, 1, 0, "sink"))
        writer.write([Row(1, "a")])
        with pytest.raises(StatementError, match="cannot write to jdbc:sqlite:.*: no such table: target"):
            writer.prepare_commit()

    def test_flush_full_batches_and_those_that_waited(self, sqlite: Tables) -> None:
        sqlite.run("CREATE TABLE target (id integer, name text)")
        options = JdbcExecutionOptions.builder().with_batch_size(2).with_batch_interval_ms(50).build()
        writer = JdbcSink.sink(INSERT, ROW, sqlite.options, options).create_writer(WriterContext(0, 1, 0, "sink"))
        writer.write([Row(1, "a"), Row(2, "b"), Row(3, "c")])
        assert len(sqlite.rows("SELECT * FROM target")) == 2
        writer._since -= 1  # type: ignore[attr-defined]
        writer.write([])
        assert len(sqlite.rows("SELECT * FROM target")) == 3


class TestSource:
    @pytest.fixture
    def people(self, sqlite: Tables) -> Tables:
        sqlite.run("CREATE TABLE people (id integer, name text)")
        sqlite.run("INSERT INTO people VALUES (NULL,'none'),(-5,'b'),(0,'c'),(10,'d'),(11,'e'),(99,'f'),(100,'g')")
        return sqlite

    def source(self, people: Tables, **partitions: Any) -> JdbcSource:
        builder = JdbcSource.builder().set_connection_options(people.options).set_sql("SELECT id, name FROM people;")
        if partitions:
            builder.set_partitions(**partitions)
        return builder.set_result_set_fetch_size(2).build()

    def test_a_plain_query_is_one_split(self, people: Tables, drive: Callable[..., Any]) -> None:
        driver = drive(self.source(people), parallelism=3)
        assert [(row.id, row.name) for row in driver.all()] == people.rows("SELECT * FROM people")
        assert driver.source.channels(3) == 1

    @pytest.mark.parametrize("number", [1, 2, 3, 7])
    @pytest.mark.parametrize("parallelism", [1, 2, 4])
    def test_partitions_leave_no_row_out(
        self, number: int, parallelism: int, people: Tables, drive: Callable[..., Any]
    ) -> None:
        driver = drive(self.source(people, column="id", lower=0, upper=50, number=number), parallelism)
        assert sorted(row.name for row in driver.all()) == ["b", "c", "d", "e", "f", "g", "none"]

    @pytest.mark.parametrize("parallelism", [1, 2, 3])
    def test_goes_on_after_the_splits_that_were_read(
        self, parallelism: int, people: Tables, drive: Callable[..., Any]
    ) -> None:
        driver = drive(self.source(people, column="id", lower=0, upper=100, number=5), parallelism=2)
        names = [row.name for records in driver.batch().values() for row in records]
        driver.restart(parallelism)
        names += [row.name for batch in driver.batches() for records in batch.values() for row in records]
        assert sorted(names) == ["b", "c", "d", "e", "f", "g", "none"]

    def test_reads_in_a_job(self, people: Tables) -> None:
        env = environment(RuntimeExecutionMode.BATCH)
        source = self.source(people, column="id", lower=0, upper=100, number=3)
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "people")
        with stream.map(lambda row: row["name"]).execute_and_collect() as names:
            assert sorted(names) == ["b", "c", "d", "e", "f", "g", "none"]

    def test_converts_to_a_declared_type(self, people: Tables, drive: Callable[..., Any]) -> None:
        declared = Types.ROW_NAMED(["number", "text"], [Types.LONG(), Types.STRING()])
        builder = JdbcSource.builder().set_connection_options(people.options).set_type_information(declared)
        source = builder.set_sql("SELECT id, name FROM people WHERE id = 10").build()
        assert drive(source).all() == [Row(number=10, text="d")]

    def test_says_that_the_columns_are_not_the_declared_ones(self, people: Tables, drive: Callable[..., Any]) -> None:
        declared = Types.ROW_NAMED(["number", "text"], [Types.LONG(), Types.LONG()])
        builder = JdbcSource.builder().set_connection_options(people.options).set_type_information(declared)
        with pytest.raises(TypeMismatchError, match="does not accept 'none'.*SELECT id, name FROM people"):
            drive(builder.set_sql("SELECT id, name FROM people").build()).all()

    def test_says_what_is_wrong_with_the_query_when_it_is_built(self, sqlite: Tables) -> None:
        builder = JdbcSource.builder().set_connection_options(sqlite.options).set_sql("SELECT * FROM nowhere")
        with pytest.raises(StatementError, match="cannot read from jdbc:sqlite:.*no such table: nowhere"):
            builder.build()

    def test_says_that_there_is_no_such_file(self) -> None:
        options = connection_options("jdbc:sqlite:/nowhere/at/all.db")
        with pytest.raises(DatabaseAccessError, match="unable to open database file"):
            JdbcSource.builder().set_connection_options(options).set_sql("SELECT 1").build()

    @pytest.mark.parametrize(("lower", "upper", "number"), [(5, 5, 2), (5, 1, 2), (1, 5, 0), (1, "5", 2)])
    def test_refuses_partitions_that_are_none(self, lower: Any, upper: Any, number: int) -> None:
        with pytest.raises(ArgumentError, match="partition"):
            JdbcSource.builder().set_partitions("id", lower, upper, number)


class TestLookup:
    @pytest.fixture
    def people(self, sqlite: Tables) -> Tables:
        sqlite.run("CREATE TABLE people (id integer, name text)")
        sqlite.run("INSERT INTO people VALUES (1, 'ann'), (2, 'bob'), (2, 'ben')")
        return sqlite

    QUERY = "SELECT id, name FROM people WHERE id = ? ORDER BY name"

    def test_finds_all_rows_of_a_key(self, people: Tables) -> None:
        lookup = JdbcLookup(self.QUERY, people.options)
        assert lookup.rows(2) == (Row(id=2, name="ben"), Row(id=2, name="bob"))
        assert lookup.one(1) == Row(id=1, name="ann")
        assert (lookup.rows(3), lookup.one(3)) == ((), None)

    def test_asks_once_for_a_key(self, people: Tables) -> None:
        lookup = JdbcLookup(self.QUERY, people.options)
        lookup.rows(1), lookup.rows(3)
        people.run("DELETE FROM people")
        people.run("INSERT INTO people VALUES (3, 'cid')")
        assert (len(lookup.rows(1)), len(lookup.rows(3))) == (1, 0)

    def test_asks_again_for_missing_keys_if_told_to(self, people: Tables) -> None:
        lookup = JdbcLookup(self.QUERY, people.options, cache_missing_key=False)
        lookup.rows(3)
        people.run("INSERT INTO people VALUES (3, 'cid')")
        assert len(lookup.rows(3)) == 1

    def test_asks_again_when_an_answer_is_too_old(self, people: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
        now = 100.0
        monkeypatch.setattr(JdbcLookup, "_now", staticmethod(lambda: now))
        lookup = JdbcLookup(self.QUERY, people.options, expire_after_write_ms=1000)
        lookup.rows(1)
        people.run("UPDATE people SET name = 'eve' WHERE id = 1")
        now = 100.9
        assert lookup.rows(1)[0].name == "ann"
        now = 101.0
        assert lookup.rows(1)[0].name == "eve"

    def test_forgets_what_was_not_asked_for_longest(self, people: Tables) -> None:
        lookup = JdbcLookup(self.QUERY, people.options, max_rows=3)
        lookup.rows(1), lookup.rows(2), lookup.rows(1), lookup.rows(3)  # 2's two rows go
        people.run("DELETE FROM people")
        assert (len(lookup.rows(1)), len(lookup.rows(2))) == (1, 0)

    def test_has_no_cache_if_told_to(self, people: Tables) -> None:
        lookup = JdbcLookup(self.QUERY, people.options, max_rows=0)
        lookup.rows(1)
        people.run("DELETE FROM people")
        assert lookup.rows(1) == ()

    def test_travels_without_cache_and_connections(self, people: Tables) -> None:
        lookup = JdbcLookup(self.QUERY, people.options)
        lookup.rows(1)
        people.run("DELETE FROM people")
        assert pickle.loads(pickle.dumps(lookup)).rows(1) == ()

    def test_wants_a_whole_key(self, people: Tables) -> None:
        with pytest.raises(ArgumentError, match="has 1 parameters"):
            JdbcLookup(self.QUERY, people.options).rows(1, 2)

    def test_wants_a_query_with_a_key(self, people: Tables) -> None:
        with pytest.raises(ArgumentError, match=r"needs a \? for its key"):
            JdbcLookup("SELECT 1", people.options)

    def test_enriches_in_a_map(self, people: Tables) -> None:
        lookup = JdbcLookup(self.QUERY, people.options)
        env = environment()
        names = env.from_collection([1, 2, 3]).map(lambda key: [row.name for row in lookup.rows(key)])
        with names.execute_and_collect() as found:
            assert sorted(found) == [[], ["ann"], ["ben", "bob"]]

    def test_enriches_an_async_stream(self, people: Tables) -> None:
        def join(record: int, rows: tuple[Row, ...]) -> list[tuple[int, str]]:
            return [(record, row.name) for row in rows]

        lookup = JdbcLookupFunction(JdbcLookup(self.QUERY, people.options), lambda record: record, join)
        env = environment()
        stream = AsyncDataStream.unordered_wait(env.from_collection([1, 2, 3]), lookup, Time.seconds(10))
        with stream.execute_and_collect() as found:
            assert sorted(found) == [(1, "ann"), (2, "ben"), (2, "bob")]
