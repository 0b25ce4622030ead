"""Rows of tables of databases, looked up by key."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from scurry.connectors.lookup_cache import CacheSettings
from scurry.errors import MalformedRecordError
from scurry.sql.connectors.contract import LookupSource
from scurry.sql.connectors.jdbc.columns import TableColumns
from scurry.sql.connectors.jdbc.source import JdbcTableSource
from scurry.sql.connectors.jdbc.statements import dialect_of
from scurry.sql.types import DataType, DateType, DecimalType, IntType, TimestampType, VarCharType
from scurry.sql.types.values import from_values
from support.connectors.jdbc_tables import Tables

COLUMNS: dict[str, DataType] = {
    "i": IntType(),
    "s": VarCharType(10),
    "d": DecimalType(10, 2),
    "day": DateType(),
    "ts": TimestampType(3),
}
CREATE = "create table t (i int, s varchar(10), d numeric(10, 2), day date, ts timestamp)"
ROWS = (
    "insert into t values (1, 'a', 1.5, '1970-01-02', '1970-01-01 00:00:01'), "
    "(1, 'b', 2.5, '1970-01-02', '1970-01-01 00:00:02'), (2, 'c', 1.5, '1970-01-03', null)"
)


def lookup_of(tables: Tables, keys: list[str], columns: list[str], cache: CacheSettings | None = None) -> LookupSource:
    described = TableColumns(tuple(COLUMNS), tuple(COLUMNS.values()), dialect_of(tables.options.get_db_url()))
    made = JdbcTableSource(tables.options, "t", described, lookup_cache=cache).create_lookup(keys, columns)
    sent: LookupSource = pickle.loads(pickle.dumps(made))
    sent.open()
    return sent


def found(lookup: LookupSource, **keys: list[Any]) -> list[tuple[Any, ...]]:
    """Return the position of the key and the values of each row that is found."""
    columns = [from_values(values, COLUMNS[name]) for name, values in keys.items()]
    positions, rows = lookup.lookup(pa.RecordBatch.from_arrays(columns, names=list(keys)))
    values = [column.to_pylist() for column in rows.columns]
    return sorted(zip(positions.to_pylist(), *values, strict=True))


def look_up_by_every_type(tables: Tables) -> None:
    tables.run(CREATE)
    tables.run(ROWS)
    assert found(lookup_of(tables, ["i"], ["s", "d"]), i=[2, 1, 3]) == [
        (0, "c", Decimal("1.50")), (1, "a", Decimal("1.50")), (1, "b", Decimal("2.50")),
    ]  # fmt: skip
    assert found(lookup_of(tables, ["s", "i"], ["i"]), s=["a", "b", "c"], i=[1, 2, 2]) == [(0, 1), (2, 2)]
    assert found(lookup_of(tables, ["d"], ["s"]), d=[Decimal("2.50")]) == [(0, "b")]
    assert found(lookup_of(tables, ["day"], ["s"]), day=[2]) == [(0, "c")]
    assert found(lookup_of(tables, ["i"], []), i=[1]) == [(0,), (0,)]


def test_sqlite_rows_are_found_by_columns_of_every_type(sqlite: Tables) -> None:
    look_up_by_every_type(sqlite)


@pytest.mark.postgres
def test_postgres_rows_are_found_by_columns_of_every_type(postgres: Tables) -> None:
    look_up_by_every_type(postgres)
    assert found(lookup_of(postgres, ["ts"], ["s"]), ts=[2000]) == [(0, "b")]


@pytest.mark.servers
def test_mariadb_rows_are_found_by_columns_of_every_type(mariadb: Tables) -> None:
    look_up_by_every_type(mariadb)
    assert found(lookup_of(mariadb, ["ts"], ["s"]), ts=[2000]) == [(0, "b")]


def test_null_is_no_key(sqlite: Tables) -> None:
    sqlite.run(CREATE)
    sqlite.run("insert into t values (null, 'a', null, null, null)")
    assert found(lookup_of(sqlite, ["i"], ["s"]), i=[None]) == []


def test_without_a_cache_every_lookup_sees_the_table_as_it_is(sqlite: Tables) -> None:
    sqlite.run(CREATE)
    lookup = lookup_of(sqlite, ["i"], ["s"])
    assert found(lookup, i=[1]) == []
    sqlite.run(ROWS)
    assert found(lookup, i=[1]) == [(0, "a"), (0, "b")]


def test_a_cache_keeps_the_rows_of_a_key(sqlite: Tables) -> None:
    sqlite.run(CREATE)
    sqlite.run(ROWS)
    lookup = lookup_of(sqlite, ["i"], ["s"], CacheSettings(max_rows=10))
    assert found(lookup, i=[2]) == [(0, "c")]
    sqlite.run("delete from t")
    assert found(lookup, i=[2, 1]) == [(0, "c")]
    lookup.close()
    lookup.open()
    assert found(lookup, i=[2]) == []


def test_a_value_that_does_not_fit_its_column_is_named(sqlite: Tables) -> None:
    sqlite.run("create table t (i text, s text)")
    sqlite.run("insert into t values ('many', 'a')")
    with pytest.raises(MalformedRecordError, match="column 'i' is INT"):
        found(lookup_of(sqlite, ["s"], ["i"]), s=["a"])
