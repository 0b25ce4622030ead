"""FROM_CHANGELOG over columns: the kinds that codes stand for, and the rows that changes leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.errors import EvaluationError
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.plan.changelog_functions import FromChangelog

_ADDED = (RowKind.INSERT.value, RowKind.UPDATE_AFTER.value)


def changes_of(plan: FromChangelog, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
    """Return the rows without their codes, and the kinds that these stand for.

    Args:
        plan: The call.
        batch: Rows of its input.

    Raises:
        EvaluationError: A code is NULL, or stands for no kind.
    """
    kinds = _kinds(dict(plan.codes), batch.column(plan.place))
    columns = [column for place, column in enumerate(batch.columns) if place != plan.place]
    return batch_of(columns, plan.schema, batch.num_rows), kinds


def _kinds(kind_of: dict[str, int], codes: pa.Array) -> Any:
    encoded = codes.dictionary_encode()
    if encoded.null_count:
        raise EvaluationError("Received NULL op code. Every changelog row must carry an operation code.").with_hint(
            "filter such rows out before FROM_CHANGELOG"
        )
    texts = encoded.dictionary.to_pylist()
    for text in texts:
        if text not in kind_of:
            raise EvaluationError(
                f"Received invalid op code '{text}'. Defined op codes are: [{', '.join(kind_of)}]."
            ).with_hint("op_mapping says which kinds of changes codes stand for; filter others out before")
    return np.array([kind_of[text] for text in texts], np.int8)[np.asarray(encoded.indices)]


def rows_left(plan: FromChangelog, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows that all changes leave, each as often as it was added more than taken back.

    Args:
        plan: The call.
        batch: All rows of its input.

    Raises:
        EvaluationError: A code is NULL, or stands for no kind.
    """
    rows, kinds = changes_of(plan, batch)
    is_added = np.isin(kinds, _ADDED)
    if is_added.all():
        return rows
    groups, first = group_ids_of(rows.columns, rows.num_rows)
    left = np.bincount(groups, weights=np.where(is_added, 1, -1), minlength=len(first)).astype(np.int64)
    added = np.flatnonzero(is_added)
    order = added[np.argsort(groups[added], kind="stable")]
    ordered = groups[order]
    nth = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, side="left")
    return taken(rows, np.sort(order[nth < left[ordered]]))
