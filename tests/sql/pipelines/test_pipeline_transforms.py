"""Projections, filters and changes of columns, on rows at hand."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common.types import RowKind
from scurry.connectors.cdc.capture import RowBlock, TableId
from scurry.errors import ValidationError
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.pipelines.selectors import TableSelector
from scurry.sql.pipelines.source import Plan
from scurry.sql.pipelines.transforms import Transform
from scurry.sql.types import BigIntType, IntType, VarCharType

ORDERS = TableId("app", "", "orders")
COLUMNS = TableColumns(("id", "name"), (IntType(), VarCharType(20)), ("id",))
ALL = TableSelector(r"app.\.*")
INSERT, BEFORE, AFTER = RowKind.INSERT.value, RowKind.UPDATE_BEFORE.value, RowKind.UPDATE_AFTER.value


def block(**columns: list[Any]) -> RowBlock:
    kinds = columns.pop("kinds", None)
    names = tuple(columns)
    count = len(next(iter(columns.values())))
    return RowBlock(ORDERS, names, ("text",) * len(names), list(columns.values()), count, kinds)


def rows(plan: Plan, found: RowBlock, columns: TableColumns = COLUMNS) -> list[tuple[str, dict[str, Any], Any]]:
    applied = plan.compiled(ORDERS, columns).apply(found)
    return [
        (each.table.path, row, None if each.changes.kinds is None else each.changes.kinds[at])
        for each in applied
        for at, row in enumerate(each.changes.batch.to_pylist())
    ]


def test_without_rules_rows_go_on_as_they_are() -> None:
    assert rows(Plan(), block(id=["1", "2"], name=["a", None])) == [
        ("app.orders", {"id": 1, "name": "a"}, None),
        ("app.orders", {"id": 2, "name": None}, None),
    ]


def test_a_projection_computes_columns_and_a_filter_keeps_rows_with_their_kinds() -> None:
    rule = Transform(ALL, r"\*, UPPER(name) AS upper_name, __table_name__ AS origin", "id > 1 AND name <> 'no'")
    found = block(id=["1", "2", "2", "3"], name=["a", "b", "c", "no"], kinds=[INSERT, BEFORE, AFTER, INSERT])
    assert rows(Plan(transforms=(rule,)), found) == [
        ("app.orders", {"id": 2, "name": "b", "upper_name": "B", "origin": "orders"}, BEFORE),
        ("app.orders", {"id": 2, "name": "c", "upper_name": "C", "origin": "orders"}, AFTER),
    ]


def test_primary_keys_of_a_transform_replace_those_of_the_table() -> None:
    rule = Transform(ALL, "name, id + 1 AS following", primary_keys=("name",))
    (sink,) = Plan(transforms=(rule,)).compiled(ORDERS, COLUMNS).sinks
    assert (sink.columns.names, sink.columns.key) == (("name", "following"), ("name",))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Transform(ALL, "name"), "the projection lacks column 'id' of the primary key"),
        (Transform(ALL, primary_keys=("nr",)), "the projection lacks column 'nr' of primary-keys"),
        (Transform(ALL, "id, nam"), "Column 'nam' not found"),
        (Transform(ALL, "id, COUNT(*) AS n"), "Expression 'id' is not being grouped"),
        (Transform(ALL, filter="id IN (SELECT 1)"), "look at one row at a time"),
        (Transform(ALL, "id, FRMAT(name) AS n"), "FRMAT"),
        (Transform(ALL, filter="id >"), "SQL parse failed"),
    ],
)
def test_wrong_expressions_are_refused(rule: Transform, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Plan(transforms=(rule,)).compiled(ORDERS, COLUMNS)


def test_two_transforms_of_a_table_are_refused() -> None:
    two = (Transform(ALL, filter="id > 1"), Transform(TableSelector("app.orders"), filter="id < 1"))
    with pytest.raises(ValidationError, match="table app.orders has more than one transform"):
        Plan(transforms=two).compiled(ORDERS, COLUMNS)


ADDED = TableColumns(("id", "name", "size"), (IntType(), VarCharType(20), IntType()), ("id",))
LOST = TableColumns(("id",), (IntType(),), ("id",))
WIDER = TableColumns(("id", "name"), (BigIntType(), VarCharType(20)), ("id",))


@pytest.mark.parametrize(
    ("behavior", "now", "names"),
    [
        ("lenient", ADDED, ("id", "name", "size")),
        ("lenient", LOST, ("id", "name")),
        ("lenient", WIDER, ("id", "name")),
        ("evolve", ADDED, ("id", "name", "size")),
        ("try_evolve", LOST, ("id", "name")),
        ("ignore", ADDED, ("id", "name")),
        ("exception", COLUMNS, ("id", "name")),
    ],
)
def test_columns_after_a_change(behavior: str, now: TableColumns, names: tuple[str, ...]) -> None:
    assert Plan(behavior=behavior).columns(ORDERS, COLUMNS, now).names == names


@pytest.mark.parametrize(
    ("behavior", "now", "message"),
    [
        ("exception", ADDED, "table app.orders has new columns size: 'schema.change.behavior' is exception"),
        ("exception", LOST, "table app.orders has lost columns name"),
        ("evolve", LOST, "table app.orders has lost columns name: sinks add columns, and neither drop nor change them"),
        ("evolve", WIDER, "table app.orders has other types of columns id"),
    ],
)
def test_changes_that_end_the_job(behavior: str, now: TableColumns, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Plan(behavior=behavior).columns(ORDERS, COLUMNS, now)


def test_a_column_that_a_table_has_lost_is_null() -> None:
    columns = Plan().columns(ORDERS, COLUMNS, LOST)
    assert rows(Plan(), block(id=["1"]), columns) == [("app.orders", {"id": 1, "name": None}, None)]
