"""Write savepoints on workers: state built from the rows of a DataFrame, and copies of another savepoint's files."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from scurry.connectors.spark_source import arrow_rows
from scurry.errors import ScurryError
from scurry.graph.shipping import ship_value
from scurry.runtime.keys import from_sortable, sortable
from scurry.runtime.savepoint.entries import EntryFile, copy_entries, write_entries
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.state.registry import merge_schemas
from scurry.spark.workers.failures import failure_of
from scurry.spark.workers.instances import mark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Columns added to each row to sort it into the state of its key.
_GROUP, _KEY, _TIME = "scurry_key_group", "scurry_key", "scurry_time"

_Block = tuple[list[Any], list[Any], list[int] | None]


class _Bootstrap(Protocol):
    def block(self, values: list[Any], /) -> _Block: ...

    def groups(self, keys: Iterable[Any], /) -> list[int]: ...

    def entries(self, parts: Iterable[tuple[int, Iterable[_Block]]], schemas: dict[str, Any], /) -> Iterator[Entry]: ...


def write_keyed(frame: Any, bootstrap: _Bootstrap, path: str, name: str, schemas: dict[str, Any]) -> None:
    """Write keyed state built from the rows of a DataFrame, and add the schemas of the states to `schemas`.

    Spark brings the rows of a key group together and sorts them by key and time. A worker holds the state of one key
    group at a time in memory.
    """
    from pyspark.sql.types import BinaryType, IntegerType, LongType, StructType

    shipped = ship_value((bootstrap, path, name))
    keyed = StructType([*frame.schema.fields])
    keyed = keyed.add(_GROUP, IntegerType()).add(_KEY, BinaryType()).add(_TIME, LongType())
    rows = frame.mapInArrow(_with_keys(shipped), keyed).repartition(_GROUP)
    sorted_rows = rows.sortWithinPartitions(_GROUP, _KEY, _TIME)
    try:
        written = sorted_rows.mapInArrow(_write(shipped), "schemas string").collect()
    except Exception as error:
        raise failure_of(error) from error
    for row in written:
        merge_schemas(schemas, json.loads(row.schemas))


def _with_keys(shipped: bytes) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        bootstrap, _, _ = _loaded(shipped)
        for batch in batches:
            if batch.num_rows:
                keys, _, times = _readable(bootstrap.block, list(arrow_rows(batch)))
                groups = pa.array(bootstrap.groups(keys), pa.int32())
                moments = pa.nulls(len(keys), pa.int64()) if times is None else pa.array(times, pa.int64())
                encoded = pa.array([sortable(key) for key in keys], pa.binary())
                columns = [*batch.columns, groups, encoded, moments]
                yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, _GROUP, _KEY, _TIME])

    return run


def _write(shipped: bytes) -> Any:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        bootstrap, path, name = _loaded(shipped)
        context = TaskContext.get()
        partition = context.partitionId() if context is not None else 0
        schemas: dict[str, Any] = {}
        entries = bootstrap.entries(_parts(batches), schemas)
        _readable(write_entries, path, entries, f"{name}-{partition:05d}")
        yield pa.RecordBatch.from_pydict({"schemas": [json.dumps(schemas)]})

    return run


def _parts(batches: Iterator[Any]) -> Iterator[tuple[int, Iterable[_Block]]]:
    """Yield the records of each key group, from sorted rows."""
    for group, blocks in groupby(_blocks(batches), key=itemgetter(0)):
        yield group, (block for _, block in blocks)


def _blocks(batches: Iterator[Any]) -> Iterator[tuple[int, _Block]]:
    """Yield blocks of records of one key group each, with their keys and timestamps."""
    for batch in batches:
        groups, keys, times = (batch.column(name).to_pylist() for name in (_GROUP, _KEY, _TIME))
        values = arrow_rows(batch.select(batch.schema.names[:-3]))
        start = 0
        for group, some in groupby(groups):
            end = start + len(list(some))
            moments = times[start:end]
            block = list(map(from_sortable, keys[start:end])), list(values[start:end])
            yield group, (*block, None if moments[0] is None else moments)
            start = end


def copy_on_workers(
    spark: SparkSession, works: list[tuple[EntryFile, str]], path: str, uids: Mapping[str, str]
) -> None:
    """Copy files of entries, one per task."""
    shipped = ship_value((works, path, dict(uids)))

    def copy(batches: Iterator[Any]) -> Iterator[Any]:
        works, path, uids = pickle.loads(shipped)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                file, name = works[number]
                copy_entries(file, path, name, uids)
            yield batch

    if works:
        spark.range(0, len(works), 1, len(works)).mapInArrow(copy, "id long").collect()


def _loaded(shipped: bytes) -> tuple[_Bootstrap, str, str]:
    return pickle.loads(shipped)  # type: ignore[no-any-return]


def _readable(call: Callable[..., Any], *args: Any) -> Any:
    """Call a function and encode scurry's errors so that the driver can report them."""
    try:
        return call(*args)
    except ScurryError as error:
        raise RuntimeError(mark(error)) from error
