"""Sinks on a real PostgreSQL: what arrives, what is refused, and what happens when the server dies."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from scurry.common import Configuration, Row, Types, WatermarkStrategy
from scurry.connectors.jdbc import exactly_once
from scurry.connectors.jdbc.postgres import Postgres
from scurry.connectors.sink import Sink, WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.connectors.jdbc import JdbcExactlyOnceOptions, JdbcExecutionOptions, JdbcSink
from scurry.errors import (
    DatabaseAccessError,
    DatabaseConnectionError,
    DatabaseError,
    JobError,
    RecordRejectedError,
    SinkCommitError,
    StatementError,
)
from support.connectors.jdbc_tables import Tables, connection_options

pytestmark = pytest.mark.postgres

ROW = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
INSERT = "INSERT INTO target VALUES (?, ?)"
UPSERT = INSERT + " ON CONFLICT (id) DO UPDATE SET name = excluded.name"
SINKS = [JdbcSink.sink, JdbcSink.exactly_once_sink]
ONE_TRY = JdbcExecutionOptions.builder().with_max_retries(0).build()
PATIENT = JdbcExecutionOptions.builder().with_batch_size(10).with_max_retries(6).build()


@pytest.fixture
def target(postgres: Tables) -> Tables:
    postgres.run("CREATE TABLE target (id integer PRIMARY KEY, name text NOT NULL)")
    return postgres


def people(*ids: int) -> list[Row]:
    return [Row(number, f"name {number}") for number in ids]


def write(sink: Sink, batch_id: int, *tasks: list[Row]) -> list[Any]:
    committables: list[Any] = []
    for subtask, records in enumerate(tasks):
        writer = sink.create_writer(WriterContext(subtask, len(tasks), batch_id, "sink"))
        writer.write(records)
        committables += writer.prepare_commit()
    return committables


def run(sink: Sink, *records: Row) -> None:
    sink.create_committer("sink").commit(0, write(sink, 0, list(records)))


def ids(target: Tables) -> list[int]:
    return [row[0] for row in target.rows("SELECT id FROM target ORDER BY id")]


class TestWriting:
    @pytest.mark.parametrize("make", SINKS)
    def test_values_of_all_types_and_none(self, make: Any, postgres: Tables) -> None:
        columns = {
            "b": ("boolean", Types.BOOLEAN(), True),
            "i1": ("smallint", Types.BYTE(), -7),
            "i2": ("smallint", Types.SHORT(), 300),
            "i4": ("integer", Types.INT(), -(2**31)),
            "i8": ("bigint", Types.LONG(), 2**62),
            "big": ("numeric", Types.BIG_INT(), 10**30),
            "f4": ("real", Types.FLOAT(), 0.5),
            "f8": ("double precision", Types.DOUBLE(), 0.1),
            "n": ("numeric(10,2)", Types.BIG_DEC(), Decimal("1.10")),
            "s": ("text", Types.STRING(), "it's 100 % \u00e4 ? $1"),
            "y": ("bytea", Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\xff"),
            "on_day": ("date", Types.SQL_DATE(), datetime.date(2024, 2, 29)),
            "at_time": ("time", Types.SQL_TIME(), datetime.time(1, 2, 3, 4000)),
            "at": ("timestamp", Types.SQL_TIMESTAMP(), datetime.datetime(2024, 2, 29, 1, 2, 3, 4000)),
            "numbers": ("integer[]", Types.BASIC_ARRAY(Types.INT()), [1, None, 3]),
            "days": ("date[]", Types.OBJECT_ARRAY(Types.SQL_DATE()), [datetime.date(2024, 1, 1), None]),
        }
        postgres.run(f"CREATE TABLE target ({', '.join(f'{name} {kind}' for name, (kind, _, _) in columns.items())})")
        row = Types.ROW_NAMED(list(columns), [declared for _, declared, _ in columns.values()])
        sink = make(f"INSERT INTO target VALUES ({','.join('?' * len(columns))})", row, postgres.options)
        expected = tuple(value for _, _, value in columns.values())
        run(sink, Row(*expected), Row(*[None] * len(columns)))
        written, empty = postgres.rows("SELECT * FROM target ORDER BY b")
        assert written == expected
        assert set(empty) == {None}

    @pytest.mark.parametrize("make", SINKS)
    def test_text_into_columns_that_read_it(self, make: Any, postgres: Tables) -> None:
        postgres.run("CREATE TABLE target (data jsonb, key uuid, at timestamptz)")
        row = Types.ROW([Types.STRING(), Types.STRING(), Types.STRING()])
        sink = make("INSERT INTO target VALUES (?, ?, ?)", row, postgres.options)
        run(sink, Row('{"a": 1}', "00000000-0000-0000-0000-000000000001", "2024-01-01 00:00:00+01"))
        assert postgres.rows("SELECT data->>'a', key::text, at AT TIME ZONE 'UTC' FROM target") == [
            ("1", "00000000-0000-0000-0000-000000000001", datetime.datetime(2023, 12, 31, 23))
        ]

    @pytest.mark.parametrize("make", SINKS)
    def test_upsert(self, make: Any, target: Tables) -> None:
        target.run("INSERT INTO target VALUES (2, 'old')")
        run(make(UPSERT, ROW, target.options), *people(1, 2, 3), Row(1, "newest"))
        expected = [(1, "newest"), (2, "name 2"), (3, "name 3")]
        assert target.rows("SELECT * FROM target ORDER BY id") == expected

    def test_a_question_mark_operator(self, target: Tables) -> None:
        sql = """INSERT INTO target SELECT ?, ? WHERE '{"a": 1}'::jsonb ?? 'a' -- really?"""
        run(JdbcSink.sink(sql, ROW, target.options), *people(1))
        assert ids(target) == [1]

    def test_the_sessions_schema_from_the_url(self, target: Tables) -> None:
        target.run("CREATE SCHEMA sales")
        target.run("CREATE TABLE sales.target (id integer, name text)")
        options = connection_options(f"{target.options.get_db_url()}?currentSchema=sales", "scurry", "correct-horse")
        run(JdbcSink.exactly_once_sink(INSERT, ROW, options), *people(1))
        assert target.rows("SELECT id FROM sales.target") == [(1,)]
        assert target.rows("SELECT batch_id FROM sales.scurry_commits") == [(0,)]


class TestErrors:
    def failure(self, target: Tables, sql: str = INSERT, row: Any = ROW, **others: Any) -> Callable[[Row], None]:
        options = others.get("options", target.options)
        return lambda record: run(JdbcSink.sink(sql, row, options, ONE_TRY), record)

    def test_missing_table(self, target: Tables) -> None:
        with pytest.raises(
            StatementError, match=r'cannot write to jdbc:postg.*relation "nowhere" does not exist.*42P01'
        ):
            self.failure(target, "INSERT INTO nowhere VALUES (?, ?)")(Row(1, "a"))

    def test_wrong_sql(self, target: Tables) -> None:
        with pytest.raises(StatementError, match='syntax error at or near "INTRO"'):
            self.failure(target, "INSERT INTRO target VALUES (?, ?)")(Row(1, "a"))

    def test_types_that_are_not_the_columns(self, target: Tables) -> None:
        row = Types.ROW([Types.BOOLEAN(), Types.STRING()])
        with pytest.raises(StatementError, match='column "id" is of type integer but expression is of type boolean'):
            self.failure(target, row=row)(Row(True, "a"))

    @pytest.mark.parametrize(
        ("record", "reason"),
        [
            (Row(2, None), "violates not-null constraint"),
            (Row(1, "again"), "duplicate key value"),
            (Row(2, "a\x00b"), "NUL"),
        ],
    )
    @pytest.mark.parametrize("make", SINKS)
    def test_a_bad_record_among_good_ones(self, make: Any, record: Row, reason: str, target: Tables) -> None:
        with pytest.raises(RecordRejectedError, match=reason) as caught:
            run(make(INSERT, ROW, target.options), *people(1), record, *people(3))
        assert list(caught.value.record) == list(record)
        assert ids(target) == []

    def test_a_job_names_operator_and_record(self, target: Tables) -> None:
        env = environment()
        records = [*people(1, 2), Row(1, "again"), *people(3)]
        env.from_collection(records, ROW).add_sink(JdbcSink.exactly_once_sink(INSERT, ROW, target.options)).name("shop")
        with pytest.raises(JobError, match=r"duplicate key value .*\n.*in operator 'shop' built at ") as caught:
            env.execute()
        assert "record: Row(id=1, name='again')" in str(caught.value)

    def test_a_constraint_checked_at_the_end_is_no_single_records_fault(self, target: Tables) -> None:
        target.run("CREATE TABLE late (id integer UNIQUE DEFERRABLE INITIALLY DEFERRED, name text)")
        with pytest.raises(DatabaseError, match="duplicate key value") as caught:
            run(JdbcSink.sink("INSERT INTO late VALUES (?, ?)", ROW, target.options), *people(1, 1))
        assert not isinstance(caught.value, RecordRejectedError)

    @pytest.mark.parametrize(
        ("user", "password", "database", "reason"),
        [
            ("scurry", "hunter2-secret", "scurry", "password authentication failed for user"),
            ("nobody-there", "hunter2-secret", "scurry", "password authentication failed for user"),
            ("scurry", "correct-horse", "nowhere", 'database "nowhere" does not exist'),
        ],
    )
    def test_no_access(self, target: Tables, user: str, password: str, database: str, reason: str) -> None:
        url = target.options.get_db_url().removesuffix("scurry") + database
        options = connection_options(url, user, password)
        sink = JdbcSink.sink(INSERT, ROW, options, PATIENT)  # no retry would help
        with pytest.raises(DatabaseAccessError, match=reason) as caught:
            run(sink, *people(1))
        assert password not in str(caught.value)

    def test_no_right_to_write(self, target: Tables) -> None:
        target.run("DROP ROLE IF EXISTS reader")
        target.run("CREATE ROLE reader LOGIN PASSWORD 'r'")
        options = connection_options(target.options.get_db_url(), "reader", "r")
        with pytest.raises(DatabaseAccessError, match="permission denied for table target"):
            run(JdbcSink.sink(INSERT, ROW, options), *people(1))

    def test_nobody_there(self, target: Tables) -> None:
        options = connection_options("jdbc:postgresql://127.0.0.1:9/scurry", "scurry", "hunter2-secret")
        with pytest.raises(DatabaseConnectionError, match="127.0.0.1:9/scurry.*Connection refused") as caught:
            self.failure(target, options=options)(Row(1, "a"))
        assert "hunter2" not in str(caught.value)

    def test_a_failed_jobs_story_has_no_password(self, target: Tables) -> None:
        options = connection_options(target.options.get_db_url(), "scurry", "hunter2-secret")
        env = environment()
        env.from_collection(people(1), ROW).add_sink(JdbcSink.sink(INSERT, ROW, options))
        with pytest.raises(JobError) as caught:
            env.execute()
        assert "password authentication failed" in caught.value.details
        assert "hunter2" not in str(caught.value) + caught.value.details

    def test_text_of_the_driver_is_shown_without_the_password(self, target: Tables) -> None:
        database = Postgres(connection_options(target.options.get_db_url(), "ann", "hunter2"))
        error = database.errors("bad conninfo: host=x password='hunter2' options=hunter2")
        assert "hunter2" not in str(database.failure(error, "cannot write to"))


class TestRetries:
    def test_a_session_that_was_ended_is_made_anew(self, target: Tables) -> None:
        writer = JdbcSink.sink(INSERT, ROW, target.options, PATIENT).create_writer(WriterContext(0, 1, 0, "sink"))
        writer.write(people(*range(10)))
        end_sessions(target)
        writer.write(people(*range(10, 25)))
        writer.prepare_commit()
        assert ids(target) == list(range(25))

    def test_no_retry_if_told_so(self, target: Tables) -> None:
        options = JdbcExecutionOptions.builder().with_batch_size(10).with_max_retries(0).build()
        writer = JdbcSink.sink(INSERT, ROW, target.options, options).create_writer(WriterContext(0, 1, 0, "sink"))
        writer.write(people(*range(10)))
        end_sessions(target)
        with pytest.raises(DatabaseConnectionError):
            writer.write(people(*range(10, 20)))

    def test_a_server_killed_in_mid_batch(self, target: Tables, revived_after: Callable[[float], None]) -> None:
        writer = JdbcSink.sink(UPSERT, ROW, target.options, PATIENT).create_writer(WriterContext(0, 1, 0, "sink"))
        writer.write(people(*range(30)))
        revived_after(1.0)
        writer.write(people(*range(30, 60)))
        writer.prepare_commit()
        assert ids(target) == list(range(60))

    def test_a_deadlock_is_tried_again(self, target: Tables) -> None:
        target.run("INSERT INTO target VALUES (1, 'a'), (2, 'b')")
        update = "UPDATE target SET name = name || ? || pg_sleep(0.3) WHERE id = ?"
        row = Types.ROW([Types.STRING(), Types.INT()])
        failures = []

        def work(*order: int) -> None:
            try:
                run(JdbcSink.sink(update, row, target.options), *(Row("!", number) for number in order))
            except DatabaseError as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=order) for order in ((1, 2), (2, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert target.rows("SELECT name FROM target ORDER BY id") == [("a!!",), ("b!!",)]


class TestExactlyOnce:
    @pytest.fixture(autouse=True, params=[0, 10**6], ids=["staged", "carried"])
    def carried(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(exactly_once, "CARRIED_CHARACTERS", request.param)

    @pytest.fixture
    def sink(self, target: Tables) -> Sink:
        return JdbcSink.exactly_once_sink(INSERT, ROW, target.options, PATIENT)

    def test_nothing_is_seen_before_the_commit(self, sink: Sink, target: Tables) -> None:
        committables = write(sink, 0, people(*range(30)))
        assert ids(target) == []
        sink.create_committer("sink").commit(0, committables)
        assert ids(target) == list(range(30))

    def test_a_batch_repeated_by_other_tasks_is_written_once(self, sink: Sink, target: Tables) -> None:
        sink.create_committer("sink").commit(0, write(sink, 0, people(*range(20)), people(20)))
        again = write(sink, 0, people(*range(5)), people(*range(5, 13)), people(*range(13, 21)))
        sink.create_committer("sink").commit(0, again)
        assert ids(target) == list(range(21))
        assert target.rows("SELECT count(*) FROM scurry_staging") == [(0,)]

    def test_sinks_do_not_meet(self, sink: Sink, target: Tables) -> None:
        sink.create_committer("one").commit(0, write(sink, 0, people(1)))
        sink.create_committer("two").commit(0, write(sink, 0, people(2)))
        assert ids(target) == [1, 2]
        assert target.rows("SELECT sink_id, batch_id FROM scurry_commits ORDER BY 1") == [("one", 0), ("two", 0)]

    def test_the_connection_is_lost_with_the_answer_to_the_commit(
        self, sink: Sink, target: Tables, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        committables = write(sink, 0, people(*range(30)))
        committer = sink.create_committer("sink")
        committer.commit(-1, [])
        lost: list[Any] = []

        class Connection:
            def __init__(self, connection: Any) -> None:
                self.connection = connection

            def __getattr__(self, name: str) -> Any:
                return getattr(self.connection, name)

            def commit(self) -> None:
                import psycopg

                self.connection.commit()
                if ids(target) and not lost:
                    lost.append(True)
                    self.connection.close()
                    raise psycopg.OperationalError("server closed the connection unexpectedly")

        opened = Postgres.open
        monkeypatch.setattr(Postgres, "open", lambda database, autocommit: Connection(opened(database, autocommit)))
        committer.commit(0, committables)
        assert lost and ids(target) == list(range(30))

    def test_two_drivers_that_commit_the_same_batch(self, sink: Sink, target: Tables) -> None:
        batches = [write(sink, 0, people(*range(50))) for _ in range(4)]
        threads = [threading.Thread(target=sink.create_committer("sink").commit, args=(0, batch)) for batch in batches]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ids(target) == list(range(50))

    def test_a_server_killed_before_the_commit(
        self, sink: Sink, target: Tables, revived_after: Callable[[float], None]
    ) -> None:
        committer = sink.create_committer("sink")
        committer.commit(0, write(sink, 0, people(*range(30))))
        committables = write(sink, 1, people(*range(30, 60)))
        revived_after(1.0)
        committer.commit(1, committables)
        assert ids(target) == list(range(60))

    def test_a_server_killed_within_the_commit(
        self, sink: Sink, target: Tables, revived_after: Callable[[float], None]
    ) -> None:
        target.run("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS "
                   "$$ BEGIN PERFORM pg_sleep(0.02); RETURN new; END $$")  # fmt: skip
        target.run("CREATE TRIGGER slow BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION slow()")
        committables = write(sink, 0, people(*range(60)))
        killing = threading.Timer(0.6, revived_after, [0.5])
        killing.start()
        sink.create_committer("sink").commit(0, committables)
        killing.join()
        assert ids(target) == list(range(60))

    def test_tables_of_the_administrators_making(self, target: Tables) -> None:
        target.run("CREATE SCHEMA admin")
        target.run("CREATE TABLE admin.commits (sink_id text PRIMARY KEY, batch_id bigint, committed_at timestamp)")
        target.run("CREATE TABLE admin.staging (sink_id text, batch_id bigint, writer text, block integer, "
                   "content text, PRIMARY KEY (writer, block))")  # fmt: skip
        target.run("DROP ROLE IF EXISTS writer")
        target.run("CREATE ROLE writer LOGIN PASSWORD 'w'")
        target.run("GRANT USAGE ON SCHEMA admin TO writer; GRANT ALL ON ALL TABLES IN SCHEMA admin TO writer; "
                   "GRANT ALL ON target TO writer")  # fmt: skip
        tables = JdbcExactlyOnceOptions.builder().with_commit_table("admin.commits").with_staging_table("admin.staging")
        options = connection_options(target.options.get_db_url(), "writer", "w")
        run(JdbcSink.exactly_once_sink(INSERT, ROW, options, PATIENT, tables.build()), *people(*range(30)))
        assert ids(target) == list(range(30))


class TestStaging:
    @pytest.fixture(autouse=True)
    def staged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(exactly_once, "CARRIED_CHARACTERS", 0)

    def test_tasks_make_the_table_at_once(self, target: Tables) -> None:
        sink = JdbcSink.exactly_once_sink(INSERT, ROW, target.options, PATIENT)
        results: list[list[Any]] = []
        tasks = [
            threading.Thread(target=lambda n=n: results.append(write(sink, 0, people(*range(n * 20, n * 20 + 20)))))
            for n in range(6)
        ]
        for task in tasks:
            task.start()
        for task in tasks:
            task.join()
        sink.create_committer("sink").commit(0, [committable for some in results for committable in some])
        assert ids(target) == list(range(120))

    def test_what_dead_tasks_left_goes_with_the_next_commit(self, target: Tables) -> None:
        sink = JdbcSink.exactly_once_sink(INSERT, ROW, target.options, PATIENT)
        run(sink, *people(1))
        write(sink, 1, people(2))
        committer = sink.create_committer("sink")
        committer.commit(1, write(sink, 1, people(2)))
        assert ids(target) == [1, 2]
        assert target.rows("SELECT count(*) FROM scurry_staging") == [(0,)]

    def test_records_that_somebody_deleted_are_missed(self, target: Tables) -> None:
        sink = JdbcSink.exactly_once_sink(INSERT, ROW, target.options, PATIENT)
        committables = write(sink, 0, people(*range(30)))
        target.run("DELETE FROM scurry_staging WHERE block = 1")
        with pytest.raises(SinkCommitError, match="records of a batch are missing in scurry_staging"):
            sink.create_committer("sink").commit(0, committables)
        assert ids(target) == []


class TestJobs:
    @pytest.mark.parametrize("make", SINKS)
    def test_a_server_killed_while_a_job_runs(
        self, make: Any, target: Tables, revived_after: Callable[[float], None]
    ) -> None:
        env = environment()
        source = DataGeneratorSource(lambda index: Row(index, "x"), 200, 200, ROW)
        numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
        sql = INSERT if make is JdbcSink.exactly_once_sink else UPSERT
        numbers.add_sink(make(sql, ROW, target.options, PATIENT))
        killing = threading.Timer(0.5, revived_after, [0.7])
        killing.start()
        env.execute()
        killing.join()
        assert ids(target) == list(range(200))


def end_sessions(target: Tables) -> None:
    target.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'scurry'")


def environment() -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    return env
