"""FromItem: rows of FROM, the tables they are from, and the columns that `*` stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors.suggestions import did_you_mean
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.models import VectorSearch
from scurry.sql.plan.nodes import Join, Plan, TableFunctionScan, Unnest
from scurry.sql.plan.rewriting import retyped, shifted
from scurry.sql.syntax import nodes
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.scope import Relation, Scope, Shown


@dataclass(frozen=True)
class FromItem:
    """A validated part of FROM.

    Attributes:
        relations: The tables its columns belong to.
        shown: What `*` stands for, where USING or NATURAL has merged columns.
    """

    plan: Plan
    relations: tuple[Relation, ...]
    shown: tuple[Shown, ...] | None = None

    def scope(self, outer: Scope | None) -> Scope:
        """Return the scope of an expression over this row."""
        return Scope(self.plan.schema, self.relations, self.shown, outer)


def single(plan: Plan, name: str | None, path: tuple[str, ...] = ()) -> FromItem:
    return FromItem(plan, (Relation(name, path, 0, len(plan.schema)),))


def side_by_side(first: FromItem, second: FromItem, plan: Join, right: nodes.TableExpression) -> FromItem:
    """Return the item of a join, with the columns of both sides.

    Raises:
        ValidationError: Both have a table of the same name.
    """
    width = len(first.plan.schema)
    known = {each.name for each in first.relations if each.name}
    for each in second.relations:
        if each.name in known:
            raise invalid(right.span, f"Duplicate relation name '{each.name}' in FROM clause")
    relations = (*first.relations, *(each.shifted(width) for each in second.relations))
    if first.shown is None and second.shown is None:
        return FromItem(plan, relations)
    shown = [_retyped(each, plan, may_be_null=plan.kind in ("RIGHT", "FULL")) for _, each in named(first)]
    for name, column in named(second):
        moved = column + width if isinstance(column, int) else (name, shifted(column[1], width))
        shown.append(_retyped(moved, plan, may_be_null=plan.kind in ("LEFT", "FULL")))
    return FromItem(plan, relations, tuple(shown))


def _retyped(column: Shown, plan: Plan, may_be_null: bool) -> Shown:
    """Return a column as it is after a join, which has NULL for a side that is optional."""
    if isinstance(column, int):
        return column
    value = retyped(column[1], plan.schema)
    return column[0], optional(value) if may_be_null else value


def optional(value: Expression) -> Expression:
    """Return a value as one that may be NULL."""
    return replace(value, type=value.type.nullable())  # type: ignore[call-arg]


def renamed(plan: Plan, names: Sequence[nodes.Identifier], span: Any, last: int | None = None) -> Plan:
    """Give the last columns of a plan other names.

    Raises:
        ValidationError: There are more or fewer names than columns, or a name is given twice.
    """
    width = len(plan.schema) if last is None else last
    before = len(plan.schema) - width
    if not names:
        return plan
    if len(names) != width:
        shown = ", ".join(f"'{each}'" for each in plan.schema.names[before:])
        raise invalid(
            names[0].span.to(names[-1].span),
            f"List of column aliases must have same degree as table; table has {width} columns ({shown}), "
            f"whereas alias list has {len(names)} columns",
        )
    new = [each.last for each in names]
    for index, name in enumerate(new):
        if name in new[:index]:
            raise invalid(names[index].span, f"Duplicate name '{name}' in column alias list")
    if isinstance(plan, Unnest):
        return replace(plan, element_schema=plan.element_schema.renamed(new))
    if isinstance(plan, TableFunctionScan | VectorSearch):
        return replace(plan, function_schema=plan.function_schema.renamed(new))
    return builders.project(plan, builders.columns(plan), (*plan.schema.names[:before], *new))


def named(item: FromItem) -> list[tuple[str, Shown]]:
    """Return the columns that `*` stands for, with their names."""
    names = item.plan.schema.names
    shown: Iterable[Shown] = range(len(names)) if item.shown is None else item.shown
    return [(names[each] if isinstance(each, int) else each[0], each) for each in shown]


def own_column(item: FromItem, name: str, span: Any) -> Expression:
    """Return a column that USING or NATURAL names.

    Raises:
        ValidationError: The item has none of that name.
    """
    found = item.scope(None).find(nodes.Identifier((name,), span=span))
    if found is None:
        raise invalid(span, f"Column '{name}' not found in any table").with_hint(
            did_you_mean(name, item.plan.schema.names)
        )
    return found.expression
