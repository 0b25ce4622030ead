"""Plans as they are executed, as text: operators with Flink's names, and where rows are exchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.changelog_functions import ChangelogFunction, FromChangelog, ToChangelog
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.matching import PatternMatch
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import aggregates, changes, joins, over, ranks, windows
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.rewriting import shifted, substituted
from scurry.sql.planner.explain.advice import Advice
from scurry.sql.planner.explain.aggregates import expand_text, global_text, group_aggregate_text, local_text
from scurry.sql.planner.explain.batch import batch_operator, limit_operator
from scurry.sql.planner.explain.expressions import PLAIN, PrefixText, all_of_text, expression_text
from scurry.sql.planner.explain.joins import lookup_join_text, streaming_join_text
from scurry.sql.planner.explain.logical import node_text
from scurry.sql.planner.explain.matching import physical_match_text
from scurry.sql.planner.explain.names import distinct_names
from scurry.sql.planner.explain.ordering import (
    deduplicate_text,
    over_aggregate_text,
    rank_of_deduplicate_text,
    rank_text,
    replicate_text,
    temporal_sort_text,
)
from scurry.sql.planner.explain.predict import predict_text, search_text
from scurry.sql.planner.explain.process_tables import physical_changelog_function_text, process_text
from scurry.sql.planner.explain.reading import (
    NO_TABLES,
    ReadTable,
    ScanDescriptions,
    chosen_rows,
    is_projected,
    limited_table,
    read_table,
    reads_all,
    scan_text,
)
from scurry.sql.planner.explain.sargs import joined_ranges, known_columns, needed_conditions
from scurry.sql.planner.explain.trees import Operator, tree_text
from scurry.sql.planner.explain.types import record_text
from scurry.sql.planner.explain.windows import (
    global_window_text,
    group_window_text,
    has_two_phases,
    keys_without_window,
    local_window_text,
    session_table_text,
    shown_window_rank_text,
    table_window_text,
    window_aggregate_text,
    window_rank_text,
)
from scurry.sql.planner.explain.written import target_text, value_rows, values_text


def physical_tree_text(
    plan: Plan,
    reading: ScanDescriptions | None,
    modes: Callable[[Plan], str] | None = None,
    advice: Advice | None = None,
) -> str:
    """Return the operators of a plan as a tree.

    Args:
        reading: How tables are read in STREAMING, where operators exchange their rows by key; None in BATCH.
        modes: Returns the changes of a node, to be shown with it; None to leave them out.
        advice: Numbers what there is to say about operators, to be shown with them; None to leave it out.
    """

    def described(operator: Operator) -> tuple[str, Sequence[Operator]]:
        shown = operator.text if advice is None else advice.added(operator.name, operator.text)
        if modes is not None:
            mode = modes(operator.plan)
            mode = mode.replace("UA", "UB,UA") if operator.drops_before else mode
            start = f"{shown.removesuffix(')')}, " if shown.endswith(")") else f"{shown}("
            shown = f"{start}changelogMode=[{mode}])"
        return shown, operator.inputs

    return tree_text(
        operators(plan, reading, PLAIN if reading is None or reading.is_batch else expression_text), described
    )


def operators(plan: Plan, reading: ScanDescriptions | None, text: PrefixText = expression_text) -> Operator:
    """Return the operators of a plan: row-wise operations are one Calc, and rows are exchanged by key.

    Args:
        reading: How tables are read in STREAMING, where operators exchange their rows by key; None in BATCH.
        text: Returns the texts of expressions.
    """
    if isinstance(plan, nodes.Project | nodes.Filter):
        return _calc(plan, reading, text)
    if isinstance(plan, nodes.Scan):
        return _read(plan, reading or NO_TABLES, text)
    is_batch = reading is not None and reading.is_batch
    if isinstance(plan, nodes.Limit) and isinstance(plan.input, nodes.Sort):
        below = operators(plan.input.input, reading, text)
        return limit_operator(plan, below) if is_batch else Operator(_limit(plan), plan, (below,))
    if isinstance(plan, nodes.Aggregate | aggregates.LocalGroupAggregate) and _has_all_columns(plan.input):
        inputs = [operators(plan.input.inputs[0], reading, text)]
    else:
        inputs = [operators(each, reading, text) for each in plan.inputs]
    if reading is not None and isinstance(plan, nodes.Limit | ranks.Rank):
        inputs = [limited_table(plan, inputs[0])]
    found = batch_operator(plan, inputs, text) if is_batch else None
    if found is not None:
        return found
    if isinstance(plan, windows.WindowAggregate) and len(plan.grouping_sets) > 1:
        inputs = [_expanded(plan, inputs[0])]
    if isinstance(plan, windows.WindowAggregate) and has_two_phases(plan):
        local = Operator(local_window_text(plan), plan, (inputs[0],))
        return _ordered(Operator(global_window_text(plan), plan, (_exchange(local, plan.keys, plan.input),)))
    keys = _KEYS.get(type(plan))
    if reading is not None and not is_batch and keys is not None:
        pairs = zip(inputs, keys(plan), strict=True)
        inputs = [
            each if columns is None else _exchange(each, columns, below)
            for (each, columns), below in zip(pairs, plan.inputs, strict=True)
        ]
    if reading is not None and not is_batch and isinstance(plan, nodes.Aggregate):
        shown = group_aggregate_text(plan, reading.retracted.get(plan, ()))
    elif reading is not None and isinstance(plan, windows.WindowRank):
        shown = shown_window_rank_text(plan)
    elif isinstance(plan, ranks.Deduplicate) and not text.is_executed:
        shown = rank_of_deduplicate_text(plan)
    else:
        shown = physical_text(plan, text)
    if is_batch and isinstance(plan, nodes.Values):
        shown = f"{shown.removesuffix(')')}, values=[{', '.join(plan.schema.names) or 'ZERO'}])"
    return _ordered(Operator(shown, plan, tuple(inputs)))


def _ordered(operator: Operator) -> Operator:
    """Return an operator with a Calc that puts the columns of windows where they belong."""
    if not _has_moved_columns(operator.plan):
        return operator
    return Operator(f"Calc(select=[{', '.join(operator.plan.schema.names)}])", operator.plan, (operator,))


def _has_moved_columns(plan: Plan) -> bool:
    """Return whether columns of windows are before the aggregates, behind which Flink has them."""
    return isinstance(plan, windows.WindowAggregate) and bool(plan.calls) and bool(plan.columns)


def _has_all_columns(plan: Plan) -> bool:
    """Return whether a projection only reorders all columns of a table; groups of rows have no such one."""
    return (
        isinstance(plan, nodes.Project)
        and isinstance(plan.input, nodes.Scan)
        and reads_all(plan.input)
        and plan.input.schema.names == plan.input.table_schema.names
        and sorted(plan.names) == sorted(plan.input.schema.names)
        and all(
            isinstance(each, InputReference) and plan.input.schema.names[each.index] == name
            for each, name in zip(plan.expressions, plan.names, strict=True)
        )
    )


def physical_text(plan: Plan, text: PrefixText = expression_text) -> str:
    """Return an operation as plans that are executed show it, and messages about them, with columns by name."""
    found = _DESCRIPTIONS.get(type(plan))
    if found is not None:
        return found(plan)
    described = _WITH_EXPRESSIONS.get(type(plan))
    return node_text(plan).removeprefix("Logical") if described is None else described(plan, text)


def _expanded(plan: windows.WindowAggregate, rows: Operator) -> Operator:
    """Return the rows of an aggregation once per grouping set, which its operator makes of them."""
    expand = aggregates.Expand(plan.input, plan.keys, plan.grouping_sets, plan.set_numbers)
    return Operator(expand_text(expand), rows.plan, (rows,))


def _read(plan: nodes.Scan, reading: ScanDescriptions, text: PrefixText) -> Operator:
    """Return the operators that read the columns of a table."""
    rows = _table(plan, read_table(plan, reading, text))
    if not reads_all(plan) or plan.schema.names == plan.table_schema.names:
        return rows
    return Operator(f"Calc(select=[{', '.join(plan.schema.names)}])", plan, (rows,))


def _table(plan: nodes.Scan, table: ReadTable) -> Operator:
    *above, scan = table.texts
    found = Operator(scan, plan, (), table.dropping)
    found = Operator("DropUpdateBefore", plan, (found,)) if table.dropping else found
    for each in reversed(above):
        found = Operator(each, plan, (found,))
    return found


def _exchange(rows: Operator, columns: Sequence[int], plan: Plan | None = None) -> Operator:
    names = (plan or rows.plan).schema.names
    distribution = f"hash[{', '.join(names[column] for column in columns)}]" if columns else "single"
    return Operator(f"Exchange(distribution=[{distribution}])", rows.plan, (rows,))


def _calc(plan: Plan, reading: ScanDescriptions | None, text: PrefixText) -> Operator:
    """Return projections and filters above each other as one operator; none if they change nothing but names."""
    steps: list[Plan] = []
    below = plan
    while isinstance(below, nodes.Project | nodes.Filter):
        steps.insert(0, below)
        below = below.input
    columns: list[Expression] = [InputReference(place, each) for place, each in enumerate(below.schema.types)]
    conditions: list[Expression] = []
    for step in steps:
        if isinstance(step, nodes.Project):
            columns = [substituted(each, columns) for each in step.expressions]
        elif isinstance(step, nodes.Filter):
            conditions += [substituted(each, columns) for each in conjuncts(step.condition)]
    names = distinct_names(below.schema.names)
    places = [getattr(each, "index", None) for each in columns]
    if not conditions and places == list(range(len(names))):
        return replace(operators(below, reading, text), plan=plan)
    if isinstance(below, nodes.Scan):
        table = read_table(below, reading or NO_TABLES, text, [*columns, *conditions])
        columns, conditions = ([table.of_computed(each) for each in some] for some in (columns, conditions))
        rows, names = _table(below, table), list(table.names)
        if len(table.texts) == 1 and not table.dropping:
            rows = replace(rows, text=chosen_rows(below, rows.text, conditions, names))
        if not conditions and len(table.texts) == 1 and _is_projection(below, columns, plan.schema.names):
            rows = Operator(scan_text(below, plan.schema.names), below, (), table.dropping)
            dropped = Operator("DropUpdateBefore", plan, (rows,)) if table.dropping else rows
            return replace(dropped, plan=plan)
    else:
        rows = operators(below, reading, text)
        rows = rows.inputs[0] if _has_moved_columns(below) else rows
    if reading is not None:
        conditions = needed_conditions(conditions)
        columns = known_columns(columns, conditions)
    shown = [_selected(each, name, names, text) for each, name in zip(columns, plan.schema.names, strict=True)]
    where = joined_ranges(conditions, lambda each: text(each, names), text.has_types)
    condition = f", where=[{all_of_text(where, text)}]" if where else ""
    found = None if rows.distribution is None else [places.index(each) for each in rows.distribution if each in places]
    kept = None if found is None or len(found) < len(rows.distribution or ()) else tuple(found)
    return Operator(f"Calc(select=[{', '.join(shown)}]{condition})", plan, (rows,), distribution=kept)


def _is_projection(scan: nodes.Scan, columns: Sequence[Expression], names: Sequence[str]) -> bool:
    """Return whether the source of a table itself reads some columns, in an order."""
    return is_projected(scan) and len(set(names)) == len(names) and _are_columns(columns, scan.schema.names, names)


def _are_columns(columns: Sequence[Expression], names: Sequence[str], wanted: Sequence[str]) -> bool:
    return all(
        isinstance(each, InputReference) and names[each.index] == name
        for each, name in zip(columns, wanted, strict=True)
    )


def _selected(expression: Expression, name: str, names: Sequence[str], text: PrefixText) -> str:
    shown = text(expression, names)
    return shown if shown == name else f"{shown} AS {name}"


def _values(plan: nodes.Values, text: PrefixText) -> str:
    """Return rows as text, with their type where constants have types."""
    written, names = value_rows(plan), plan.schema.names
    rows = ", ".join(f"{{ {values_text(row)} }}" for row in written) if names else "{ 0 }"
    kind = record_text(plan.schema) if names else "RecordType(INTEGER ZERO)"
    shown = f"type=[{kind}], " if text.has_types else ""
    return f"Values({shown}tuples=[[{rows}]])"


def _normalize(plan: changes.ChangelogNormalize) -> str:
    return f"ChangelogNormalize(key=[{', '.join(plan.schema.names[column] for column in plan.key)}])"


def _union(plan: nodes.SetOperation) -> str:
    names = {"UNION": "Union", "INTERSECT": "Intersect", "EXCEPT": "Minus"}
    kind = f"all=[{str(plan.all).lower()}], "
    return f"{names[plan.kind]}({kind}union=[{', '.join(plan.schema.names)}])"


def _correlate(plan: nodes.Unnest | nodes.TableFunctionScan, text: PrefixText) -> str:
    row = f"$cor{sum(isinstance(each, nodes.Unnest | nodes.TableFunctionScan) for each in nodes.walk(plan.input))}"
    names, kind = [f"{row}.{name}" for name in plan.input.schema.names], "LEFT" if plan.outer else "INNER"
    condition = None
    if isinstance(plan, nodes.Unnest):
        function = "$UNNEST_ROWS_WITH_ORDINALITY$1" if plan.ordinality else "$UNNEST_ROWS$1"
        invocation, condition = f"{function}({text(plan.collection, names)})", plan.condition
    else:
        invocation = text(plan.call, names)
    shown = "" if condition is None else f", condition=[{expression_text(shifted(condition, -len(names)))}]"
    return (
        f"Correlate(invocation=[{invocation}], correlate=[table({invocation})], "
        f"select=[{','.join(plan.schema.names)}], rowType=[{record_text(plan.schema)}], joinType=[{kind}]{shown})"
    )


def _limit(plan: nodes.Limit) -> str:
    if isinstance(plan.input, nodes.Sort):
        return node_text(plan).removeprefix("Logical")
    fetch = [] if plan.fetch is None else [f"fetch=[{plan.fetch}]"]
    return f"Limit({', '.join([f'offset=[{plan.offset}]', *fetch])})"


def _sink(plan: nodes.Sink) -> str:
    fields = f"{target_text(plan)}fields=[{', '.join(plan.input.schema.names)}]"
    materialize = ", upsertMaterialize=[true]" if plan.upsert_materialize else ""
    conflict = f", conflictStrategy=[{plan.on_conflict}]" if plan.on_conflict else ""
    return f"Sink(table=[{'.'.join(plan.path)}], {fields}{materialize}{conflict})"


def _changelog_function(plan: ChangelogFunction) -> str:
    return f"ProcessTableFunction({physical_changelog_function_text(plan)})"


_DESCRIPTIONS: dict[type[Plan], Callable[[Any], str]] = {
    aggregates.Expand: expand_text,
    changes.ChangelogNormalize: _normalize,
    aggregates.GlobalGroupAggregate: global_text,
    aggregates.LocalGroupAggregate: local_text,
    nodes.Aggregate: group_aggregate_text,
    nodes.Limit: _limit,
    nodes.Scan: scan_text,
    nodes.SetOperation: _union,
    nodes.Sink: _sink,
    FromChangelog: _changelog_function,
    ToChangelog: _changelog_function,
    nodes.WindowTable: table_window_text,
    over.NonTimeOverAggregate: over_aggregate_text,
    over.OverAggregate: over_aggregate_text,
    ranks.Deduplicate: deduplicate_text,
    ranks.Rank: rank_text,
    ranks.TemporalSort: temporal_sort_text,
    changes.ReplicateRows: replicate_text,
    windows.GroupWindowAggregate: group_window_text,
    windows.SessionTable: session_table_text,
    windows.WindowAggregate: window_aggregate_text,
    windows.WindowDeduplicate: window_rank_text,
    windows.WindowRank: window_rank_text,
}

#: Operators that show expressions.
_WITH_EXPRESSIONS: dict[type[Plan], Callable[[Any, PrefixText], str]] = {
    joins.EventTimeTemporalJoin: streaming_join_text,
    joins.IntervalJoin: streaming_join_text,
    joins.LookupJoin: lookup_join_text,
    joins.RegularJoin: streaming_join_text,
    joins.WindowJoin: streaming_join_text,
    PatternMatch: physical_match_text,
    MLPredict: lambda plan, text: f"MLPredictTableFunction({predict_text(plan)})",
    ProcessTableFunction: lambda plan, text: f"ProcessTableFunction({process_text(plan, text)})",
    nodes.TableFunctionScan: _correlate,
    nodes.Unnest: _correlate,
    nodes.Values: _values,
    VectorSearch: search_text,
}


def _join_keys(plan: joins.StreamingJoin) -> list[list[int]]:
    return [[key.left for key in plan.keys], [key.right for key in plan.keys]]


def _rank_keys(plan: windows.WindowRank) -> list[tuple[int, ...]]:
    return [keys_without_window(plan)]


def _set_keys(plan: ProcessTableFunction) -> list[tuple[int, ...] | None]:
    return [each.partition_by if each.is_set else None for each in plan.tables] or [None]


#: By which columns operators need each of their inputs; None for rows that stay where they are.
_KEYS: dict[type[Plan], Callable[[Any], Sequence[Sequence[int] | None]]] = {
    aggregates.GlobalGroupAggregate: lambda plan: [plan.keys],
    changes.ChangelogNormalize: lambda plan: [plan.key],
    joins.EventTimeTemporalJoin: _join_keys,
    joins.IntervalJoin: _join_keys,
    joins.RegularJoin: _join_keys,
    joins.WindowJoin: _join_keys,
    PatternMatch: lambda plan: [plan.partition_by],
    ProcessTableFunction: _set_keys,
    nodes.Aggregate: lambda plan: [plan.keys],
    nodes.Limit: lambda plan: [()],
    over.NonTimeOverAggregate: lambda plan: [plan.partition_by],
    over.OverAggregate: lambda plan: [plan.partition_by],
    ranks.Deduplicate: lambda plan: [plan.keys],
    ranks.Rank: lambda plan: [plan.partition_by],
    ranks.TemporalSort: lambda plan: [()],
    windows.GroupWindowAggregate: lambda plan: [plan.keys],
    windows.SessionTable: lambda plan: [plan.keys],
    windows.WindowAggregate: lambda plan: [plan.keys],
    windows.WindowDeduplicate: _rank_keys,
    windows.WindowRank: _rank_keys,
}
