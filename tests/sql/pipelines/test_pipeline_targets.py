"""Tables of sinks are created, follow changes of columns, and are refused where they are missing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.sql.pipelines.changes import ColumnHistory, SinkTable
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.pipelines.databases import DatabaseTarget
from scurry.sql.pipelines.lakes import DeltaTarget, IcebergTarget
from scurry.sql.pipelines.targets import Target
from scurry.sql.types import BigIntType, IntType, VarCharType

INT, NAME = IntType(), VarCharType(20)


def in_sqlite(directory: Path) -> tuple[Target, Callable[[], dict[str, str]]]:
    def columns() -> dict[str, str]:
        with sqlite3.connect(directory / "there.db") as connection:
            return {row[1]: row[2] for row in connection.execute("PRAGMA table_info('orders')")}

    return DatabaseTarget((("url", f"jdbc:sqlite:{directory}/there.db"),)), columns


def in_iceberg(directory: Path) -> tuple[Target, Callable[[], dict[str, str]]]:
    properties = {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": f"file://{directory}/lake"}

    def columns() -> dict[str, str]:
        from pyiceberg.catalog import load_catalog

        schema = load_catalog("default", **properties).load_table("ods.orders").schema()
        return {field.name: str(field.field_type) for field in schema.fields}

    return IcebergTarget(tuple((f"catalog.properties.{key}", value) for key, value in properties.items())), columns


def in_delta(directory: Path) -> tuple[Target, Callable[[], dict[str, str]]]:
    def columns() -> dict[str, str]:
        from deltalake import DeltaTable

        fields: Any = DeltaTable(f"{directory}/lake/ods/orders").schema().fields
        return {field.name: field.type.type for field in fields}

    return DeltaTarget((("path", f"{directory}/lake"),)), columns


def table(path: str, *columns: tuple[str, Any], history: ColumnHistory = ColumnHistory()) -> SinkTable:  # noqa: B008
    names, kinds = zip(*columns, strict=True)
    return SinkTable(path, TableColumns(names, kinds, ("id",)), history=history)


FIRST = (("id", INT), ("name", NAME), ("note", NAME), ("amount", INT))
NOW = (("id", INT), ("title", NAME), ("amount", BigIntType()), ("size", INT))
HISTORY = ColumnHistory((("name", "title"),), ("note",), ("amount",))


@pytest.mark.parametrize(
    ("make", "path", "first", "now"),
    [
        (
            in_sqlite,
            "orders",
            {"id": "INT", "name": "TEXT", "note": "TEXT", "amount": "INT"},
            {"id": "INT", "title": "TEXT", "amount": "INT", "size": "INT"},
        ),
        (
            in_iceberg,
            "ods.orders",
            {"id": "int", "name": "string", "note": "string", "amount": "int"},
            {"id": "int", "title": "string", "amount": "long", "size": "int"},
        ),
    ],
)
def test_a_table_follows_its_columns_and_does_so_again(
    make: Any, path: str, first: dict[str, str], now: dict[str, str], tmp_path: Path
) -> None:
    target, columns = make(tmp_path)
    target.prepare(table(path, *FIRST))
    assert columns() == first
    for _ in range(2):  # another task may have done so
        target.prepare(table(path, *NOW, history=HISTORY))
        assert columns() == now


def test_a_delta_table_gets_more_columns(tmp_path: Path) -> None:
    target, columns = in_delta(tmp_path)
    target.prepare(table("ods.orders", *FIRST))
    target.prepare(table("ods.orders", *FIRST, ("size", INT)))
    assert columns() == {"id": "integer", "name": "string", "note": "string", "amount": "integer", "size": "integer"}


@pytest.mark.parametrize(
    ("make", "path"), [(in_sqlite, "orders"), (in_iceberg, "ods.orders"), (in_delta, "ods.orders")]
)
def test_a_missing_table_that_is_not_to_be_created_is_refused(make: Any, path: str, tmp_path: Path) -> None:
    target, _ = make(tmp_path)
    with pytest.raises(ValidationError, match=f"table {path} is missing in the sink, and the schema changes exclude"):
        target.prepare(replace(table(path, *FIRST), creates=False))


def test_columns_stay_away_where_they_are_not_to_be_added(tmp_path: Path) -> None:
    for make, path in ((in_sqlite, "orders"), (in_delta, "ods.orders"), (in_iceberg, "ods.orders")):
        target, columns = make(tmp_path)
        target.prepare(table(path, *FIRST))
        target.prepare(table(path, *FIRST, ("size", INT)), False)
        assert list(columns()) == ["id", "name", "note", "amount"]
