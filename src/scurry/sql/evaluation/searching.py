"""VECTOR_SEARCH: rows with the rows of a table whose vectors are nearest to theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.common._event_loop import EventLoopThread
from scurry.connectors.vectors.contract import Nearest, VectorSearchSource, WrongVectorError
from scurry.errors import ScurryError
from scurry.sql.evaluation.batch.batches import batch_of, concatenated, taken
from scurry.sql.evaluation.batch.joining import outer_positions
from scurry.sql.evaluation.expressions import compile_expressions, row_of
from scurry.sql.evaluation.overlapping import overlapping, timed
from scurry.sql.evaluation.row_wise import compile_row_wise
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.models.settings import PredictSettings
from scurry.sql.plan.models import VectorSearch
from scurry.sql.plan.nodes import Project
from scurry.sql.plan.rewriting import without_inputs
from scurry.sql.plan.schema import Column, Schema


@dataclass(frozen=True)
class _Called:
    """A search as messages name it."""

    name: str
    origin: str


class Searcher:
    """Searches a table for batches of rows; a task makes its own."""

    def __init__(
        self,
        plan: VectorSearch,
        source: VectorSearchSource,
        session: EvaluationContext,
        check: Callable[[], None] | None = None,
    ) -> None:
        """Describe the searches.

        Args:
            plan: The node; of its input only the columns matter.
            source: Source that is searched.
            check: Called often; what it raises ends the searches.
        """
        self._plan = plan
        self._source = source
        self._session = session
        self._check = check
        self._settings = PredictSettings.of_search(plan.config, session)
        table = plan.request.table
        self._called = _Called(f"VECTOR_SEARCH of {table}", f"VECTOR_SEARCH(TABLE {table}, ...)")
        self._loop: EventLoopThread | None = None

    @property
    def is_async(self) -> bool:
        """Return whether searches overlap."""
        return self._source.is_async

    def open(self) -> None:
        """Prepare searches."""
        self._query = compile_expressions([self._plan.query], self._session)
        self._vector = Schema((Column("vector", self._plan.query.type),))
        steps, right = [], self._plan.right
        while isinstance(right, Project):
            steps.append(compile_row_wise(without_inputs(right), self._session))
            right = right.input
        self._steps, self._read = steps[::-1], right.schema
        self._places = asyncio.Semaphore(self._settings.capacity)
        self._source.open()

    def close(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
        self._source.close()

    def run(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a batch with the nearest rows of the table."""
        if not self.is_async:
            return self.searched(batch)[0]
        if self._loop is None:
            self._loop = EventLoopThread("vector searches")
        return self._loop.run(self.run_async(batch), self._check)[0]

    def searched(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        """Return the rows of a batch with the nearest rows of the table, and the positions of the rows."""
        vectors = self._vectors(batch)
        try:
            found = self._source.search(vectors, self._plan.top_k)
        except WrongVectorError as error:
            self._fail(error, batch, error.position)
        except Exception as error:
            self._fail(error, batch, None)
        return self._joined(batch, found)

    async def run_async(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        """Return the same as `searched`, of a table whose searches overlap."""
        vectors = self._vectors(batch).to_pylist()
        asked = [place for place, vector in enumerate(vectors) if vector is not None]
        found = await overlapping((self._ask(batch, place, vectors[place]) for place in asked), self._places)
        positions = np.repeat(np.asarray(asked, dtype=np.int64), [each.rows.num_rows for each in found])
        rows = concatenated((batch_of(each.rows.columns, self._read, each.rows.num_rows) for each in found), self._read)
        scores = pa.concat_arrays([pa.array([], pa.float64()), *(each.scores for each in found)])
        return self._joined(batch, Nearest(pa.array(positions), rows, scores))

    async def _ask(self, batch: pa.RecordBatch, place: int, vector: Any) -> Nearest:
        try:
            call = self._source.search_async(vector, self._plan.top_k)
            return await timed(call, self._settings.timeout, [vector])
        except Exception as error:
            self._fail(error, batch, place)

    def _vectors(self, batch: pa.RecordBatch) -> pa.Array:
        (column,) = batch_of(self._query(batch), self._vector, batch.num_rows).columns
        return column

    def _fail(self, error: Exception, batch: pa.RecordBatch, place: int | None) -> NoReturn:
        if isinstance(error, ScurryError):
            raise error
        row = None if place is None else row_of(batch, place)
        raise function_error(self._called, error, row) from error

    def _joined(self, batch: pa.RecordBatch, found: Nearest) -> tuple[pa.RecordBatch, Any]:
        plan = self._plan
        rows = batch_of(found.rows.columns, self._read, found.rows.num_rows)
        for step in self._steps:
            rows = step(rows)
        columns = [*rows.columns, *([found.scores] if plan.has_score else [])]
        places = np.asarray(found.positions, dtype=np.int64)
        if plan.outer:
            places, within = outer_positions(batch.num_rows, places)
            columns = [each.take(within) for each in columns]
        kept = taken(batch, places)
        return batch_of([*kept.columns, *columns], plan.schema, len(places)), places
