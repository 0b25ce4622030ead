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
from scurry.sql.types import IntType, VarCharType

ORDERS = TableId("app", "", "orders")
COLUMNS = TableColumns(("id", "name"), (IntType(), VarCharType(20)), ("id",))
ALL = TableSelector(r"app.\.*")
INSERT, BEFORE, AFTER = RowKind.INSERT.value, RowKind.UPDATE_BEFORE.value, RowKind.UPDATE_AFTER.value
DELETE = RowKind.DELETE.value


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


def test_a_row_goes_by_the_first_rule_whose_filter_it_passes() -> None:
    rules = (
        Transform(ALL, "id, name", "name = 'a'"),
        Transform(TableSelector("app.orders"), "id, UPPER(name) AS name", "id < 3"),
        Transform(ALL, "id + 100 AS id, name"),
    )
    found = block(id=["3", "1", "2", "4"], name=["a", "a", "b", "c"])
    assert [row for _, row, _ in rows(Plan(transforms=rules), found)] == [
        {"id": 3, "name": "a"},
        {"id": 1, "name": "a"},
        {"id": 2, "name": "B"},
        {"id": 104, "name": "c"},
    ]


def test_rules_of_a_table_give_the_common_type_of_their_columns() -> None:
    rules = (Transform(ALL, "id, 1 AS n", "id = 1"), Transform(ALL, "id, CAST(2 AS BIGINT) AS n"))
    (sink,) = Plan(transforms=rules).compiled(ORDERS, COLUMNS).sinks
    assert str(sink.columns.type_of("n")).startswith("BIGINT")
    assert [row["n"] for _, row, _ in rows(Plan(transforms=rules), block(id=["2", "1"], name=["a", "b"]))] == [2, 1]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (Transform(ALL, "id, name AS n"), r"other columns or keys: \(id, name\) and \(id, n\)"),
        (Transform(ALL, primary_keys=("name",)), "other columns or keys"),
        (Transform(ALL, "id, id = 1 AS name"), "the projections of its rules give 'name' the types"),
    ],
)
def test_rules_of_a_table_that_do_not_fit_together_are_refused(second: Transform, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Plan(transforms=(Transform(ALL, "id, name"), second)).compiled(ORDERS, COLUMNS)


def test_a_filter_reads_columns_that_the_projection_adds() -> None:
    projection = r"\*, SUBSTRING(name FROM 1 FOR 1) AS letter, UPPER(name) AS big"
    rule = Transform(ALL, projection, "letter = 'a' AND name <> 'ab'")
    found = block(id=["1", "2", "3"], name=["aa", "ab", "b"])
    assert [row for _, row, _ in rows(Plan(transforms=(rule,)), found)] == [
        {"id": 1, "name": "aa", "letter": "a", "big": "AA"}
    ]


@pytest.mark.parametrize(
    ("names", "kinds", "expected"),
    [
        (["yes", "yes"], [BEFORE, AFTER], [("yes", BEFORE), ("yes", AFTER)]),
        (["yes", "no"], [BEFORE, AFTER], [("yes", DELETE)]),
        (["no", "yes"], [BEFORE, AFTER], [("yes", INSERT)]),
        (["no", "no"], [BEFORE, AFTER], []),
        # the row before is not known, so the sink may have it
        (["no"], [AFTER], [("no", DELETE)]),
        (["yes"], [AFTER], [("yes", AFTER)]),
        (["yes", "no"], [INSERT, AFTER], [("yes", INSERT), ("no", DELETE)]),
        (["no", "no"], [INSERT, DELETE], []),
    ],
)
def test_an_update_that_passes_a_filter_in_part_deletes_or_inserts(
    names: list[str], kinds: list[int], expected: list[tuple[str, int]]
) -> None:
    plan = Plan(transforms=(Transform(ALL, filter="name = 'yes'"),))
    found = rows(plan, block(id=["1"] * len(names), name=names, kinds=kinds))
    assert [(row["name"], kind or INSERT) for _, row, kind in found] == expected


def test_deleted_rows_are_inserted_with_the_kind_of_their_change() -> None:
    rule = Transform(ALL, r"\*, __data_event_type__ AS op_type", soft_delete=True)
    kinds = [INSERT, BEFORE, AFTER, DELETE, BEFORE, AFTER]
    found = block(id=["1", "2", "2", "3", "4", "5"], name=["a"] * 6, kinds=kinds)
    assert [(row["id"], row["op_type"], kind) for _, row, kind in rows(Plan(transforms=(rule,)), found)] == [
        (1, "+I", INSERT),
        (2, "-U", BEFORE),
        (2, "+U", AFTER),
        (3, "-D", INSERT),
        # of another key: as Debezium, a deletion and an insertion
        (4, "-D", INSERT),
        (5, "+I", INSERT),
    ]
    assert [row["op_type"] for _, row, _ in rows(Plan(transforms=(rule,)), block(id=["1"], name=["a"]))] == ["+I"]
