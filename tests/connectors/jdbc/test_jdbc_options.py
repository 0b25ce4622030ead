"""What connections and batches are described with; nothing here opens a connection."""

from __future__ import annotations

import pickle
from datetime import timedelta
from typing import Any

import pytest

from scurry.common import Types
from scurry.connectors.jdbc.postgres_url import libpq_parameters
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExactlyOnceOptions,
    JdbcExecutionOptions,
    JdbcSink,
)
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from support.connectors.jdbc_tables import connection_options

POSTGRES = "jdbc:postgresql://db.example:5433/shop"
ROW = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])


def libpq(url: str, **others: str) -> dict[str, Any]:
    return libpq_parameters(connection_options(url, **others))


class TestConnectionOptions:
    def test_have_what_was_given(self) -> None:
        builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
        builder.with_url(POSTGRES).with_driver_name("org.postgresql.Driver").with_user_name("ann").with_password("x")
        options = builder.build()
        assert options.get_db_url() == POSTGRES
        assert options.get_driver_name() == "org.postgresql.Driver"
        assert (options.get_user_name(), options.get_password()) == ("ann", "x")

    def test_need_a_url(self) -> None:
        with pytest.raises(ArgumentError, match="with_url"):
            JdbcConnectionOptions.JdbcConnectionOptionsBuilder().build()

    def test_refuse_the_driver_of_another_database(self) -> None:
        builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(POSTGRES)
        with pytest.raises(ArgumentError, match="needs the driver org.postgresql.Driver, not com.mysql.Driver"):
            builder.with_driver_name("com.mysql.Driver").build()

    @pytest.mark.parametrize("url", ["jdbc:db2://ann:secret@host/db", "jdbc:oracle:thin:ann/secret@host", "db://x"])
    def test_say_which_databases_there_are_and_not_the_password(self, url: str) -> None:
        with pytest.raises(
            UnsupportedError, match="there are jdbc:postgresql:, jdbc:mysql:, jdbc:mariadb:, jdbc:sqlite:.*to_spark"
        ) as caught:
            connection_options(url)
        assert "secret" not in str(caught.value)

    def test_show_no_password(self) -> None:
        options = connection_options(f"{POSTGRES}?password=secret1", "ann", "secret2")
        assert repr(options) == f"JdbcConnectionOptions({POSTGRES} as 'ann')"


class TestPostgresUrl:
    def test_names_host_port_and_database(self) -> None:
        found = libpq(POSTGRES, user="ann", password="x")
        expected = {"host": "db.example", "port": "5433", "dbname": "shop", "user": "ann", "password": "x"}
        assert expected.items() <= found.items()

    @pytest.mark.parametrize(
        ("url", "host", "port", "database"),
        [
            ("jdbc:postgresql:shop", "localhost", "5432", "shop"),
            ("jdbc:postgresql://db/", "db", "5432", "ann"),
            ("jdbc:postgresql://[::1]:5433/shop", "::1", "5433", "shop"),
            ("jdbc:postgresql://a:1,b/shop", "a,b", "1,5432", "shop"),
            ("jdbc:postgresql://db/a%20b", "db", "5432", "a b"),
        ],
    )
    def test_may_leave_things_out(self, url: str, host: str, port: str, database: str) -> None:
        found = libpq(url, user="ann")
        assert (found["host"], found["port"], found["dbname"]) == (host, port, database)

    @pytest.mark.parametrize(
        ("parameter", "expected"),
        [
            ("user=bob&password=y", {"user": "bob", "password": "y"}),
            ("ssl=true", {"sslmode": "verify-full"}),
            ("sslmode=require&ssl=true", {"sslmode": "require"}),
            ("connectTimeout=3", {"connect_timeout": "3"}),
            ("ApplicationName=a%20b", {"application_name": "a b"}),
            ("currentSchema=sales", {"options": "-c search_path=sales"}),
            ("targetServerType=preferSecondary", {"target_session_attrs": "prefer-standby"}),
            ("prepareThreshold=0", {"prepare_threshold": None}),
            ("reWriteBatchedInserts=true&stringtype=unspecified", {}),
        ],
    )
    def test_takes_parameters_of_the_jdbc_driver(self, parameter: str, expected: dict[str, Any]) -> None:
        assert expected.items() <= libpq(f"{POSTGRES}?{parameter}").items()

    def test_yields_to_user_and_password_of_the_builder(self) -> None:
        found = libpq(f"{POSTGRES}?user=bob&password=y", user="ann", password="x")
        assert (found["user"], found["password"]) == ("ann", "x")

    @pytest.mark.parametrize("parameter", ["socketTimeout=3", "targetServerType=nearest", "stringtype=varchar"])
    def test_refuses_what_is_not_known(self, parameter: str) -> None:
        with pytest.raises(UnsupportedError, match=f"the parameter {parameter.split('=')[0]} .* or its value"):
            connection_options(f"{POSTGRES}?{parameter}")

    def test_refuses_a_password_before_the_host_without_showing_it(self) -> None:
        with pytest.raises(ArgumentError, match="with_password") as caught:
            connection_options("jdbc:postgresql://ann:secret@db/shop")
        assert "secret" not in str(caught.value)


