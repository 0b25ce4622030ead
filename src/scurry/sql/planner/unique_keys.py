"""Unique keys of plans, and the keys that order their changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import product
from typing import Any

from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.changelog_functions import FromChangelog
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import conjuncts, split_condition
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import aggregates, changes, joins, over, ranks, windows
from scurry.sql.types.cast_rules import is_injective_cast

#: Sets of columns, each of which identifies a row; an empty set if there is one row at most.
Keys = frozenset[frozenset[int]]

_NONE: Keys = frozenset()


def _once(derived: Callable[[Plan], Keys]) -> Callable[[Plan], Keys]:
    """Compute the keys of a node once: a join asks for those of its sides, and rules ask for those of each join."""
    name = f"_{derived.__name__}"

    @wraps(derived)
    def kept(plan: Plan) -> Keys:
        found: Keys | None = plan.__dict__.get(name)
        if found is None:
            found = derived(plan)
            object.__setattr__(plan, name, found)
        return found

    return kept


@_once
def unique_keys(plan: Plan) -> Keys:
    """Return the sets of columns of which no two rows of a plan have the same values, at any time."""
    return _derived(plan, [unique_keys(each) for each in plan.inputs])


@_once
def upsert_keys(plan: Plan) -> Keys:
    """Return the unique keys by which changes are in order: those of one key come through one subtask.

    An exchange by other columns sends a row and the one that replaces it to different subtasks, of which either may be
    the first to pass them on: it leaves the keys that contain its columns. These are Flink's upsert keys but for ranks.
    """
    keys = _from_inputs(plan, upsert_keys)
    match plan:
        case ranks.Deduplicate() if plan.keep_last:
            return frozenset([frozenset(plan.keys)])
        case ranks.Rank():
            return _of_places(plan, keys)
    return keys


def are_given(plan: Plan) -> bool:
    """Return whether rows are the changes of FROM_CHANGELOG, one by one: a table takes them in the order they have."""
    while isinstance(plan, nodes.Project | nodes.Filter):
        plan = plan.input
    return isinstance(plan, FromChangelog)


@_once
def flinks_upsert_keys(plan: Plan) -> Keys:
    """Return Flink's upsert keys, which decide what it refuses: a rank keeps the keys of its input."""
    return _from_inputs(plan, flinks_upsert_keys)


def _from_inputs(plan: Plan, of_input: Callable[[Plan], Keys]) -> Keys:
    return _derived(plan, [_behind_exchange(plan, place, of_input) for place in range(len(plan.inputs))])


def _of_places(plan: ranks.Rank, keys: Keys) -> Keys:
    """Return the keys by which the changes of a rank are in order, of those of its input.

    A row that takes the place of another one has its partition and number, and nothing else in common with it; while
    rows move on, one may have two numbers. By other keys a table would keep rows that are gone, or lose some.
    """
    if _has_one_row(plan):
        return frozenset([frozenset(plan.partition_by)])
    if plan.number is not None:
        return frozenset([_numbered(plan)])
    return keys if plan.start == 1 else _NONE


def _derived(plan: Plan, inputs: Sequence[Keys]) -> Keys:
    handler = _HANDLERS.get(type(plan))
    return _NONE if handler is None else handler(plan, *inputs)


def _behind_exchange(plan: Plan, place: int, of_input: Callable[[Plan], Keys]) -> Keys:
    """Return the keys of an input where the operator of a plan takes it."""
    columns: set[int] = set()
    match plan:
        case ranks.Rank() if plan.is_limit:
            return _NONE  # the order of one subtask would leave them, but Flink has none here
        case over.OverAggregate() | over.NonTimeOverAggregate() | ranks.Rank():
            columns = set(plan.partition_by)
        case joins.StreamingJoin():
            columns = {(key.left, key.right)[place] for key in plan.keys}
    return frozenset(key for key in of_input(plan.inputs[place]) if columns <= key)


def is_unique(plan: Plan, columns: frozenset[int]) -> bool:
    """Return whether no two rows of a plan have the same values in some columns, before physical nodes are made.

    That the first rows of OVER are those of a Top-N, Flink finds later. A cast column is another one.
    """
    while isinstance(plan, nodes.Project):
        sources = [plan.expressions[column] for column in columns]
        columns = frozenset(each.index for each in sources if isinstance(each, InputReference))
        plan = plan.input
    return not _has_over(plan) and any(key <= columns for key in unique_keys(plan))


def _has_over(plan: Plan) -> bool:
    return isinstance(plan, nodes.Over) or any(map(_has_over, plan.inputs))


def _scan(plan: nodes.Scan) -> Keys:
    if not plan.primary_key or not set(plan.primary_key) <= set(plan.columns):
        return _NONE
    return frozenset([frozenset(plan.columns.index(column) for column in plan.primary_key)])


def _project(plan: nodes.Project, keys: Keys) -> Keys:
    places: dict[int, list[int]] = {}
    for place, expression in enumerate(plan.expressions):
        column = _kept_apart(expression)
        if column is not None:
            places.setdefault(column, []).append(place)
    found = set()
    for key in keys:
        if key <= places.keys():
            found |= {frozenset(chosen) for chosen in product(*(places[column] for column in key))}
    return frozenset(found)


def _kept_apart(expression: Expression) -> int | None:
    """Return the column whose different values stay different in an expression, or None."""
    if isinstance(expression, InputReference):
        return expression.index
    if isinstance(expression, Call) and expression.function == "CAST":
        (operand,) = expression.arguments
        return _kept_apart(operand) if is_injective_cast(operand.type, expression.type) else None
    return None


def _filter(plan: nodes.Filter, keys: Keys) -> Keys:
    partition = _first_of_partition(plan)
    return keys if partition is None else keys | {partition}


