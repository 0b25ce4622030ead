"""SELECT: from FROM to QUALIFY, with the ORDER BY that follows it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes import Plan
from scurry.sql.syntax import nodes
from scurry.sql.types import NullType
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator, Resolved
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.from_clause.items import FromItem
from scurry.sql.validator.from_clause.tables import FromClause
from scurry.sql.validator.grouping import Grouping, has_aggregates
from scurry.sql.validator.hints import Hints
from scurry.sql.validator.over import OverCalls, order_key, ordinal
from scurry.sql.validator.scope import Scope, column_name, unique_names


@dataclass(frozen=True)
class Item:
    """A column of SELECT, with stars expanded."""

    expression: nodes.Expression
    name: str
    alias: str | None


class SelectValidator:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def plan(self, select: nodes.Select, order: nodes.OrderBy | None) -> Plan:
        """Return the plan of a SELECT and of the ORDER BY that follows it.

        Raises:
            ValidationError: Something in it is wrong.
        """
        hints = Hints(select.hints, self._environment.session.is_streaming)
        source = self._from(select, hints)
        scope = source.scope(self._environment.outer)
        base = ExpressionValidator(scope, self._environment)
        plan = source.plan
        if select.where is not None:
            self._refuse_aggregates(select.where, "WHERE")
            _refuse_windowed(select.where, "WHERE")
            plan = builders.filtered(plan, base.condition(select.where, "WHERE"))
        items = self._items(select, scope)
        sorts = [self._sort_expression(item, items) for item in (order.items if order else ())]
        values = [*(item.expression for item in items), *(each for each in sorts if not isinstance(each, int))]
        validator = base
        grouping = None
        if select.group_by is not None or self._is_aggregated(select, values):
            grouping = Grouping(select.group_by, plan, base, {item.expression: item.name for item in reversed(items)})
            validator = grouping.validator
        overs = OverCalls(select.windows, validator)
        if select.having is not None:
            _refuse_windowed(select.having, "HAVING")
        having = None if select.having is None else validator.condition(select.having, "HAVING")
        after = overs.validator
        expressions = [self._selected(item, after) for item in items]
        qualify = None
        if select.qualify is not None:
            qualify = after.condition(_without_aliases(select.qualify, _aliases(items)), "QUALIFY")
        if select.qualify is not None and not overs.is_used:
            shown = select.qualify.span.source
            raise invalid(select.qualify.span, f"QUALIFY expression '{shown}' must contain a window function")
        sort_values = [each if isinstance(each, int) else after.convert(each) for each in sorts]
        state_ttl = hints.grouped(source) if grouping is not None or select.distinct else None
        hints.check()
        if grouping is not None:
            plan = grouping.plan(state_ttl)
        if having is not None:
            plan = builders.filtered(plan, having)
        width = len(plan.schema)
        plan = overs.plan(plan)
        expressions = [overs.bound(each, width) for each in expressions]
        sort_values = [each if isinstance(each, int) else overs.bound(each, width) for each in sort_values]
        qualify = None if qualify is None else overs.bound(qualify, width)
        if qualify is not None:
            plan = builders.filtered(plan, qualify)
        names = [item.name for item in items]
        return self._result(select, order, plan, expressions, names, sort_values, state_ttl)

    def _from(self, select: nodes.Select, hints: Hints) -> FromItem:
        if select.from_ is None:
            for item in select.items:
                if isinstance(item.expression, nodes.Star):
                    raise invalid(item.expression.span, "SELECT * requires a FROM clause")
            return FromItem(builders.one_row(), ())
        return FromClause(self._environment, hints).item(select.from_)

    def _is_aggregated(self, select: nodes.Select, values: Sequence[nodes.Expression]) -> bool:
        return select.having is not None or any(has_aggregates(each, self._environment) for each in values)

    def _refuse_aggregates(self, expression: nodes.Expression, clause: str) -> None:
        found = has_aggregates(expression, self._environment)
        if found is not None:
            raise invalid(found.span, f"Aggregate expression is illegal in {clause} clause")

    def _items(self, select: nodes.Select, scope: Scope) -> list[Item]:
        items: list[Item] = []
        for each in select.items:
            if isinstance(each.expression, nodes.Star):
                items += [Item(Resolved(*column), column[1], None) for column in self._star(each.expression, scope)]
            elif isinstance(each.expression, nodes.FieldAccess) and isinstance(each.expression.field, nodes.Star):
                items += self._fields(each.expression, scope)
            else:
                alias = None if each.alias is None else each.alias.last
                items.append(Item(each.expression, column_name(each.expression, each.alias, len(items)), alias))
        return items

    def _star(self, star: nodes.Star, scope: Scope) -> list[tuple[Expression, str]]:
        if star.qualifier is None:
            self._refuse_ambiguous(star, scope)
            if scope.shown is None:
                relations = (range(each.offset, each.offset + each.width) for each in scope.relations)
                columns = itertools.chain.from_iterable(relations)
                return [(scope.reference(each), scope.schema.names[each]) for each in columns]
            names = unique_names(scope.schema.names)
            return [
                (scope.reference(each), names[each]) if isinstance(each, int) else (each[1], each[0])
                for each in scope.shown
            ]
        found = scope.relation(star.qualifier.names)
        if found is None:
            validator = ExpressionValidator(scope, self._environment)
            try:
                row = validator.convert(star.qualifier)
            except Exception:
                raise invalid(star.qualifier.span, f"Unknown identifier '{star.qualifier}'") from None
            return validator.fields(row, star.span)
        where, relation = found
        return [
            (where.reference(index), where.schema.names[index])
            for index in range(relation.offset, relation.offset + relation.width)
        ]

    def _refuse_ambiguous(self, star: nodes.Star, scope: Scope) -> None:
        for relation in scope.relations:
            names = scope.names_of(relation)
            for place, name in enumerate(names):
                if name in names[:place]:
                    raise invalid(star.span, f"Column '{name}' is ambiguous")

    def _fields(self, access: nodes.FieldAccess, scope: Scope) -> list[Item]:
        validator = ExpressionValidator(scope, self._environment)
        fields = validator.fields(validator.convert(access.operand), access.span)
        return [Item(Resolved(expression, name), name, None) for expression, name in fields]

    def _selected(self, item: Item, validator: ExpressionValidator) -> Expression:
        expression = validator.convert(item.expression)
        if isinstance(expression.type, NullType):
            raise invalid(item.expression.span, "Illegal use of 'NULL'")
        if isinstance(item.expression, nodes.RowConstructor):
            for each in item.expression.values:
                if isinstance(each, nodes.NullLiteral):
                    raise invalid(each.span, "Illegal use of 'NULL'")
        return expression

    def _sort_expression(self, item: nodes.OrderItem, items: Sequence[Item]) -> int | nodes.Expression:
        """Return the place of a selected column that a key of ORDER BY means, or the key itself."""
        place = ordinal(item.expression, len(items))
        if place is not None:
            return place
        expression, names = item.expression, [each.name for each in items]
        for each in _simple_names(expression):
            if names.count(each.last) > 1:
                raise invalid(each.span, f"Column '{each.last}' is ambiguous")
        if isinstance(expression, nodes.Identifier) and expression.is_simple and expression.last in names:
            return names.index(expression.last)
        for place, selected in enumerate(items):
            if selected.expression == expression:
                return place
        return _without_aliases(expression, {each.name: each.expression for each in items})

    def _result(
        self,
        select: nodes.Select,
        order: nodes.OrderBy | None,
        plan: Plan,
        expressions: Sequence[Expression],
        names: Sequence[str],
        sort_values: Sequence[int | Expression],
        state_ttl: int | None,
    ) -> Plan:
        """Project, remove duplicates and sort; keys that are not selected are computed beside and dropped again."""
        extra: list[Expression] = []
        places = []
        for value in sort_values:
            if isinstance(value, int):
                places.append(value)
            elif value in expressions:
                places.append(expressions.index(value))
            else:
                if select.distinct and order is not None:
                    raise invalid(
                        order.items[len(places)].expression.span,
                        f"Expression '{order.items[len(places)].expression.span.source}' is not in the select clause",
                    )
                places.append(len(expressions) + len(extra))
                extra.append(value)
        below = builders.project(plan, [*expressions, *extra], [*names, *(f"$sort{i}" for i in range(len(extra)))])
        if select.distinct:
            below = replace(builders.distinct(below), state_ttl=state_ttl)
        if not order or not order.items:
            return below
        keys = [order_key(item, builders.column(below, place)) for item, place in zip(order.items, places, strict=True)]
        result = builders.sort(below, keys)
        if not extra:
            return result
        return builders.project(result, builders.columns(result)[: len(expressions)], names)


def _refuse_windowed(expression: nodes.Node, clause: str) -> None:
    if isinstance(expression, nodes.Query):
        return
    if isinstance(expression, nodes.FunctionCall) and expression.over is not None:
        raise invalid(expression.span, f"Windowed aggregate expression is illegal in {clause} clause")
    for child in nodes.children(expression):
        _refuse_windowed(child, clause)


def _simple_names(expression: nodes.Node) -> Iterator[nodes.Identifier]:
    """Iterate over the names of one part in a key of ORDER BY, which mean selected columns first."""
    if isinstance(expression, nodes.Identifier):
        if expression.is_simple:
            yield expression
    elif not isinstance(expression, nodes.Query | nodes.TypeSpec):
        named = getattr(expression, "name", None)
        for child in nodes.children(expression):
            if child is not named:
                yield from _simple_names(child)


def _aliases(items: Sequence[Item]) -> dict[str, nodes.Expression]:
    return {each.alias: each.expression for each in items if each.alias is not None}


def _without_aliases(expression: nodes.Expression, aliases: dict[str, nodes.Expression]) -> nodes.Expression:
    """Return a key of ORDER BY or a condition of QUALIFY with its aliases replaced by their expressions."""
    if isinstance(expression, nodes.Identifier):
        return aliases.get(expression.names[0], expression) if expression.is_simple else expression
    changes: dict[str, Any] = {}
    for each in type(expression).node_fields:
        value = getattr(expression, each.name)
        if isinstance(value, nodes.Expression):
            changes[each.name] = _without_aliases(value, aliases)
        elif isinstance(value, tuple) and value and all(isinstance(one, nodes.Expression) for one in value):
            changes[each.name] = tuple(_without_aliases(one, aliases) for one in value)
    changes.pop("name", None)
    changes.pop("type", None)
    changed = {name: value for name, value in changes.items() if value != getattr(expression, name)}
    return nodes.replace(expression, **changed) if changed else expression
