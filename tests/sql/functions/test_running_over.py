"""State of unbounded OVER that an earlier version kept."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.over.running import Runs, running
from scurry.sql.plan.expressions import AggregateCall, InputReference
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.plan.windows import Frame, FrameBound, WindowCall
from scurry.sql.types import DecimalType

_NUMBER = DecimalType(10, 2)
_SUM = DecimalType(38, 2)


def test_a_sum_of_no_decimals_that_was_kept_as_null_is_continued() -> None:
    frame = Frame("ROWS", FrameBound("UNBOUNDED PRECEDING"), FrameBound("CURRENT ROW"))
    call = WindowCall(AggregateCall("SUM", (InputReference(0, _NUMBER),), _SUM), (), (), frame, _SUM)
    batch = pa.record_batch([pa.array([None, Decimal("1.50"), Decimal("2.00")], pa.decimal128(10, 2))], names=["v"])
    runs = Runs(batch, np.zeros(3, dtype=np.int64), np.arange(3), [(0, 3)])
    values, kept = running(call, Schema((Column("v", _NUMBER),)), EvaluationContext()).values(runs, [(None, 0)])
    assert values.to_pylist() == [None, Decimal("1.50"), Decimal("3.50")]
    assert kept == [(Decimal("3.50"), 2)]
