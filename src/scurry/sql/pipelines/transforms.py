"""Transform: a projection and a filter of the rows of tables, in the SQL of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.cdc.capture import TableId
from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.pipelines.expressions import EVENT_TYPE, METADATA, TEXT, RowQuery, filtered, items_of, query_of
from scurry.sql.pipelines.selectors import TableSelector
from scurry.sql.types import DataType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.common_type import find_common_type
from scurry.sql.types.values import from_values

if TYPE_CHECKING:
    import pyarrow as pa

#: The values of `converter-after-transform`.
CONVERTERS = ("SOFT_DELETE",)


@dataclass(frozen=True)
class Transform:
    """A rule of the projection and the filter of tables.

    Attributes:
        source: The tables.
        projection: Expressions with names, and `*`; empty for all columns.
        filter: The condition of the rows that are kept; empty for all.
        primary_keys: The columns of the primary key in the sink; none for those of the source.
        partition_keys: The columns by which the table in the sink is partitioned.
        options: Options of the table in the sink.
        soft_delete: Whether deleted rows are inserted once more, instead of being deleted.
    """

    source: TableSelector
    projection: str = ""
    filter: str = ""
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    soft_delete: bool = False

    def compiled(self, table: TableId, columns: TableColumns, time_zone: str) -> CompiledTransform:
        """Return the transform for the columns of a table.

        Raises:
            ValidationError: An expression is wrong, or the primary key is not among the columns.
        """
        return CompiledTransform(self, table, columns, time_zone)


class CompiledTransform:
    """A transform for the columns of one table.

    Attributes:
        columns: The columns that come out.
        soft_delete: Whether deleted rows are inserted.
    """

    def __init__(self, rule: Transform, table: TableId, columns: TableColumns, time_zone: str) -> None:
        session = EvaluationContext(time_zone, is_streaming=True)
        items = items_of(rule.projection) if rule.projection else ["*"]
        self._metadata = dict(zip(METADATA, (table.database, table.schema, table.name), strict=True))
        self._every = RowQuery(query_of(items, columns), columns, session)
        names, kinds = self._every.names, self._every.types
        self._kept = self._every
        if rule.filter:
            self._kept = RowQuery(filtered(items, rule.filter, names, columns), columns, session)
        key = rule.primary_keys or columns.key
        self.columns = TableColumns(names, kinds, key)
        self.soft_delete = rule.soft_delete
        for name in (*key, *rule.partition_keys):
            if name not in names:
                what = "primary-keys" if name in rule.primary_keys else "partition-keys"
                what = what if name in (*rule.primary_keys, *rule.partition_keys) else "the primary key"
                raise ValidationError(f"the projection lacks column '{name}' of {what}")

    def apply(self, batch: pa.RecordBatch, kinds: Any) -> tuple[pa.RecordBatch, Any]:
        """Return the rows that pass the filter, and their places among the given ones."""
        return self._kept.apply(self._described(batch, kinds))

    def project(self, batch: pa.RecordBatch, kinds: Any) -> pa.RecordBatch:
        """Return all rows, also those that the filter drops."""
        return self._every.apply(self._described(batch, kinds))[0]

    def _described(self, batch: pa.RecordBatch, kinds: Any) -> pa.RecordBatch:
        import pyarrow as pa

        texts = {name: [text] * batch.num_rows for name, text in self._metadata.items()}
        if self._kept.reads(EVENT_TYPE) or self._every.reads(EVENT_TYPE):
            words = [_WORDS[kind] for kind in kinds] if kinds is not None else ["+I"] * batch.num_rows
            texts[EVENT_TYPE] = words
        read = {name: from_values(values, TEXT) for name, values in texts.items() if self._uses(name)}
        if not read:
            return batch
        arrays, names = [*batch.columns, *read.values()], [*batch.schema.names, *read]
        return pa.RecordBatch.from_arrays(arrays, names=names)

    def _uses(self, name: str) -> bool:
        return self._kept.reads(name) or self._every.reads(name)


class CompiledTransforms:
    """The rules about one table: a row goes by the first one whose filter it passes.

    Attributes:
        columns: The columns that come out, of all rules the same.
    """

    def __init__(self, rules: Sequence[CompiledTransform]) -> None:
        self._rules = tuple(rules)
        first = rules[0].columns
        kinds = list(first.types)
        for rule in rules[1:]:
            other = rule.columns
            if (other.names, other.key) != (first.names, first.key):
                described = " and ".join(f"({', '.join(each.names)})" for each in (first, other))
                raise ValidationError(f"the projections of its rules have other columns or keys: {described}")
            kinds = [_common(name, *pair) for name, *pair in zip(first.names, kinds, other.types, strict=True)]
        self.columns = TableColumns(first.names, tuple(kinds), first.key)
        self._types = list(map(arrow_type, kinds))

    def apply(self, batch: pa.RecordBatch, kinds: Any) -> tuple[pa.RecordBatch, Any]:
        """Return the rows that some rows become, with their kinds of change.

        Of an update of which only one row passes, the row before is deleted, or the one after is inserted.
        """
        import numpy as np

        parts, places, soft = list[Any](), list[Any](), list[Any]()
        rest = np.arange(batch.num_rows)
        for rule in self._rules:
            there = batch if len(rest) == batch.num_rows else batch.take(rest)
            found, kept = rule.apply(there, None if kinds is None else kinds[rest])
            kept = np.arange(len(rest)) if kept is None else np.asarray(kept)
            parts.append(found)
            places.append(rest[kept])
            soft.append(np.full(len(kept), rule.soft_delete))
            rest = np.delete(rest, kept)
        if kinds is None:
            return self._merged(parts, places)[0], None
        left = rest[_are_gone(kinds, rest)]
        if len(left):  # the row before is not known, so it may have passed
            parts.append(self._rules[0].project(batch.take(left), kinds[left]))
            places.append(left)
            soft.append(np.full(len(left), self._rules[0].soft_delete))
        merged, order = self._merged(parts, places)
        at = np.concatenate(places)[order]
        found = _resolved(kinds, at, left)
        deleted = (found == _DELETE) & np.concatenate(soft)[order]
        return merged, np.where(deleted, _INSERT, found).astype(np.int8)

    def _merged(self, parts: list[pa.RecordBatch], places: list[Any]) -> tuple[pa.RecordBatch, Any]:
        import numpy as np
        import pyarrow as pa

        parts = list(map(self._cast, parts))
        order = np.argsort(np.concatenate(places), kind="stable")
        if len(parts) == 1:
            return parts[0], order
        return pa.concat_batches(parts).take(order), order

    def _cast(self, part: pa.RecordBatch) -> pa.RecordBatch:
        import pyarrow as pa

        if len(self._rules) == 1:
            return part
        arrays = [column.cast(kind) for column, kind in zip(part.columns, self._types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=list(self.columns.names))


_INSERT, _DELETE = RowKind.INSERT.value, RowKind.DELETE.value
_BEFORE, _AFTER = RowKind.UPDATE_BEFORE.value, RowKind.UPDATE_AFTER.value
_WORDS = {_INSERT: "+I", _BEFORE: "-U", _AFTER: "+U", _DELETE: "-D"}


def _are_gone(kinds: Any, places: Any) -> Any:
    """Return whether rows come after an update whose row before is not known."""
    previous = kinds[places - 1] if len(places) else kinds[:0]
    return (kinds[places] == _AFTER) & ((places == 0) | (previous != _BEFORE))


def _resolved(kinds: Any, places: Any, gone: Any) -> Any:
    """Return the kinds of the rows that are left of updates, at some places of the rows that were there."""
    import numpy as np

    kept = np.zeros(len(kinds) + 1, dtype=bool)
    kept[places] = True
    found = kinds[places].copy()
    found[(found == _BEFORE) & ~kept[places + 1]] = _DELETE
    alone = (found == _AFTER) & ~_are_gone(kinds, places) & ~kept[places - 1]
    found[alone] = _INSERT
    found[np.isin(places, gone)] = _DELETE
    return found


def split_keys(batch: pa.RecordBatch, kinds: Any, key: Sequence[str]) -> Any:
    """Return kinds in which an update that changes the key is a deletion and an insertion, as of Debezium."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    before = np.flatnonzero(kinds[:-1] == _BEFORE)
    if not len(before) or not key:
        return kinds
    changed = np.zeros(len(before), dtype=bool)
    for name in key:
        column = batch.column(name)
        old, new = column.take(pa.array(before)), column.take(pa.array(before + 1))
        changed |= ~np.asarray(pc.fill_null(pc.equal(old, new), False))
    kinds = kinds.copy()
    kinds[before[changed]], kinds[before[changed] + 1] = _DELETE, _INSERT
    return kinds


def _common(name: str, first: DataType, second: DataType) -> DataType:
    found = find_common_type([first, second])
    if found is None:
        raise ValidationError(f"the projections of its rules give '{name}' the types {first} and {second}")
    return found
