"""ML_PREDICT: rows with the predictions of a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.common._event_loop import EventLoopThread
from scurry.connectors.lookup_cache import LookupCache
from scurry.errors import OperatorError
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.evaluation.overlapping import overlapping, timed
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.models.contract import ModelContext, PredictFunction, Row
from scurry.sql.models.factories import create_function
from scurry.sql.models.settings import PredictSettings
from scurry.sql.plan import calls
from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.models import MLPredict, PlannedModel
from scurry.sql.values.arguments import python_values
from scurry.sql.values.results import ResultColumn

Found = Sequence[Row]


def context_of(model: PlannedModel) -> ModelContext:
    """Return a model of a plan as its provider sees it."""
    return ModelContext(
        model.name,
        tuple((column.name, column.type) for column in model.inputs),
        tuple((column.name, column.type) for column in model.outputs),
        dict(model.options),
    )


def is_async(model: PlannedModel) -> bool:
    """Return whether the calls of a model overlap."""
    return create_function(context_of(model)).is_async


@dataclass(frozen=True)
class _Called:
    """A model as messages name it."""

    name: str
    origin: str


class Predictor:
    """Calls a model for batches of rows; a task makes its own."""

    def __init__(self, plan: MLPredict, session: EvaluationContext, check: Callable[[], None] | None = None) -> None:
        """Describe the calls.

        Args:
            plan: The node; of its input only the columns matter.
            check: Called often; what it raises ends the calls.
        """
        self._plan = plan
        self._session = session
        self._check = check
        self._settings = PredictSettings.of(plan.config, session)
        provider = dict(plan.model.options).get("provider")
        self._called = _Called(f"MODEL {plan.model.name}", f"CREATE MODEL, with the provider '{provider}'")
        self._function: PredictFunction = create_function(context_of(plan.model))
        self._loop: EventLoopThread | None = None

    @property
    def is_async(self) -> bool:
        """Return whether calls overlap."""
        return self._function.is_async

    def open(self) -> None:
        """Open the function of the model."""
        plan = self._plan
        inputs = [
            calls.converted(InputReference(place, plan.input.schema[place].type), wanted.type, self._session)
            for place, wanted in zip(plan.features, plan.model.inputs, strict=True)
        ]
        self._inputs = compile_expressions(inputs, self._session)
        self._outputs = [ResultColumn(column.type) for column in plan.model.outputs]
        self._cache = None if self._function.cache is None else LookupCache[Row](self._function.cache)
        self._places = asyncio.Semaphore(self._settings.capacity)
        try:
            self._function.open()
        except Exception as error:
            raise function_error(self._called, error) from error

    def close(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
        self._function.close()

    def run(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a batch with the predictions of the model."""
        if not self.is_async:
            return self.predicted(batch)[0]
        if self._loop is None:
            self._loop = EventLoopThread("calls of models")
        return self._loop.run(self.run_async(batch), self._check)[0]

    async def run_async(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        """Return the rows of a batch with the predictions of the model, and the positions of the rows."""
        asked = _Asked(self._rows(batch), self._cache, self._function.batch_size)
        await overlapping((self._answer(asked, each) for each in asked.requests), self._places)
        return self._joined(batch, asked)

    def predicted(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        """Return the same as `run_async`, of a model whose calls do not overlap."""
        asked = _Asked(self._rows(batch), self._cache, self._function.batch_size)
        for request in asked.requests:
            if self._check is not None:
                self._check()
            rows = [asked.rows[group[0]] for group in request]
            try:
                found = self._function.predict(rows)
            except Exception as error:
                raise self._failed(error, rows) from error
            asked.answered(request, found)
        return self._joined(batch, asked)

    async def _answer(self, asked: _Asked, request: list[list[int]]) -> None:
        rows = [asked.rows[group[0]] for group in request]
        values = rows[0] if len(rows) == 1 else rows
        try:
            found = await timed(self._function.predict_async(rows), self._settings.timeout, values)
        except Exception as error:
            raise self._failed(error, rows) from error
        asked.answered(request, found)

    def _failed(self, error: Exception, rows: Sequence[Row]) -> OperatorError:
        return error if isinstance(error, OperatorError) else function_error(self._called, error, tuple(rows[0]))

    def _rows(self, batch: pa.RecordBatch) -> list[Row]:
        zone = self._session.time_zone
        columns = [
            python_values(column, wanted.type, zone)
            for column, wanted in zip(self._inputs(batch), self._plan.model.inputs, strict=True)
        ]
        return list(zip(*columns, strict=True)) if columns else [()] * batch.num_rows

    def _joined(self, batch: pa.RecordBatch, asked: _Asked) -> tuple[pa.RecordBatch, Any]:
        order = range(len(asked.rows)) if self._settings.is_ordered else asked.order
        positions = [position for position in order for _ in asked.found[position] or ()]
        rows = [row for position in order for row in asked.found[position] or ()]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self._outputs)
        outputs = [self._column(to, values) for to, values in zip(self._outputs, columns, strict=True)]
        places = np.asarray(positions, dtype=np.int64)
        kept = taken(batch, places)
        return batch_of([*kept.columns, *outputs], self._plan.schema, len(places)), places

    def _column(self, to_column: ResultColumn, values: Sequence[Any]) -> pa.Array:
        try:
            return to_column(values)
        except Exception as error:
            place, reason = to_column.misfit(values) or (0, error)
            raise function_error(
                self._called, reason if isinstance(reason, Exception) else error, values[place]
            ) from error


class _Asked:
    """The rows of a batch, and their answers so far.

    Attributes:
        rows: What the model takes of each row.
        found: What it returned for each of them; None as long as it has not.
        order: The positions of the rows in the order of their answers.
        requests: The calls that are needed, each of groups of positions whose rows are the same.
    """

    def __init__(self, rows: list[Row], cache: LookupCache[Row] | None, batch_size: int | None) -> None:
        self.rows = rows
        self.found: list[Found | None] = [None] * len(rows)
        self.order: list[int] = []
        self._cache = cache
        groups = [[position] for position in range(len(rows))] if cache is None else self._unknown(cache)
        size = batch_size or max(len(groups), 1)
        self.requests = [groups[first : first + size] for first in range(0, len(groups), size)]

    def _unknown(self, cache: LookupCache[Row]) -> list[list[int]]:
        """Answer rows that the cache knows; return the positions of other rows, those of equal rows together."""
        groups: dict[Hashable, list[int]] = {}
        for position, row in enumerate(self.rows):
            key = _hashable(row)
            if key in groups:
                groups[key].append(position)
            elif (known := cache.get(key)) is not None:
                self._answered([position], known)
            else:
                groups[key] = [position]
        return list(groups.values())

    def answered(self, request: list[list[int]], found: Sequence[Found]) -> None:
        """Note the answers of a call."""
        for group, rows in zip(request, found, strict=True):
            if self._cache is not None:
                self._cache.put(_hashable(self.rows[group[0]]), rows)
            self._answered(group, rows)

    def _answered(self, positions: list[int], rows: Found) -> None:
        for position in positions:
            self.found[position] = rows
        self.order += positions


def _hashable(value: Any) -> Hashable:
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(_hashable, value))
    if isinstance(value, dict):
        return frozenset((_hashable(key), _hashable(each)) for key, each in value.items())
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return (type(value).__name__, value)