def _first_of_partition(plan: nodes.Filter) -> frozenset[int] | None:
    for each in conjuncts(plan.condition):
        if not isinstance(each, Call) or each.function not in ("=", "<="):
            continue
        number = each.arguments[0]
        if isinstance(number, InputReference) and _is_one(each.arguments[1]):
            found = _partition(plan.input, number.index)
            if found is not None:
                return found
    return None


def _is_one(expression: Expression) -> bool:
    if isinstance(expression, Call) and expression.function == "CAST":
        return _is_one(expression.arguments[0])
    return isinstance(expression, Literal) and expression.value == 1


def _partition(plan: Plan, column: int) -> frozenset[int] | None:
    """Return the columns of the partition in which a column numbers rows; None if it does not."""
    if isinstance(plan, nodes.Project):
        source = plan.expressions[column]
        below = _partition(plan.input, source.index) if isinstance(source, InputReference) else None
        places = {each.index: place for place, each in enumerate(plan.expressions) if isinstance(each, InputReference)}
        return frozenset(map(places.__getitem__, below)) if below is not None and below <= places.keys() else None
    if isinstance(plan, nodes.Over) and column >= len(plan.input.schema):
        call = plan.calls[column - len(plan.input.schema)]
        columns = [each.index for each in call.partition_by if isinstance(each, InputReference)]
        if call.call.function == "ROW_NUMBER" and len(columns) == len(call.partition_by):
            return frozenset(columns)
    return None


def _window_aggregate(plan: windows.WindowAggregate, keys: Keys) -> Keys:
    columns = {each.name for each in plan.columns}
    if len(plan.grouping_sets) != 1 or not {"start", "end"} & columns:
        return _NONE
    return frozenset([frozenset(range(len(plan.keys) + len(plan.columns)))])


def _aggregate(plan: nodes.Aggregate, keys: Keys) -> Keys:
    return frozenset([frozenset(range(len(plan.keys)))]) if plan.is_simple else _NONE


def _join(plan: nodes.Join | nodes.TemporalJoin, left: Keys, right: Keys) -> Keys:
    equal, _ = split_condition(plan.condition, len(plan.left.schema))
    ones = {each.left.index for each in equal if isinstance(each.left, InputReference)}
    others = {each.right.index for each in equal if isinstance(each.right, InputReference)}
    return _joined(plan, left, right, ones, others)


def _lookup_join(plan: joins.LookupJoin, keys: Keys) -> Keys:
    asked = {plan.table.columns[column] for _, column in plan.keys}
    is_unique = bool(plan.table.primary_key) and set(plan.table.primary_key) <= asked
    return keys if is_unique else _NONE


def _streaming_join(plan: joins.StreamingJoin, left: Keys, right: Keys) -> Keys:
    return _joined(plan, left, right, {key.left for key in plan.keys}, {key.right for key in plan.keys})


def _joined(plan: Any, left: Keys, right: Keys, ones: set[int], others: set[int]) -> Keys:
    """Return the keys of a join on columns of its sides."""
    if plan.kind in ("SEMI", "ANTI"):
        return left
    moved = frozenset(frozenset(column + len(plan.left.schema) for column in key) for key in right)
    # NULLs fill a side in the rows of the other one that match nothing, so that its keys occur more than once.
    found = {key | other for key in left for other in moved}
    if plan.kind in ("INNER", "LEFT") and any(key <= others for key in unique_keys(plan.right)):
        found |= left
    if plan.kind in ("INNER", "RIGHT") and any(key <= ones for key in unique_keys(plan.left)):
        found |= moved
    return frozenset(found)


def _set_operation(plan: nodes.SetOperation, first: Keys, *others: Keys) -> Keys:
    everything = frozenset([frozenset(range(len(plan.schema)))])
    if plan.kind == "UNION":
        return _NONE if plan.all else everything
    return first | (_NONE if plan.all else everything)


def _input(plan: Plan, keys: Keys) -> Keys:
    return keys


def _rank(plan: ranks.Rank, keys: Keys) -> Keys:
    """In each partition a number is that of one row, and there is one row if there is one number."""
    if _has_one_row(plan):
        keys |= {frozenset(plan.partition_by)}
    return keys | {_numbered(plan)} if plan.number is not None else keys


def _has_one_row(plan: ranks.Rank) -> bool:
    return plan.start == plan.end and plan.end_column is None


def _numbered(plan: ranks.Rank) -> frozenset[int]:
    """Return the columns of the partition and of the number."""
    return frozenset(plan.partition_by) | {len(plan.input.schema)}


_HANDLERS: dict[type[Plan], Callable[..., Keys]] = {
    changes.ChangelogNormalize: lambda plan, _: frozenset([frozenset(plan.key)]),
    nodes.Scan: _scan,
    nodes.Project: _project,
    nodes.Filter: _filter,
    nodes.Over: _input,
    nodes.Sort: _input,
    nodes.Limit: _input,
    nodes.Aggregate: _aggregate,
    aggregates.GlobalGroupAggregate: lambda plan, _: frozenset([frozenset(plan.keys)]),
    nodes.Join: _join,
    nodes.TemporalJoin: _join,
    nodes.SetOperation: _set_operation,
    over.NonTimeOverAggregate: _input,
    over.OverAggregate: _input,
    ranks.Deduplicate: lambda plan, keys: keys | {frozenset(plan.keys)},
    ranks.Rank: _rank,
    ranks.TemporalSort: _input,
    joins.EventTimeTemporalJoin: _streaming_join,
    joins.IntervalJoin: _streaming_join,
    joins.LookupJoin: _lookup_join,
    joins.RegularJoin: _streaming_join,
    joins.WindowJoin: _streaming_join,
    windows.WindowAggregate: _window_aggregate,
}
