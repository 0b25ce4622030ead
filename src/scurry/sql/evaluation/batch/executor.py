"""Execution of a plan on bounded input, one node after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.connectors.vectors.contract import VectorSearchSource
from scurry.errors import UnsupportedError
from scurry.sql.evaluation.batch.aggregating import aggregated
from scurry.sql.evaluation.batch.batches import batch_of, concatenated, empty, nulls, sorted_positions, taken
from scurry.sql.evaluation.batch.joining import Pairs, cross_pairs, equal_pairs
from scurry.sql.evaluation.batch.over import over_columns
from scurry.sql.evaluation.changelog_functions import rows_left
from scurry.sql.evaluation.expressions import CompiledExpressions, compile_expressions
from scurry.sql.evaluation.process.batch import processed
from scurry.sql.evaluation.row_wise import compile_row_wise
from scurry.sql.evaluation.user_functions.arguments import check_of, checked, pieces
from scurry.sql.evaluation.user_functions.opened import OpenFunctions, job_parameters
from scurry.sql.evaluation.user_functions.table_aggregate import table_aggregated
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import compared_codes, group_ids_of, joint_codes
from scurry.sql.functions.user.context import FunctionContext
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.changelog_functions import FromChangelog, ToChangelog, of_insertions
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.join_keys import EqualColumns, split_condition
from scurry.sql.plan.matching import PatternMatch
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.rewriting import user_functions_of
from scurry.sql.plan.schema import Schema

if TYPE_CHECKING:
    from scurry.sql.evaluation.predicting import Predictor
    from scurry.sql.evaluation.searching import Searcher

ReadTable = Callable[[nodes.Scan], Iterator[pa.RecordBatch]]
SearchOf = Callable[[VectorSearch], VectorSearchSource]
Batches = Iterator[pa.RecordBatch]

#: About how many pairs of rows a join looks at in one step.
_PAIRS_AT_ONCE = 262_144
#: The least number of rows that functions on columns get at once, if there are as many.
_ROWS_OF_COLUMNS = 128
#: The least number of rows for which a model is called at once, if there are as many.
_ROWS_OF_CALLS = 1024


def execute_batch(
    plan: Plan,
    session: EvaluationContext,
    read: ReadTable,
    context: FunctionContext | None = None,
    passed: Callable[[Plan, int], None] | None = None,
    check: Callable[[], None] | None = None,
    search: SearchOf | None = None,
) -> Iterator[pa.RecordBatch]:
    """Execute a plan on bounded input.

    Args:
        plan: The plan, as the rules leave it.
        read: Returns the rows of a scan: the columns it names, in that order.
        context: Context for opening user-defined functions; None where only this process runs the plan.
        passed: Called for each batch that an operation passes on, with its node and the number of rows.
        check: Called often; what it raises ends the execution. None if nothing can end it.
        search: Returns what a VECTOR_SEARCH asks; None where plans have it.

    Raises:
        EvaluationError: A function has no result for a value.
        UnsupportedError: BATCH cannot execute the plan.
    """
    functions = OpenFunctions(context or FunctionContext(_job_parameters=job_parameters(session)), check)
    try:
        yield from Executor(replace(session, functions=functions), read, passed, search).run(plan)
    finally:
        functions.close()


class Executor:
    """Executes plans.

    Each operation is a generator of batches, so that rows flow as far as an operation does not need all of them.
    """

    def __init__(
        self,
        session: EvaluationContext,
        read: ReadTable,
        passed: Callable[[Plan, int], None] | None = None,
        search: SearchOf | None = None,
    ) -> None:
        self._session = session
        self._read = read
        self._passed = passed
        self._search_of = search

    def run(self, plan: Plan) -> Batches:
        handler = _HANDLERS.get(type(plan))
        if handler is None:
            raise UnsupportedError(f"{type(plan).__name__} is not supported in BATCH mode")
        for batch in checked(handler(self, plan), self._session):
            if self._passed is not None:
                self._passed(plan, batch.num_rows)
            yield batch

    def whole(self, plan: Plan) -> pa.RecordBatch:
        return concatenated(self.run(plan), plan.schema)

    def _compiled(self, expressions: Sequence[Expression]) -> CompiledExpressions:
        return compile_expressions(expressions, self._session)

    def _scan(self, plan: nodes.Scan) -> Batches:
        for batch in self._read(plan):
            yield batch_of(batch.columns, plan.schema, batch.num_rows)

    def _values(self, plan: nodes.Values) -> Batches:
        single = batch_of([], Schema(), 1)
        flat = [value for row in plan.rows for value in row]
        if not flat:
            yield empty(plan.schema) if len(plan.schema) else batch_of([], plan.schema, len(plan.rows))
            return
        width = len(plan.schema)
        schema = Schema(tuple(plan.schema.columns) * len(plan.rows))
        row = batch_of(self._compiled(flat)(single), schema, 1)
        columns = [pa.concat_arrays(row.columns[place::width]) for place in range(width)]
        yield batch_of(columns, plan.schema, len(plan.rows))

    def _row_wise(self, plan: Plan) -> Batches:
        step = compile_row_wise(plan, self._session)
        for batch in _short_pieces(self.run(plan.inputs[0]), plan, self._session):
            found = step(batch)
            if found.num_rows:
                yield found

    def _join(self, plan: nodes.Join) -> Batches:
        left, right = self.whole(plan.left), self.whole(plan.right)
        equal, residual = split_condition(plan.condition, len(plan.left.schema))
        check = None if residual is None else self._compiled([residual])
        both = plan.left.schema + plan.right.schema
        has_match = np.zeros(left.num_rows, dtype=bool), np.zeros(right.num_rows, dtype=bool)
        for pairs in checked(self._candidates(plan, left, right, equal), self._session):
            one, other = pairs if check is None else _checked(pairs, check, left, right, both)
            has_match[0][one] = has_match[1][other] = True
            if plan.kind not in ("SEMI", "ANTI") and len(one):
                yield _pairs_of(left, right, one, other, plan.schema)
        if plan.kind in ("SEMI", "ANTI"):
            yield taken(left, np.flatnonzero(has_match[0] == (plan.kind == "SEMI")))
        if plan.kind in ("LEFT", "FULL"):
            rest = taken(left, np.flatnonzero(~has_match[0]))
            yield batch_of([*rest.columns, *nulls(plan.right.schema, rest.num_rows)], plan.schema, rest.num_rows)
        if plan.kind in ("RIGHT", "FULL"):
            rest = taken(right, np.flatnonzero(~has_match[1]))
            yield batch_of([*nulls(plan.left.schema, rest.num_rows), *rest.columns], plan.schema, rest.num_rows)

    def _candidates(
        self, plan: nodes.Join, left: pa.RecordBatch, right: pa.RecordBatch, equal: Sequence[EqualColumns]
    ) -> Iterator[tuple[Any, Any]]:
        if equal:
            one = self._compiled([each.left for each in equal])(left)
            other = self._compiled([each.right for each in equal])(right)
            alike = [each.null_equals_null for each in equal]
            yield from equal_pairs(*compared_codes(one, other, alike), _PAIRS_AT_ONCE)
            return
        step = max(_PAIRS_AT_ONCE // max(right.num_rows, 1), 1)
        for first in range(0, left.num_rows, step):
            yield cross_pairs(first, min(first + step, left.num_rows), right.num_rows)

    def _aggregate(self, plan: nodes.Aggregate) -> Batches:
        yield from aggregated(plan, self.whole(plan.input), self._session)

    def _table_aggregate(self, plan: nodes.TableAggregate) -> Batches:
        yield table_aggregated(plan, self.whole(plan.input), self._session)

    def _sort(self, plan: nodes.Sort) -> Batches:
        batch = self.whole(plan.input)
        yield taken(batch, sorted_positions(batch.columns, plan.keys, batch.num_rows))

    def _limit(self, plan: nodes.Limit) -> Batches:
        skip, wanted = plan.offset, plan.fetch
        for batch in self.run(plan.input):
            first = min(skip, batch.num_rows)
            skip -= first
            part = batch.slice(first, wanted)
            if wanted is not None:
                wanted -= part.num_rows
            if part.num_rows:
                yield part
            if wanted == 0:
                return

    def _set_operation(self, plan: nodes.SetOperation) -> Batches:
        if plan.kind == "UNION":
            branches = (batch for branch in plan.branches for batch in self.run(branch))
            renamed = (batch_of(batch.columns, plan.schema, batch.num_rows) for batch in branches)
            if plan.all:
                yield from renamed
                return
            batch = concatenated(renamed, plan.schema)
            _, first = group_ids_of(batch.columns, batch.num_rows)
            yield taken(batch, first)
            return
        left, right = (self.whole(branch) for branch in plan.branches)
        left = batch_of(left.columns, plan.schema, left.num_rows)
        right = batch_of(right.columns, plan.schema, right.num_rows)
        yield taken(left, _kept(plan, left, right))

    def _process(self, plan: ProcessTableFunction) -> Batches:
        found = processed(plan, [self.whole(each) for each in plan.sources], self._session)
        yield empty(plan.schema) if found is None else found

    def _predict(self, plan: MLPredict) -> Batches:
        from scurry.sql.evaluation.predicting import Predictor

        return self._called(plan, Predictor(plan, self._session, check_of(self._session)))

    def _search(self, plan: VectorSearch) -> Batches:
        from scurry.sql.evaluation.searching import Searcher

        source = self._search_of(plan) if plan.source is None and self._search_of is not None else plan.source
        return self._called(plan, Searcher(plan, source, self._session, check_of(self._session)))

    def _called(self, plan: MLPredict | VectorSearch, caller: Predictor | Searcher) -> Batches:
        caller.open()
        try:
            for batch in _filled(self.run(plan.input), plan.input.schema, _ROWS_OF_CALLS):
                yield caller.run(batch)
        finally:
            caller.close()

    def _from_changelog(self, plan: FromChangelog) -> Batches:
        yield rows_left(plan, self.whole(plan.input))

    def _match(self, plan: PatternMatch) -> Batches:
        from scurry.sql.evaluation.matching.matcher import matched

        yield matched(plan, self.whole(plan.input), self._session)

    def _over(self, plan: nodes.Over) -> Batches:
        batch = self.whole(plan.input)
        columns, order = over_columns(plan, batch, self._session)
        batch = taken(batch, order)
        yield batch_of([*batch.columns, *columns], plan.schema, batch.num_rows)


def _filled(batches: Iterable[pa.RecordBatch], schema: Schema, rows: int) -> Batches:
    """Yield batches of at least a number of rows, except the last, so that calls for their rows overlap."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= rows:
            yield concatenated(waiting, schema)
            waiting = []
    if waiting:
        yield concatenated(waiting, schema)


