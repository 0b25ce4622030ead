"""The validator: plans, names and messages of small queries."""

from __future__ import annotations

import pytest

from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Filter, Plan, Project, Scan
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span
from scurry.sql.types import IntType
from scurry.sql.validator import CatalogColumn, CatalogTable, validate_query
from scurry.sql.validator.catalog import CatalogReader

TABLE = CatalogTable(
    ("default_catalog", "default_database", "t"),
    (CatalogColumn("a", IntType()), CatalogColumn("b", IntType(False))),
    None,
)


class OneTable(CatalogReader):
    def find(self, names: tuple[str, ...]) -> CatalogTable | None:
        return TABLE if names == ("t",) else None

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        return 1, f"Object '{names[0]}' not found"


def name(text: str, column: str) -> nodes.Identifier:
    start = text.index(column)
    return nodes.Identifier((column,), span=Span(text, start, start + len(column)))


def select(*items: nodes.SelectItem, where: nodes.Expression | None = None) -> Plan:
    query = nodes.Select(items, nodes.TableReference(nodes.Identifier(("t",))), where=where)
    return validate_query(query, OneTable(), EvaluationContext())


def test_a_filter_and_a_projection_stand_on_the_scan() -> None:
    a, b = nodes.Identifier(("a",)), nodes.Identifier(("b",))
    doubled = nodes.BinaryOperation("*", b, nodes.NumericLiteral("2"))
    above = nodes.BinaryOperation(">", a, nodes.NumericLiteral("1"))
    plan = select(nodes.SelectItem(a), nodes.SelectItem(doubled, nodes.Identifier(("c",))), where=above)
    assert isinstance(plan, Project) and isinstance(plan.input, Filter) and isinstance(plan.input.input, Scan)
    assert [(each.name, each.type.as_summary_string()) for each in plan.schema] == [("a", "INT"), ("c", "INT NOT NULL")]


def test_a_column_that_does_not_exist_is_named_with_its_place() -> None:
    text = "SELECT nope FROM t"
    with pytest.raises(ValidationError) as raised:
        select(nodes.SelectItem(name(text, "nope")))
    place = "From line 1, column 8 to line 1, column 11"
    assert str(raised.value) == f"SQL validation failed. {place}: Column 'nope' not found in any table"
