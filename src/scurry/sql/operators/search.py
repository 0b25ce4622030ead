"""VECTOR_SEARCH in STREAMING: batches of rows, those whose searches overlap in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.connectors.vectors.contract import VectorSearchSource
from scurry.graph import operators as ops
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.vectors import vector_search_of
from scurry.sql.evaluation.searching import Searcher
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.models.settings import PredictSettings
from scurry.sql.operators.predict import changes_of_calls
from scurry.sql.plan.models import VectorSearch
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering

_NAME = "VectorSearchTableFunction"


def lower_vector_search(lowering: Lowering, plan: VectorSearch) -> Node:
    """Return the node that searches a table, where its rows are."""
    source = vector_search_of(lowering.source_of(plan.table), *plan.request)
    function = SearchRows(without_inputs(plan), source, lowering.session)
    rows = lowering.node(plan.input)
    if not source.is_async:
        return lowering.operator(rows, ops.FlatMap(function), _NAME)
    settings = PredictSettings.of_search(plan.config, lowering.session)
    # The searches of all batches share one limit; as many batches as searches, because a batch may have one row.
    wait = ops.AsyncWait(function, 0, settings.capacity, None, settings.is_ordered)
    return lowering.operator(rows, wait, _NAME)


class SearchRows:
    """Searches a table for batches of rows."""

    def __init__(self, plan: VectorSearch, source: VectorSearchSource, session: EvaluationContext) -> None:
        self._plan = plan
        self._source = source
        self._session = session

    def open(self, context: Any) -> None:
        """Prepare searches."""
        self._searcher = Searcher(self._plan, self._source, self._session)
        self._searcher.open()

    def close(self) -> None:
        self._searcher.close()

    def flat_map(self, changes: Changes) -> list[Changes]:
        return changes_of_calls(changes, *self._searcher.searched(changes.batch))

    async def async_invoke(self, changes: Changes) -> list[Changes]:
        return changes_of_calls(changes, *await self._searcher.run_async(changes.batch))
