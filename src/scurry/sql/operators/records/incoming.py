"""Records of streams as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry._dataclasses import dataclass
from scurry.common.types import Row
from scurry.errors import EvaluationError, TypeMismatchError
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.plan.schema import Schema
from scurry.sql.types import DataType, LocalZonedTimestampType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.values.results import ResultColumn


@dataclass(frozen=True)
class Field:
    """A column, and where it comes from.

    Attributes:
        place: The position of the value in a record; None for the timestamp of the record.
    """

    name: str
    type: DataType
    place: int | None


class RowsOfRecords:
    """Make a batch of rows of a block of records.

    Args:
        is_composite: Whether the values are parts of the records; otherwise the record itself is the only value.
        attributes: Names of the attributes that are the values, for objects; None for tuples and rows.
        insert_only: Whether rows with other kinds of changes are refused.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        is_composite: bool,
        attributes: Sequence[str] | None,
        insert_only: bool,
        time_zone: str,
    ) -> None:
        self._fields = tuple(fields)
        self._is_composite = is_composite
        self._attributes = None if attributes is None else tuple(attributes)
        self._insert_only = insert_only
        self._time_zone = time_zone

    def rows(self, values: list[Any], timestamps: list[int] | None) -> Changes:
        """Return the rows.

        Args:
            timestamps: Their timestamps in milliseconds; None if they have none.

        Raises:
            TypeMismatchError: A value does not fit its column.
            EvaluationError: A record has another kind of change than INSERT, or no timestamp.
        """
        kinds = self._kinds(values)
        columns = self._columns(values)
        arrays = [
            self._times(field, timestamps) if field.place is None else _column(field, columns[field.place])
            for field in self._fields
        ]
        schema = Schema.of([field.name for field in self._fields], [field.type for field in self._fields])
        return Changes(batch_of(arrays, schema, len(values)), kinds)

    def _columns(self, values: list[Any]) -> Sequence[Sequence[Any]]:
        if not self._is_composite:
            return [values]
        if self._attributes is not None:
            return [[getattr(value, name) for value in values] for name in self._attributes]
        parts = [value._values if type(value) is Row else value for value in values]
        try:
            return list(zip(*parts, strict=True))
        except (TypeError, ValueError):
            width = len(parts[0]) if isinstance(parts[0], list | tuple) else 0
            place = next(i for i, each in enumerate(parts) if not isinstance(each, list | tuple) or len(each) != width)
            raise _misfit("a record with fields", values[place], "", place) from None

    def _kinds(self, values: list[Any]) -> Any:
        """Return the kinds of the rows; None if all are inserted."""
        if not values or type(values[0]) is not Row:
            return None
        kinds = np.fromiter((value._row_kind.value for value in values), np.int8, len(values))
        if not kinds.any():
            return None
        if self._insert_only:
            wrong = int(kinds.argmax())
            error = EvaluationError(
                "Error during input conversion. Conversion expects insert-only records but DataStream API record "
                f"contains: {values[wrong].get_row_kind().name}; use from_changelog_stream"
            )
            error.index = wrong  # type: ignore[attr-defined]
            raise error
        return kinds

    def _times(self, field: Field, timestamps: list[int] | None) -> pa.Array:
        """Return the timestamps of records as a column."""
        if timestamps is None:
            raise EvaluationError(
                "Could not find timestamp in DataStream API record. Make sure that timestamps have been assigned "
                "before: call assign_timestamps_and_watermarks on the stream"
            )
        times = pa.array(timestamps, pa.int64()).view(pa.timestamp("ms"))
        if not isinstance(field.type, LocalZonedTimestampType):
            zoned = times.cast(pa.timestamp("ms", self._time_zone))
            times = pc.local_timestamp(zoned)
        return times.cast(arrow_type(field.type))


def _column(field: Field, values: Sequence[Any]) -> pa.Array:
    column = ResultColumn(field.type)
    try:
        return column(values)
    except Exception as error:
        found = column.misfit(values)
        if found is None:
            raise
        place, reason = found
        text = reason.reason if isinstance(reason, TypeMismatchError) and hasattr(reason, "reason") else str(reason)
        declared = f"column {field.name!r} {field.type.as_summary_string()}"
        raise _misfit(declared, values[place], text, place) from error


def _misfit(declared: str, value: Any, reason: str, place: int) -> TypeMismatchError:
    return TypeMismatchError(declared, value, reason, index=place)
