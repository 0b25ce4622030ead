"""PyFlink's builder of sinks of Cassandra, and values, without a server."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from cassandra.util import Date, Time

from scurry.common import Types
from scurry.common.time import Duration, Instant
from scurry.common.types import Row, RowKind
from scurry.connectors.cassandra.client import CassandraSettings
from scurry.connectors.cassandra.sink import CassandraSink as CoreSink
from scurry.connectors.cassandra.sink import ValuesOf
from scurry.connectors.cassandra.source import CassandraTable
from scurry.connectors.cassandra.values import check_type, reader
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.cassandra import (
    CassandraCommitter,
    CassandraFailureHandler,
    CassandraSink,
    ClusterBuilder,
    ConsistencyLevel,
    MapperOptions,
)
from scurry.errors import ArgumentError, ArgumentTypeError, RecordRejectedError, TypeMismatchError, UnsupportedError
from scurry.sql.connectors.cassandra.factory import RowFinder, RowStatements
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import (
    ArrayType,
    DataType,
    DateType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowType,
    TimestampType,
    TimeType,
    VarCharType,
)

QUERY = "INSERT INTO shop.t (word, n) VALUES (?, ?)"
DAY = datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)


def builder() -> Any:
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))
    return env, CassandraSink.add_sink(stream)


def test_the_settings_of_flinks_test_are_accepted() -> None:
    env, made = builder()
    options = MapperOptions().ttl(1).timestamp(100).tracing(True).if_not_exists(False)
    options = options.consistency_level(ConsistencyLevel.ANY).save_null_fields(True)
    sink = (
        made.set_query(QUERY)
        .set_host("localhost", 9042)
        .set_mapper_options(options)
        .set_failure_handler(CassandraFailureHandler.no_op())
        .set_max_concurrent_requests(1000, Duration.of_seconds(1))
        .enable_ignore_null_fields()
        .build()
    )
    sink.name("cassandra_sink").uid("cassandra_uid").set_parallelism(3).disable_chaining().slot_sharing_group("a")
    assert "cassandra_sink" in env.get_execution_plan()


def test_a_committer_makes_no_table() -> None:
    _, made = builder()
    committer = CassandraCommitter.default_checkpoint_committer(ClusterBuilder(), "space")
    made.set_query(QUERY).set_cluster_builder(ClusterBuilder(["a", "b"], 9043)).enable_write_ahead_log(
        committer
    ).build()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b: b.build(), ArgumentError, "Query must not be null or empty"),
        (lambda b: b.set_query(QUERY).build(), ArgumentError, "host information must be supplied"),
        (lambda b: b.set_host("a").set_host("b"), ArgumentError, "set already"),
        (lambda b: b.set_host("a").set_cluster_builder(ClusterBuilder()), ArgumentError, "set already"),
        (lambda b: b.set_host("a", 0), ArgumentError, "no address"),
        (lambda b: b.set_max_concurrent_requests(0), ArgumentError, "at least 1"),
        (lambda b: b.set_cluster_builder("x"), ArgumentTypeError, "ClusterBuilder"),
        (lambda b: b.set_failure_handler(None), ArgumentTypeError, "no_op"),
        (lambda b: CassandraSink.add_sink([1]), ArgumentTypeError, "DataStream"),  # type: ignore[arg-type]
    ],
)
def test_wrong_settings_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(builder()[1])


def test_the_password_is_not_shown() -> None:
    settings = ClusterBuilder("a", username="ann", password="szy7w")._settings
    assert "szy7w" not in repr(CoreSink(settings, ValuesOf(QUERY)))


def test_values_of_records_fill_the_query() -> None:
    instant = Instant.of_epoch_milli(5)
    assert ValuesOf(QUERY)(Row("a", instant)) == (QUERY, ["a", 5])
    assert ValuesOf(QUERY)(("a", None)) == (QUERY, ["a", None])
    assert ValuesOf(QUERY)(({"a": instant}, [(instant, "b")])) == (QUERY, [{"a": 5}, [(5, "b")]])
    with pytest.raises(RecordRejectedError, match="a tuple, a list or a Row"):
        ValuesOf(QUERY)("text")


def test_rows_of_tables_are_inserted_or_deleted() -> None:
    statements = RowStatements('"shop"."t"', ("k", "v"), ("k",))
    row = Row(k=1, v="a")
    assert statements(row) == ('INSERT INTO "shop"."t" ("k", "v") VALUES (?, ?)', [1, "a"])
    row.set_row_kind(RowKind.DELETE)
    assert statements(row) == ('DELETE FROM "shop"."t" WHERE "k" = ?', [1])


class FakeSession:
    """A session that counts what is prepared."""

    def __init__(self) -> None:
        self.prepared: list[str] = []
        table = SimpleNamespace(partition_key=[SimpleNamespace(name="k")])
        keyspaces = {"shop": SimpleNamespace(tables={"t": table})}
        self.cluster = SimpleNamespace(
            metadata=SimpleNamespace(partitioner="x.Murmur3Partitioner", keyspaces=keyspaces)
        )

    def prepare(self, query: str) -> str:
        self.prepared.append(query)
        return query

    def execute(self, statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
        return [(values[0], f"of {values[0]}")]


def test_a_lookup_is_prepared_once_for_all_keys_and_is_picklable_after_it() -> None:
    session, columns = FakeSession(), (FormatColumn("k", IntType()), FormatColumn("v", VarCharType(9)))
    settings = CassandraSettings(cluster=lambda: SimpleNamespace(connect=lambda: session))
    finder = RowFinder(CassandraTable(settings, "shop", "t"), columns, ("k",))
    assert [list(finder.find({"k": k})) for k in (1, 2)] == [[(1, "of 1")], [(2, "of 2")]]
    assert session.prepared == ['SELECT "k", "v" FROM "shop"."t" WHERE "k" = ?']
    assert list(finder.__getstate__()) == ["table", "columns", "keys"]


@pytest.mark.parametrize(
    ("kind", "value", "record"),
    [
        (IntType(), 1, 1),
        (VarCharType(9), "a", "a"),
        (DateType(), Date(datetime.date(2024, 2, 29)), datetime.date(2024, 2, 29)),
        (TimeType(), Time(datetime.time(1, 2, 3)), datetime.time(1, 2, 3)),
        (TimestampType(3), DAY, DAY),
        (LocalZonedTimestampType(3), datetime.datetime(1970, 1, 1, 0, 0, 1), Instant.of_epoch_milli(1000)),
        (ArrayType(IntType()), [1, None], [1, None]),
        (MapType(VarCharType(9), IntType()), {"a": 1}, {"a": 1}),
        (IntType(), None, None),
    ],
)
def test_values_are_read(kind: DataType, value: Any, record: Any) -> None:
    assert reader(kind)(value) == record


def test_a_value_that_does_not_fit_is_named() -> None:
    with pytest.raises(TypeMismatchError, match="of Cassandra"):
        reader(DateType())("x")


def test_types_that_cassandra_lacks_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="Cassandra has no type"):
        check_type(ArrayType(RowType([RowField("a", IntType())])), "c")


@pytest.mark.parametrize("hosts", [(), ("",), ("http://ann:szy7w@host",)])
def test_no_address_is_refused(hosts: tuple[str, ...]) -> None:
    with pytest.raises(ArgumentError, match="no address") as refused:
        CassandraSettings(hosts)
    assert "szy7w" not in str(refused.value)
