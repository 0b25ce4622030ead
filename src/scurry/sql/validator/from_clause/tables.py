"""Table references of FROM: tables, joins, derived tables, collections and table functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from scurry.errors import UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import CorrelatedReference, Expression, InputReference
from scurry.sql.plan.models import VectorSearch
from scurry.sql.plan.nodes import Correlate, Plan, Project, Scan, Sort, TableFunctionScan, TemporalJoin, Unnest
from scurry.sql.plan.rewriting import correlations_of, is_true, retyped, rewritten, shifted
from scurry.sql.plan.schema import Schema
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span
from scurry.sql.types import DataType, LocalZonedTimestampType, TimestampType
from scurry.sql.validator.catalog import CatalogPlan, CatalogTable, CatalogView
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import check_period, invalid
from scurry.sql.validator.from_clause.items import FromItem, named, optional, own_column, renamed, side_by_side, single
from scurry.sql.validator.from_clause.window_tables import is_window_function, window_table
from scurry.sql.validator.functions.changelog_functions import changelog_function, is_changelog_function
from scurry.sql.validator.functions.models import is_model_function, predicted
from scurry.sql.validator.functions.process_tables import process_function, process_table
from scurry.sql.validator.functions.table_functions import table_function, unnested_columns
from scurry.sql.validator.functions.vector_search import is_vector_search, searched
from scurry.sql.validator.hints import Hints
from scurry.sql.validator.patterns.match_recognize import match
from scurry.sql.validator.scope import Relation, Scope


class FromClause:
    """Validates the items of FROM."""

    def __init__(self, environment: Environment, hints: Hints | None = None) -> None:
        self._environment = environment
        self._hints = hints or Hints((), environment.session.is_streaming)

    def item(self, table: nodes.TableExpression) -> FromItem:
        """Validate a part of FROM that refers to nothing beside it.

        Raises:
            ValidationError: It is wrong.
        """
        return self._item(table, None, None)

    def _item(self, table: nodes.TableExpression, name: str | None, left: FromItem | None) -> FromItem:
        handler = _HANDLERS.get(type(table))
        if handler is None:
            raise invalid(table.span, f"{type(table).__name__} is not supported in FROM")
        return handler(self, table, name, left)

    def _reference(self, table: nodes.TableReference, name: str | None, left: FromItem | None) -> FromItem:
        names = table.name.names
        common = self._environment.tables.get(names[0]) if len(names) == 1 else None
        if common is not None:
            plan = common.environment.plan(common.definition.query)
            plan = renamed(plan, common.definition.columns, common.definition.name.span)
            return single(plan, name or names[0])
        found = self._environment.catalog.find(names)
        if found is None:
            catalog = self._environment.catalog
            hint = did_you_mean(names[-1], self._environment.tables) if len(names) == 1 else ""
            raise invalid(table.name.span, catalog.missing(names)[1]).with_hint(hint or catalog.similar(names))
        if not isinstance(found, CatalogTable) and any(each.name.upper() == "OPTIONS" for each in table.hints):
            view = ".".join(f"`{each}`" for each in found.path)
            raise ValidationError(
                f"View '{view}' cannot be enriched with new options. Hints can only be applied to tables."
            )
        if isinstance(found, CatalogView):
            query, environment = found.query, replace(self._environment, tables={}, outer=None)
            plan = environment.catalog.plan_of_view(found, environment.session, lambda: environment.plan(query))
            if found.names:
                plan = builders.project(plan, builders.columns(plan), found.names)
        elif isinstance(found, CatalogPlan):
            plan = found.plan
        else:
            plan = self._scan(found, table.hints)
        return single(plan, name or found.path[-1], found.path if name is None else ())

    def _scan(self, table: CatalogTable, hints: Sequence[nodes.Hint]) -> Plan:
        read = [each for each in table.columns if each.expression is None]
        schema = Schema.of([each.name for each in read], [each.type for each in read])
        options = tuple(
            (str(option.key), str(getattr(option.value, "value", option.value)))
            for hint in hints
            if hint.name.upper() == "OPTIONS"
            for option in hint.options
        )
        key = tuple(schema.names.index(name) for name in table.primary_key)
        scan = Scan(table.path, table.table, schema, tuple(range(len(read))), (), options, key)
        if len(read) == len(table.columns):
            return scan
        validator = ExpressionValidator(Scope(schema, (Relation(None, (), 0, len(schema)),)), self._environment)
        places = {each.name: index for index, each in enumerate(read)}
        expressions = [
            builders.column(scan, places[each.name])
            if each.expression is None
            else _timed(validator.as_type(validator.convert(each.expression), each.type), each.type)
            for each in table.columns
        ]
        return Project(scan, tuple(expressions), tuple(each.name for each in table.columns))

    def _alias(self, table: nodes.Alias, name: str | None, left: FromItem | None) -> FromItem:
        if table.columns and isinstance(table.table, nodes.MatchRecognize):
            # Flink knows matches by the name before it looks at the names of their columns.
            raise invalid(table.span, f"Duplicate relation name '{table.name.last}' in FROM clause")
        item = self._item(table.table, table.name.last, left)
        if table.columns:
            width = (
                item.relations[-1].width
                if left is not None and isinstance(_core(table), nodes.Unnest | nodes.TableFunction)
                else len(item.plan.schema)
            )
            item = replace(item, plan=renamed(item.plan, table.columns, table.span, last=width))
        elif _has_no_names(table.table) and item.relations[-1].width == 1:
            # The only column of values without names is known by the name of the table.
            item = replace(item, plan=renamed(item.plan, (table.name,), table.span, last=1))
        return item

    def _derived(self, table: nodes.DerivedTable, name: str | None, left: FromItem | None) -> FromItem:
        outer = self._environment.outer
        if table.lateral and left is not None:
            outer = left.scope(outer)
        plan = self._environment.inside(outer).plan(table.query)
        is_ordered = isinstance(table.query, nodes.OrderBy) and table.query.offset is None and table.query.fetch is None
        return single(_unsorted(plan) if is_ordered else plan, name)

    def _function(self, table: nodes.TableFunction, name: str | None, left: FromItem | None) -> FromItem:
        if is_window_function(table.call):
            plan = window_table(table.call, self._environment, self.item)
            return single(plan, name)
        if is_model_function(table.call):
            return single(predicted(table.call, self._environment, self.item), name)
        if is_changelog_function(table.call):
            return single(changelog_function(table.call, self._environment, self.item), name)
        if is_vector_search(table.call):
            return self._lateral(left, name, lambda validator: validator, self._searched(table.call))
        process = process_function(table.call, self._environment)
        if process is not None:
            return single(process_table(table.call, process, self._environment, self.item), name)
        return self._lateral(
            left,
            name,
            lambda validator: table_function(table.call, validator),
            lambda plan, call: TableFunctionScan(plan, call[0], call[1]),
        )

    def _searched(self, call: nodes.Call) -> Callable[[Plan, Any], Plan]:
        return lambda plan, validator: searched(call, plan, validator, self.item)

    def _unnest(self, table: nodes.Unnest, name: str | None, left: FromItem | None) -> FromItem:
        def made(plan: Plan, unnested: tuple[Expression, Schema]) -> Plan:
            return Unnest(plan, unnested[0], unnested[1], table.with_ordinality)

        return self._lateral(left, name, lambda validator: unnested_columns(table, validator), made)

    def _match(self, table: nodes.MatchRecognize, name: str | None, left: FromItem | None) -> FromItem:
        below = self._item(table.table, None, None)
        return single(match(table, below.plan, below.relations, self._environment), name)

    def _lateral(
        self,
        left: FromItem | None,
        name: str | None,
        validated: Callable[[ExpressionValidator], Any],
        made: Callable[[Plan, Any], Plan],
    ) -> FromItem:
        """Append the columns of a function of the left row; without one, of a row without columns."""
        base = left if left is not None else FromItem(builders.one_row(), ())
        validator = ExpressionValidator(base.scope(self._environment.outer), self._environment)
        plan = made(base.plan, validated(validator))
        width = len(base.plan.schema)
        relation = Relation(name, (), width, len(plan.schema) - width)
        shown = None if base.shown is None else (*base.shown, *range(width, len(plan.schema)))
        return FromItem(plan, (*base.relations, relation), shown)

    def _join(self, table: nodes.Join, name: str | None, left: FromItem | None) -> FromItem:
        first = self._item(table.left, None, left)
        kind = {"CROSS": "INNER", "COMMA": "INNER"}.get(table.kind, table.kind)
        right = _core(table.right)
        if isinstance(right, nodes.Unnest) or (
            isinstance(right, nodes.TableFunction)
            and not is_window_function(right.call)
            and not is_model_function(right.call)
            and not is_changelog_function(right.call)
            and process_function(right.call, self._environment) is None
        ):
            return self._joined_function(table, first, kind)
        if isinstance(right, nodes.DerivedTable) and right.lateral:
            return self._joined_query(table, first, kind)
        if isinstance(right, nodes.Snapshot):
            return self._joined_version(table, right, first, kind)
        second = self._item(table.right, None, None)
        row = side_by_side(first, second, builders.join(first.plan, second.plan, kind, None), table.right)
        if table.natural or table.using:
            return self._merged_join(table, first, second, row)
        condition = self._condition(table, row)
        plan = builders.join(first.plan, second.plan, kind, condition)
        return replace(row, plan=replace(plan, state_ttl=self._hints.joined(first, second)))

    def _joined_function(self, table: nodes.Join, first: FromItem, kind: str) -> FromItem:
        row = self._item(table.right, None, first)
        condition = self._condition(table, row)
        if kind == "LEFT" and isinstance(row.plan, Unnest) and condition is not None and not is_true(condition):
            if self._environment.session.is_streaming:
                return replace(row, plan=replace(row.plan, outer=True, condition=condition))
            return self._joined_query(nodes.replace(table, right=_as_query(table.right)), first, kind)
        if kind == "LEFT" and isinstance(row.plan, Unnest | TableFunctionScan | VectorSearch):
            row = replace(row, plan=replace(row.plan, outer=True))
        if condition is None or is_true(condition):
            return row
        if kind != "INNER":
            raise invalid(
                table.span, "Left outer joins with a table function do not accept a predicate such as ON TRUE"
            )
        return replace(row, plan=builders.filtered(row.plan, condition))

    def _joined_query(self, table: nodes.Join, first: FromItem, kind: str) -> FromItem:
        scope = first.scope(self._environment.outer)
        inner = FromClause(self._environment.inside(scope))
        second = inner.item(table.right)
        row = side_by_side(first, second, builders.join(first.plan, second.plan, kind, None), table.right)
        condition = self._condition(table, row)
        if scope.correlation not in correlations_of(second.plan):
            return replace(row, plan=builders.join(first.plan, second.plan, kind, condition))
        right = second.plan
        if condition is not None and not is_true(condition):
            right = builders.filtered(right, _correlated_left(condition, len(first.plan.schema), scope.correlation))
        return replace(row, plan=Correlate(first.plan, right, scope.correlation, kind))

    def _joined_version(self, table: nodes.Join, right: nodes.Snapshot, first: FromItem, kind: str) -> FromItem:
        name = table.right.name.last if isinstance(table.right, nodes.Alias) else None
        second = self._item(right.table, name, None)
        row = side_by_side(first, second, builders.join(first.plan, second.plan, kind, None), table.right)
        period = ExpressionValidator(first.scope(self._environment.outer), self._environment).convert(right.period)
        check_period(period.type, right.period.span)
        condition = self._condition(table, row)
        retry = self._hints.lookup(first, second)
        return replace(row, plan=TemporalJoin(first.plan, second.plan, kind, condition, period, retry))

    def _snapshot(self, table: nodes.Snapshot, name: str | None, left: FromItem | None) -> FromItem:
        # Beside no other table the period says which version a catalog gives, of those it keeps: here none does.
        self._item(table.table, name, None)
        period = ExpressionValidator(Scope(Schema(), ()), self._environment).convert(table.period)
        check_period(period.type, table.period.span)
        raise UnsupportedError(
            "SQL validation failed. FOR SYSTEM_TIME AS OF outside of joins is not supported: no catalog here keeps "
            "versions of its tables."
        )

    def _condition(self, table: nodes.Join, row: FromItem) -> Expression | None:
        if table.condition is None:
            if table.kind in ("INNER", "LEFT", "RIGHT", "FULL") and not table.natural and not table.using:
                raise invalid(
                    _keyword_span(table),
                    "INNER, LEFT, RIGHT or FULL join requires a condition (NATURAL keyword or ON or USING clause)",
                )
            return None
        validator = ExpressionValidator(row.scope(self._environment.outer), self._environment)
        return validator.condition(table.condition, "ON")

    def _merged_join(self, table: nodes.Join, first: FromItem, second: FromItem, row: FromItem) -> FromItem:
        spans = {each.last: each.span for each in table.using}
        names = list(spans)
        if table.natural:
            known = {name for name, _ in named(second)}
            shown = {name for name, _ in named(first)}
            names = [each for each in dict.fromkeys(first.plan.schema.names) if each in known & shown]
        width = len(first.plan.schema)
        validator = ExpressionValidator(row.scope(self._environment.outer), self._environment)
        conditions, pairs = [], {}
        for name in names:
            span = spans.get(name, table.span)
            one = own_column(first, name, span)
            other = shifted(own_column(second, name, span), width)
            conditions.append(validator.call("=", [one, other], span))
            pairs[name] = (one, other)
        plan = builders.join(first.plan, second.plan, row.plan.kind, validator.all_of(conditions))  # type: ignore[attr-defined]
        joined = replace(row, plan=replace(plan, state_ttl=self._hints.joined(first, second)))
        after = ExpressionValidator(joined.scope(self._environment.outer), self._environment)
        # Flink puts the columns that the last join merges first.
        merged = [(name, _merged(pair, plan, after, table)) for name, pair in pairs.items()]
        rest = [each for name, each in named(row) if name not in pairs]
        return replace(joined, shown=(*merged, *rest))


_Handler = Callable[[FromClause, Any, str | None, FromItem | None], FromItem]

_HANDLERS: dict[type, _Handler] = {
    nodes.TableReference: FromClause._reference,
    nodes.Alias: FromClause._alias,
    nodes.DerivedTable: FromClause._derived,
    nodes.TableFunction: FromClause._function,
    nodes.MatchRecognize: FromClause._match,
    nodes.Unnest: FromClause._unnest,
    nodes.Snapshot: FromClause._snapshot,
    nodes.Join: FromClause._join,
}


def _unsorted(plan: Plan) -> Plan:
    """Leave out the order of a derived table, which says nothing about the rows of the query around it."""
    if isinstance(plan, Project):
        return replace(plan, input=_unsorted(plan.input))
    return plan.input if isinstance(plan, Sort) else plan


def _timed(expression: Expression, kind: DataType) -> Expression:
    """Return the value of a computed column, which is a time attribute if the column is one."""
    if isinstance(kind, TimestampType | LocalZonedTimestampType) and kind.is_rowtime:
        marked: Any = expression
        return replace(marked, type=kind.with_nullability(expression.type.is_nullable))  # type: ignore[no-any-return]
    return expression


def _has_no_names(table: nodes.TableExpression) -> bool:
    return isinstance(table, nodes.Unnest) or (
        isinstance(table, nodes.DerivedTable) and isinstance(table.query, nodes.Values)
    )


def _keyword_span(table: nodes.Join) -> Span:
    """Return where JOIN stands."""
    text, start = table.span.text, table.left.span.end
    found = text.upper().find("JOIN", start, table.right.span.start)
    return Span(text, found, found + 4) if found >= 0 else table.span


def _core(table: nodes.TableExpression) -> nodes.TableExpression:
    return _core(table.table) if isinstance(table, nodes.Alias) else table


def _as_query(table: nodes.TableExpression) -> nodes.TableExpression:
    """Return a table that refers to those before it as a query of its rows, with the same name."""
    query = nodes.Select((nodes.SelectItem(nodes.Star(span=table.span)),), table, span=table.span)
    derived = nodes.DerivedTable(query, lateral=True, span=table.span)
    return nodes.Alias(derived, table.name, span=table.span) if isinstance(table, nodes.Alias) else derived


def _merged(
    pair: tuple[Expression, Expression], plan: Plan, validator: ExpressionValidator, table: nodes.Join
) -> Expression:
    """Return the column of USING: that of the side which always has rows, NOT NULL if one is."""
    one, other = (retyped(each, plan.schema) for each in pair)
    if table.kind == "RIGHT" or (table.kind not in ("LEFT", "FULL") and other.type == one.type.not_null()):
        return other
    if table.kind != "FULL":
        return one
    return validator.call("COALESCE", [optional(each) for each in (one, other)], table.span)


def _correlated_left(condition: Expression, width: int, correlation: int) -> Expression:
    """Return the condition of a join as one of its right side, which names the left row by a number."""

    def replaced(node: Expression) -> Expression:
        if not isinstance(node, InputReference):
            return node
        if node.index < width:
            return CorrelatedReference(correlation, node.index, node.type)
        return replace(node, index=node.index - width)

    return rewritten(condition, replaced)
