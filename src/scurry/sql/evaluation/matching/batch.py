"""MATCH_RECOGNIZE over all rows of a bounded input."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np
import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.sql.evaluation.matching.matcher import Matcher
from scurry.sql.evaluation.times import milliseconds
from scurry.sql.evaluation.user_functions.arguments import check_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.plan.matching import Match

#: The last watermark.
_END_OF_TIME: Final = (1 << 63) - 1


def matched(plan: Match, batch: pa.RecordBatch, session: EvaluationContext) -> pa.RecordBatch:
    """Return a row for each match.

    Args:
        plan: The operation.
        batch: All rows.
        session: The session.

    Raises:
        EvaluationError: A row has no time, or a condition or measure no value.
    """
    matcher = Matcher(plan, session)
    keys = [batch.column(key) for key in plan.partition_by]
    group_ids, first = group_ids_of(keys, batch.num_rows)
    times = times_of(plan, batch)
    found = []
    check = check_of(session)
    for rows in matcher.ordered(batch, times, group_ids, np.zeros(len(first) + 1, dtype=bool)):
        found += matcher.run(matcher.nfa.initial_state(), rows, _END_OF_TIME, _now, check)
    return matcher.program.results(found)


def times_of(plan: Match, batch: pa.RecordBatch) -> Any:
    """Return the times of rows, in milliseconds.

    Raises:
        EvaluationError: A row has none.
    """
    column = batch.column(plan.order_by[0].index)
    if column.null_count:
        raise EvaluationError("RowTime field should not be null, please convert it to a non-null long value.")
    return np.asarray(milliseconds(column))


def _now() -> int:
    return time.time_ns() // 1_000_000
