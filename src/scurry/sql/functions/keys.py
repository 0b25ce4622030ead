"""Encoding of rows as integers, equal for equal rows, for grouping and joining."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.types.arrow import as_array
from scurry.sql.types.values import to_values

NULL_CODE = -1


def codes_of(column: pa.Array) -> np.ndarray[Any, Any]:
    """Assign numbers to the values of a column in the order in which they first occur; NULL is -1."""
    column = as_array(column)
    if pa.types.is_null(column.type):
        return np.full(len(column), NULL_CODE, dtype=np.int64)
    if pa.types.is_nested(column.type):
        return _codes_of_objects(column)
    encoded = column.dictionary_encode()
    return np.asarray(encoded.indices.fill_null(NULL_CODE), dtype=np.int64)


def group_ids_of(columns: Sequence[pa.Array], rows: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Assign numbers to the distinct rows of some columns in the order in which they first occur; NULLs are equal.

    Args:
        rows: How many rows they have, which matters if there are no columns.

    Returns:
        The number of each row's group, and for each group the position of its first row.
    """
    if not columns:
        return np.zeros(rows, dtype=np.int64), np.zeros(min(rows, 1), dtype=np.int64)
    groups = codes_of(columns[0])
    if len(columns) > 1 or columns[0].null_count or pa.types.is_dictionary(columns[0].type):
        groups = _combined([groups, *map(codes_of, columns[1:])])
    # The numbers rise by one where a group first occurs.
    return groups, np.flatnonzero(np.diff(np.maximum.accumulate(groups), prepend=-1))


def _combined(codes: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Assign numbers to the combinations of some columns' numbers in the order in which they first occur."""
    combined = codes[0] + 1
    for more in codes[1:]:
        width = int(more.max(initial=NULL_CODE)) + 2
        combined = combined * width + more + 1
        if combined.max(initial=0) > 2**31:
            combined = codes_of(pa.array(combined))
    return codes_of(pa.array(combined))


def first_of_each(groups: np.ndarray[Any, Any], columns: Sequence[pa.Array]) -> np.ndarray[Any, Any]:
    """Return the positions of the rows that are the first of their group with their values, in ascending order."""
    _, first = group_ids_of([pa.array(groups), *columns], len(groups))
    return np.sort(first)


def joint_codes(
    left: Sequence[pa.Array], right: Sequence[pa.Array], null_equals_null: Sequence[bool]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Assign numbers to the rows of two sides, so that equal rows of both have the same number.

    Args:
        left: Columns of one side.
        right: Columns of the other, of the same types.
        null_equals_null: For each column, whether NULL equals NULL; otherwise a row with NULL is number -1.
    """
    rows = len(left[0])
    columns = [
        pa.concat_arrays([one if one.type == other.type else one.cast(other.type), other])
        for one, other in zip(map(as_array, left), map(as_array, right), strict=True)
    ]
    codes, _ = group_ids_of(columns, 0)
    for column, equal in zip(columns, null_equals_null, strict=True):
        if not equal and column.null_count:
            codes[np.asarray(column.is_null())] = NULL_CODE
    return codes[:rows], codes[rows:]


def compared_codes(
    left: Sequence[pa.Array], right: Sequence[pa.Array], null_equals_null: Sequence[bool]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Assign numbers as `joint_codes`, equal where `=` is true, as in joins of BATCH: zeros are, NaN equals nothing."""
    sides = [list(map(as_array, side)) for side in (left, right)]
    one, other = ([with_one_zero(key) for key in side] for side in sides)
    codes = joint_codes(one, other, null_equals_null)
    for found, side in zip(codes, sides, strict=True):
        for key in side:
            if pa.types.is_floating(key.type):
                found[np.asarray(pc.fill_null(pc.is_nan(key), False))] = NULL_CODE
    return codes


def with_one_zero(column: pa.Array) -> pa.Array:
    """Return a column in which -0.0 is 0.0."""
    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column


def order_codes(column: pa.Array, descending: bool, nulls_first: bool) -> np.ndarray[Any, Any]:
    """Assign numbers to the values of a column so that sorting by the numbers sorts by the values."""
    column = as_array(column)
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int64)
    if pa.types.is_nested(column.type):
        ranks = _ranks_of_objects(column)
    else:
        ranks = np.asarray(pc.rank(column, sort_keys="ascending", tiebreaker="dense")).astype(np.int64)
    if descending:
        ranks = -ranks
    if column.null_count:
        nulls = np.asarray(column.is_null())
        least, greatest = int(ranks.min(initial=0)), int(ranks.max(initial=0))
        ranks[nulls] = least - 1 if nulls_first else greatest + 1
    return ranks


def _codes_of_objects(column: pa.Array) -> np.ndarray[Any, Any]:
    known: dict[Hashable, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for position, value in enumerate(to_values(column)):
        codes[position] = NULL_CODE if value is None else known.setdefault(hashable(value), len(known))
    return codes


def hashable(value: Any) -> Hashable:
    """Return a key that is equal for values with the same bits."""
    if isinstance(value, dict):
        return tuple((name, hashable(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(hashable(each) for each in value)
    if isinstance(value, float) and (value == 0 or value != value):
        return repr(value)  # 0.0 and -0.0 are two values, NaN is one
    return value  # type: ignore[no-any-return]


def _ranks_of_objects(column: pa.Array) -> np.ndarray[Any, Any]:
    values = [_sortable(value) for value in to_values(column)]
    rank = {value: place for place, value in enumerate(sorted({each for each in values if each is not None}))}
    return np.array([-1 if value is None else rank[value] for value in values], dtype=np.int64)


def _sortable(value: Any) -> Any:
    """NULL inside a row or an array comes before everything, as Flink compares them."""
    if value is None:
        return None
    if isinstance(value, dict):
        return tuple(_nested(each) for each in value.values())
    if isinstance(value, list | tuple):
        return tuple(_nested(each) for each in value)
    return value


def _nested(value: Any) -> Any:
    return (False,) if value is None else (True, _sortable(value))
