"""The lookup join: rows of a table that is asked by key."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.graph import operators as ops
from scurry.graph.nodes import Node
from scurry.sql.connectors.contract import Changes, LookupSource
from scurry.sql.evaluation.batch.batches import batch_of, concatenated, taken
from scurry.sql.evaluation.batch.joining import outer_positions
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.joins.rows import with_null_key
from scurry.sql.plan.physical.joins import LookupJoin as LookupJoinNode
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.sql.operators.lowering import Lowering


def lower_lookup_join(lowering: Lowering, plan: LookupJoinNode) -> Node:
    """Return the node that joins, where the left rows are."""
    names = plan.table.schema.names
    lookup = lowering.source_of(plan.table).create_lookup([names[column] for _, column in plan.keys], names)
    assert lookup is not None, "only tables with lookups are joined by lookup"
    function = LookupJoin(without_inputs(plan), lookup, lowering.session)
    return lowering.operator(lowering.node(plan.input), ops.FlatMap(function), "LookupJoin")


class LookupJoin:
    """Join rows with the rows of a table that have their keys."""

    def __init__(self, plan: LookupJoinNode, lookup: LookupSource, session: EvaluationContext) -> None:
        self._plan = plan
        self._lookup = lookup
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the expressions, and prepare lookups."""
        plan = self._plan
        self._condition = None if plan.condition is None else compile_expressions([plan.condition], self._session)
        self._columns = compile_expressions(plan.columns, self._session)
        self._rest = None if plan.rest is None else compile_expressions([plan.rest], self._session)
        self._both = plan.input.schema + plan.right_schema
        self._lookup.open()

    def close(self) -> None:
        self._lookup.close()

    def flat_map(self, changes: Changes) -> list[Changes]:
        """Return rows with the rows that the table has for them now."""
        batch, schema = changes.batch, self._plan.schema
        places, found = self._found(batch)
        pairs = batch_of([*taken(batch, places).columns, *found.columns], self._both, len(places))
        if self._rest is not None:
            held = np.flatnonzero(self._rest.mask(pairs))
            places, pairs = places[held], taken(pairs, held)
        columns = list(pairs.columns)
        if self._plan.kind == "LEFT":
            places, within = outer_positions(batch.num_rows, places)
            width = len(self._plan.input.schema)
            columns = [*taken(batch, places).columns, *(each.take(within) for each in columns[width:])]
        if not len(places):
            return []
        kinds = None if changes.kinds is None else np.asarray(changes.kinds)[places]
        return [Changes(batch_of(columns, schema, len(places)), kinds)]

    def _asked(self, keys: pa.RecordBatch) -> tuple[Any, pa.RecordBatch]:
        """Return the rows of the table for keys, and for each row the position of its key; ask again for misses."""
        schema, retry = self._plan.table.schema, self._plan.retry
        # NULL equals nothing, whenever one asks.
        missing = np.flatnonzero(~with_null_key(keys, range(keys.num_columns)))
        places, found = [], []
        for attempt in range(1 if retry is None else 1 + retry.retries):
            if attempt and retry is not None:
                time.sleep(retry.delay / 1000)
            positions, rows = self._lookup.lookup(taken(keys, missing))
            places.append(missing[np.asarray(positions, dtype=np.int64)])
            found.append(batch_of(rows.columns, schema, rows.num_rows))
            missing = np.setdiff1d(missing, places[-1])
            if not len(missing):
                break
        if len(found) == 1:
            return places[0], found[0]
        order = np.argsort(np.concatenate(places), kind="stable")
        return np.concatenate(places)[order], taken(concatenated(found, schema), order)

    def _found(self, batch: pa.RecordBatch) -> tuple[Any, pa.RecordBatch]:
        """Return the rows of the table, and for each of them the position of the row whose key it has."""
        plan = self._plan
        columns = [batch.column(key) for key, _ in plan.keys]
        asked = plan.table.schema.select([column for _, column in plan.keys])
        places, rows = self._asked(batch_of(columns, asked, batch.num_rows))
        if self._condition is not None:
            held = np.flatnonzero(self._condition.mask(rows))
            places, rows = places[held], taken(rows, held)
        return places, batch_of(self._columns(rows), plan.right_schema, rows.num_rows)