def _short_pieces(batches: Iterable[pa.RecordBatch], plan: Plan, session: EvaluationContext) -> Batches:
    """Yield batches in pieces that take user-defined functions a fraction of a second, so that their rows flow.

    Asynchronous functions get whole batches, so that their calls overlap.
    """
    functions = list(user_functions_of(plan))
    if not functions or any(each.kind == "async scalar" for each in functions):
        yield from batches
        return
    cut = pieces(session, _ROWS_OF_COLUMNS if any(each.is_vectorized for each in functions) else 1)
    for batch in batches:
        for first, rows in cut.of(batch.num_rows):
            yield batch.slice(first, rows)


def _checked(
    pairs: Pairs, check: CompiledExpressions, left: pa.RecordBatch, right: pa.RecordBatch, both: Schema
) -> Pairs:
    """Return the pairs for which the rest of a join's condition is TRUE."""
    positions = np.flatnonzero(check.mask(_pairs_of(left, right, *pairs, both)))
    return pairs[0][positions], pairs[1][positions]


def _pairs_of(left: pa.RecordBatch, right: pa.RecordBatch, one: Any, other: Any, schema: Schema) -> pa.RecordBatch:
    return batch_of([*taken(left, one).columns, *taken(right, other).columns], schema, len(one))


def _kept(plan: nodes.SetOperation, left: pa.RecordBatch, right: pa.RecordBatch) -> Any:
    """Return the positions of the left rows that INTERSECT or EXCEPT keeps."""
    one, other = joint_codes(left.columns, right.columns, [True] * left.num_columns)
    groups = int(max(one.max(initial=-1), other.max(initial=-1))) + 1
    on_right = np.bincount(other, minlength=groups)
    order = np.argsort(one, kind="stable")
    ordered = one[order]
    nth = np.empty(len(one), dtype=np.int64)
    nth[order] = np.arange(len(one)) - np.searchsorted(ordered, ordered, side="left")
    if plan.kind == "INTERSECT":
        keep = nth < on_right[one] if plan.all else (nth == 0) & (on_right[one] > 0)
    else:
        keep = nth >= on_right[one] if plan.all else (nth == 0) & (on_right[one] == 0)
    return np.flatnonzero(keep)


_HANDLERS: dict[type, Callable[[Executor, Any], Batches]] = {
    nodes.Scan: Executor._scan,
    nodes.Values: Executor._values,
    nodes.Project: Executor._row_wise,
    nodes.Filter: Executor._row_wise,
    nodes.Join: Executor._join,
    nodes.Aggregate: Executor._aggregate,
    nodes.TableAggregate: Executor._table_aggregate,
    nodes.Sort: Executor._sort,
    nodes.Limit: Executor._limit,
    nodes.SetOperation: Executor._set_operation,
    nodes.Over: Executor._over,
    MLPredict: Executor._predict,
    VectorSearch: Executor._search,
    FromChangelog: Executor._from_changelog,
    PatternMatch: Executor._match,
    ProcessTableFunction: Executor._process,
    ToChangelog: lambda executor, plan: executor.run(of_insertions(plan)),
    nodes.WindowTable: Executor._row_wise,
    nodes.TableFunctionScan: Executor._row_wise,
    nodes.Unnest: Executor._row_wise,
}
