"""GROUP BY: keys, grouping sets, aggregates, and the expressions that may be selected beside them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scurry.errors import ValidationError
from scurry.sql.functions.catalogue import lookup
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import AggregateCall, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Aggregate, Plan
from scurry.sql.plan.nodes.aggregates import set_numbers
from scurry.sql.plan.rewriting import input_references
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax import nodes
from scurry.sql.types import BigIntType
from scurry.sql.validator.aggregates import is_aggregate
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator, Resolved
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.functions.user_functions import called_function
from scurry.sql.validator.group_windows import GroupWindow, auxiliary, group_window
from scurry.sql.validator.scope import Found, Scope, unique_names


def union_of_repetitions(plan: Aggregate) -> Plan:
    """Return the union of aggregations none of which repeats a set; GROUP_ID is the column behind the set's number."""
    counts = Counter(plan.grouping_sets)
    branches = []
    for number in range(max(counts.values())):
        branches.append(_branch(plan, [each for each in counts if counts[each] > number], number))
    return builders.set_operation("UNION", True, branches, _schema(plan))


def _branch(plan: Aggregate, sets: Sequence[tuple[int, ...]], number: int) -> Plan:
    width = len(plan.keys)
    assert plan.grouping_id is not None
    if len(sets) > 1:
        aggregate = replace(plan, grouping_sets=tuple(sets))
        columns: list[Expression] = list(builders.columns(aggregate))
    else:
        # Flink groups by all keys where a single set is left, and numbers its rows as those of the set.
        aggregate = replace(plan, grouping_sets=(tuple(range(width)),), grouping_id=None)
        columns = list(builders.columns(aggregate))
        (number_of_set,) = set_numbers(sets, width)
        columns.insert(width, Literal(number_of_set, plan.grouping_id))
    columns.insert(width + 1, Literal(number, plan.grouping_id))
    return builders.project(aggregate, columns, _schema(plan).names)


def _schema(plan: Aggregate) -> Schema:
    columns = list(plan.schema)
    assert plan.grouping_id is not None
    return Schema((*columns[: len(plan.keys) + 1], Column("$g", plan.grouping_id), *columns[len(plan.keys) + 1 :]))


_GROUPING = {"GROUPING", "GROUPING_ID", "GROUP_ID"}


def has_aggregates(expression: nodes.Node, environment: Environment) -> nodes.FunctionCall | None:
    """Return the first aggregate in an expression, or None; those of its queries do not count."""
    if isinstance(expression, nodes.Query):
        return None
    if isinstance(expression, nodes.FunctionCall) and expression.over is None:
        if is_aggregate(expression, environment):
            return expression
        if isinstance(expression, nodes.Call) and expression.name.last.upper() in _GROUPING:
            return expression
    for child in nodes.children(expression):
        found = has_aggregates(child, environment)
        if found is not None:
            return found
    return None


class GroupedScope(Scope):
    """The columns of groups: names mean keys, and other columns are refused."""

    def __init__(self, base: Scope, grouping: Grouping) -> None:
        super().__init__(base.schema, base.relations, base.shown, base.outer)
        self._grouping = grouping

    def find(self, identifier: nodes.Identifier) -> Found | None:
        """Return the key that a name means; None if no part of it is known here."""
        found = super().find(identifier)
        if found is None:
            return None
        key = self._grouping.key(found.expression)
        if key is None:
            raise _not_grouped(identifier)
        return Found(key, found.parts)


