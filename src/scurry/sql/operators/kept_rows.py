"""Rows that operators keep in the state of a key: small pieces as tuples of values, large ones as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.sql.connectors.contract import Changes
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values

#: Some rows: a tuple of values for each, or columns of Arrow.
Piece: TypeAlias = "Changes | list[tuple[Any, ...]]"

#: Fewer rows than this are kept as values: columns of Arrow take a few hundred bytes more, and longer to pickle.
_COLUMNAR = 64


def pieces(batch: pa.RecordBatch, bounds: Sequence[tuple[int, int]]) -> list[Piece]:
    """Return a piece for each range of rows of a batch."""
    found: list[Piece] = []
    rows: list[tuple[Any, ...]] | None = None
    for start, stop in bounds:
        if stop - start >= _COLUMNAR:
            found.append(Changes(batch.slice(start, stop - start)))
            continue
        if rows is None:
            rows = list(zip(*map(to_values, batch.columns), strict=True))
        found.append(rows[start:stop])
    return found


def length_of(piece: Piece) -> int:
    """Return the number of rows of a piece."""
    return piece.batch.num_rows if isinstance(piece, Changes) else len(piece)


def joined(kept: Iterable[Piece], schema: Schema) -> pa.RecordBatch:
    """Return the rows of some pieces as one batch, in their order.

    Args:
        schema: The columns of all of them, at least one.
    """
    kept = list(kept)
    rows = [row for piece in kept if not isinstance(piece, Changes) for row in piece]
    values = zip(*rows, strict=True) if rows else [()] * len(schema)
    columns = [from_values(list(some), arrow_type(column.type)) for some, column in zip(values, schema, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, names=list(schema.names))
    large = [piece.batch for piece in kept if isinstance(piece, Changes)]
    if not large:
        return batch
    columns = [
        pa.concat_arrays([column, *(each.column(place) for each in large)])
        for place, column in enumerate(batch.columns)
    ]
    whole = pa.RecordBatch.from_arrays(columns, names=list(schema.names))
    return whole.take(pa.array(_places(kept, batch.num_rows)))


def _places(kept: Sequence[Piece], small: int) -> Any:
    """Return where the rows of pieces are if those of small pieces come first, `small` in number."""
    at = [0, small]
    indices = []
    for piece in kept:
        rows, is_large = length_of(piece), isinstance(piece, Changes)
        indices.append(np.arange(at[is_large], at[is_large] + rows))
        at[is_large] += rows
    return np.concatenate(indices)


def runs_of(group_ids: Any) -> list[tuple[int, int, int]]:
    """Return for each run of equal numbers: the number, where it begins, and where it has ended."""
    if not len(group_ids):
        return []
    starts = np.flatnonzero(np.r_[True, group_ids[1:] != group_ids[:-1]])
    stops = [*starts[1:].tolist(), len(group_ids)]
    return list(zip(group_ids[starts].tolist(), starts.tolist(), stops, strict=True))