class TestExecutionOptions:
    def test_have_flinks_defaults(self) -> None:
        options = JdbcExecutionOptions.defaults()
        found = (options.get_batch_size(), options.get_batch_interval_ms(), options.get_max_retries())
        assert found == (5000, 0, 3)

    def test_take_amounts_of_time(self) -> None:
        options = JdbcExecutionOptions.builder().with_batch_interval_ms(timedelta(seconds=2)).build()
        assert options.get_batch_interval_ms() == 2000

    def test_refuse_negative_numbers(self) -> None:
        with pytest.raises(ArgumentError, match="max retries"):
            JdbcExecutionOptions.builder().with_max_retries(-1).build()


class TestExactlyOnceOptions:
    @pytest.mark.parametrize("name", ["a; drop table b", "a.b.c", "", "1a", 'a"b'])
    def test_take_names_of_tables_only(self, name: str) -> None:
        with pytest.raises(ArgumentError, match="is no name of a table"):
            JdbcExactlyOnceOptions.builder().with_commit_table(name).build()

    def test_want_two_tables(self) -> None:
        with pytest.raises(ArgumentError, match="are both x"):
            JdbcExactlyOnceOptions.builder().with_commit_table("x").with_staging_table("x").build()


class TestSink:
    def test_counts_parameters_when_it_is_made(self) -> None:
        with pytest.raises(ArgumentError, match="1 parameters .* for records of 2 fields"):
            JdbcSink.sink("INSERT INTO t VALUES (?, '?')", ROW, connection_options(POSTGRES))

    def test_wants_a_row_type(self) -> None:
        with pytest.raises(ArgumentTypeError, match=r"takes a row type, Types.ROW"):
            JdbcSink.sink("INSERT INTO t VALUES (?)", Types.INT(), connection_options(POSTGRES))  # type: ignore[arg-type]

    @pytest.mark.parametrize("field", [Types.MAP(Types.STRING(), Types.INT()), Types.ROW([Types.INT()]),
                                       Types.PICKLED_BYTE_ARRAY(), Types.INSTANT()])  # fmt: skip
    @pytest.mark.parametrize("url", [POSTGRES, "jdbc:sqlite:/tmp/x"])
    def test_refuses_types_that_are_no_parameters(self, url: str, field: Any) -> None:
        with pytest.raises(UnsupportedError, match="field f0 of type .* turn anything else into STRING"):
            JdbcSink.sink("INSERT INTO t VALUES (?)", Types.ROW([field]), connection_options(url))

    def test_shows_its_password_nowhere_but_in_its_pickle(self) -> None:
        options = connection_options(f"{POSTGRES}?sslpassword=secret1", "ann", "secret2")
        sink = JdbcSink.exactly_once_sink("INSERT INTO t VALUES (?, ?)", ROW, options)
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([(1, "a")], ROW).add_sink(sink)
        for text in (repr(sink), str(sink), env.get_execution_plan()):
            assert "secret" not in text
        assert pickle.loads(pickle.dumps(sink)).connection.get_password() == "secret2"