class Grouping:
    """Collects the keys and aggregates of a SELECT.

    Attributes:
        validator: Validates expressions over groups: keys and aggregates.
    """

    def __init__(
        self,
        group_by: nodes.GroupBy | None,
        plan: Plan,
        base: ExpressionValidator,
        selected: Mapping[nodes.Expression, str],
    ) -> None:
        self._base = base
        self._selected = selected
        self._group_by = group_by
        self._input = plan
        self._keys: list[Expression] = []
        self._names: list[str] = []
        self._calls: list[AggregateCall] = []
        self._call_names: list[str] = []
        self._windows: list[GroupWindow] = []
        self._sets = self._grouping_sets(group_by)
        self.validator = ExpressionValidator(GroupedScope(base.scope, self), base.environment, (self._intercept,))

    def plan(self, state_ttl: int | None) -> Plan:
        """Return the aggregation, with the columns in the order of the keys and then of the aggregates.

        Args:
            state_ttl: Milliseconds after which STREAMING forgets a group; None as the session.
        """
        aggregate = builders.aggregate(
            self._input,
            self._keys,
            self._calls,
            unique_names([*self._names, *self._call_names]),
            self._sets,
            None if self._is_simple else BigIntType(False),
        )
        aggregate = replace(aggregate, state_ttl=state_ttl)
        return union_of_repetitions(aggregate) if self._repeats_sets else aggregate

    @property
    def _is_simple(self) -> bool:
        return self._sets == [tuple(range(len(self._keys)))]

    @property
    def _repeats_sets(self) -> bool:
        return len(set(self._sets)) < len(self._sets)

    def key(self, expression: Expression) -> Expression | None:
        """Return the column of the groups that an expression over the rows is, None if it is not grouped by."""
        if expression not in self._keys:
            return None if input_references(expression) else expression
        place = self._keys.index(expression)
        everywhere = all(place in each for each in self._sets)
        return InputReference(place, expression.type if everywhere else expression.type.nullable())

    def _grouping_sets(self, group_by: nodes.GroupBy | None) -> list[tuple[int, ...]]:
        if group_by is None:
            return [()]
        factors = [list(self._sets_of(item)) for item in group_by.items]
        combined = []
        for chosen in itertools.product(*factors):
            merged = dict.fromkeys(itertools.chain.from_iterable(chosen))
            combined.append(tuple(sorted(merged)))
        return list(dict.fromkeys(combined)) if group_by.quantifier == "DISTINCT" else combined

    def _sets_of(self, item: nodes.Expression) -> Iterator[tuple[int, ...]]:
        if not isinstance(item, nodes.GroupingSets):
            yield self._places(item)
        elif item.kind == "GROUPING SETS":
            for each in item.sets:
                yield from self._sets_of(each)
        else:
            parts = [self._places(each) for each in item.sets]
            chosen: Iterator[Sequence[tuple[int, ...]]]
            if item.kind == "ROLLUP":
                chosen = (parts[:length] for length in range(len(parts), -1, -1))
            else:
                chosen = (
                    some for length in range(len(parts), -1, -1) for some in itertools.combinations(parts, length)
                )
            sets = (tuple(sorted(set(itertools.chain.from_iterable(some)))) for some in chosen)
            yield from dict.fromkeys(sets)

    def _places(self, item: nodes.Expression) -> tuple[int, ...]:
        if isinstance(item, nodes.RowConstructor) and not item.explicit:
            return tuple(itertools.chain.from_iterable(self._places(each) for each in item.values))
        found = has_aggregates(item, self._base.environment)
        if found is not None:
            raise invalid(found.span, "Aggregate expression is illegal in GROUP BY clause")
        if isinstance(item, nodes.NullLiteral):
            raise invalid(item.span, "Illegal use of 'NULL'")
        window = group_window(item, self._base, self._input)
        if window is not None:
            if self._windows:
                raise ValidationError("Only a single window group function may be used in GROUP BY")
            self._windows.append(window)
            self._input = window.plan
            return tuple(self._add(key, key_name) for key, key_name in window.keys)
        name = item.last if isinstance(item, nodes.Identifier) else "$f"
        return (self._add(self._base.convert(item), name),)

    def _add(self, key: Expression, name: str) -> int:
        if key not in self._keys:
            self._keys.append(key)
            self._names.append(name if not name.startswith("$") else f"{name}{len(self._names)}")
        return self._keys.index(key)

    def _intercept(self, node: nodes.Expression, validator: ExpressionValidator) -> Expression | None:
        if isinstance(node, nodes.FunctionCall) and node.over is None:
            if is_aggregate(node, validator.environment):
                return self._aggregate(node)
            if isinstance(node, nodes.Call):
                name = node.name.last.upper()
                if name in _GROUPING:
                    return self._grouping_function(node, name, validator)
                column = auxiliary(node, self._windows)
                if column is not None:
                    return self.key(column)
                if lookup(str(node.name)) is None and called_function(node.name, validator.environment) is None:
                    # That there is no such function is said before what is wrong with its arguments.
                    return self._base.convert(node)
        if isinstance(node, nodes.Identifier | Resolved):
            expression = self._base.convert(node)
            key = self.key(expression)
            if key is None:
                # A field of a column that is grouped by is no key itself.
                return self._field(node, validator)
            return key
        return self._complex_key(node)

    def _field(self, node: nodes.Identifier | Resolved, validator: ExpressionValidator) -> Expression:
        if isinstance(node, nodes.Identifier) and len(node.names) > 1:
            return validator.identifier(node)
        raise _not_grouped(node)

    def _complex_key(self, node: nodes.Expression) -> Expression | None:
        if all(isinstance(each, InputReference) for each in self._keys):
            return None
        if isinstance(node, nodes.Literal) and self._is_simple:
            return None
        if _contains_query(node) or has_aggregates(node, self._base.environment) is not None:
            return None
        try:
            expression = self._base.convert(node)
        except Exception:
            return None
        return self.key(expression) if expression in self._keys else None

    def _aggregate(self, node: nodes.FunctionCall) -> Expression:
        for child in nodes.children(node):
            nested = has_aggregates(child, self._base.environment)
            if nested is not None:
                raise invalid(node.span, "Aggregate expressions cannot be nested")
        call = self._base.aggregate(node, grouped=bool(self._keys) and all(self._sets))
        if call not in self._calls:
            self._calls.append(call)
            place = len(self._names) + len(self._call_names)
            self._call_names.append(self._selected.get(node, f"$f{place}"))
        before = len(self._keys) + (0 if self._is_simple else 1) + self._repeats_sets
        return InputReference(before + self._calls.index(call), call.type)

    def _grouping_function(self, node: nodes.Call, name: str, validator: ExpressionValidator) -> Expression:
        if self._group_by is None:
            raise invalid(node.span, f"{name} operator may only occur in an aggregate query")
        if not node.arguments and name != "GROUP_ID":
            raise invalid(node.span, f"Invalid number of arguments to function '{name}'. Was expecting 1 arguments")
        places = []
        for argument in node.arguments:
            key = self._base.convert(argument)
            if key not in self._keys:
                raise invalid(argument.span, f"Argument to {name} operator must be a grouped expression")
            places.append(self._keys.index(key))
        if name == "GROUP_ID" and self._repeats_sets:
            return InputReference(len(self._keys) + 1, BigIntType(False))
        if self._is_simple or name == "GROUP_ID":
            return Literal(0, BigIntType(False))
        number: Expression = InputReference(len(self._keys), BigIntType(False))
        result: Expression | None = None
        for place in places:
            bit = self._bit(number, len(self._keys) - 1 - place, node, validator)
            if result is not None:
                doubled = validator.call("*", [result, _constant(2)], node.span)
                bit = validator.call("+", [doubled, bit], node.span)
            result = bit
        return result if result is not None else _constant(0)

    def _bit(self, number: Expression, bit: int, node: nodes.Call, validator: ExpressionValidator) -> Expression:
        shifted = validator.call("/", [number, _constant(2**bit)], node.span) if bit else number
        return validator.call("MOD", [shifted, _constant(2)], node.span)


def _constant(value: int) -> Literal:
    return Literal(value, BigIntType(False))


def _contains_query(node: nodes.Node) -> bool:
    return any(isinstance(each, nodes.Query) for each in nodes.walk(node))


def _not_grouped(node: nodes.Node) -> Exception:
    text = str(node) if isinstance(node, nodes.Identifier) else node.span.source
    error = invalid(node.span, f"Expression '{text}' is not being grouped")
    return error.with_hint(f"add {text} to GROUP BY, or aggregate it, as MAX({text})")
