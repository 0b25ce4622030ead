"""ML_PREDICT in STREAMING: batches of rows in flight, each with its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.graph import operators as ops
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.predicting import Predictor, is_async
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.models.settings import PredictSettings
from scurry.sql.plan.models import MLPredict
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering

_NAME = "MLPredictTableFunction"


def lower_ml_predict(lowering: Lowering, plan: MLPredict) -> Node:
    """Return the node that calls a model, where its rows are."""
    function = PredictRows(without_inputs(plan), lowering.session)
    rows = lowering.node(plan.input)
    if not is_async(plan.model):
        return lowering.operator(rows, ops.FlatMap(function), _NAME)
    settings = PredictSettings.of(plan.config, lowering.session)
    # The calls of all batches share one limit; as many batches as calls, because a batch may have one row.
    wait = ops.AsyncWait(function, 0, settings.capacity, None, settings.is_ordered)
    return lowering.operator(rows, wait, _NAME)


class PredictRows:
    """Calls a model for batches of rows."""

    def __init__(self, plan: MLPredict, session: EvaluationContext) -> None:
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Make the function of the model."""
        self._predictor = Predictor(self._plan, self._session)
        self._predictor.open()

    def close(self) -> None:
        self._predictor.close()

    def flat_map(self, changes: Changes) -> list[Changes]:
        return changes_of_calls(changes, *self._predictor.predicted(changes.batch))

    async def async_invoke(self, changes: Changes) -> list[Changes]:
        return changes_of_calls(changes, *await self._predictor.run_async(changes.batch))


def changes_of_calls(changes: Changes, batch: pa.RecordBatch, positions: Any) -> list[Changes]:
    """Return rows with the answers to them, with the kinds of the rows at some positions."""
    if not batch.num_rows:
        return []
    return [Changes(batch, None if changes.kinds is None else np.asarray(changes.kinds)[positions])]
