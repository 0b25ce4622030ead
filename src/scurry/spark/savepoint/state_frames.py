"""Return the state of savepoints as DataFrames, which workers read and decode."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from scurry.graph.shipping import ship_value
from scurry.runtime.savepoint.entries import EntryFile
from scurry.runtime.savepoint.format import Entry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Number of results that are passed to Spark at once.
_BATCH = 4096


class _Decoder(Protocol):
    def __call__(self, pages: Iterable[Entry], /) -> Iterator[Any]: ...


class _Columns(Protocol):
    @property
    def uid(self) -> str: ...

    @property
    def schema(self) -> tuple[tuple[str, str], ...]: ...

    def record_batch(self, results: list[Any], columns: Any, /) -> Any: ...


def parse_ddl(text: str) -> tuple[tuple[str, str], ...]:
    """Return the name and type of each column of a DDL text."""
    from pyspark.sql.types import StructType

    parsed = StructType.fromDDL(text)
    assert isinstance(parsed, StructType)
    return tuple((field.name, field.dataType.simpleString()) for field in parsed)


def state_frame(spark: SparkSession, files: Iterable[EntryFile], decoder: _Decoder, columns: _Columns) -> Any:
    """Return the decoded pages of an operator as a DataFrame, with a task for each file.

    All runs of a key group are in one file, that of its subtask: a newer one may have a key of an older one.
    """
    from pyspark.sql.types import StructType

    ddl = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in columns.schema)
    schema = StructType.fromDDL(ddl)
    assert isinstance(schema, StructType)
    works = list(files)
    zone = spark.conf.get("spark.sql.session.timeZone")
    shipped = ship_value((works, decoder, columns, schema, zone))
    count = max(1, len(works))
    return spark.range(0, count, 1, count).mapInArrow(_reading(shipped), schema)


def _reading(shipped: bytes) -> Any:
    def read(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark.sql.pandas.types import to_arrow_schema

        works: list[EntryFile]
        works, decoder, columns, schema, zone = pickle.loads(shipped)
        arrow = to_arrow_schema(schema, timezone=zone)
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        entries = (entry for number in numbers for entry in _entries(works[number : number + 1], columns.uid))
        results = decoder(entries)
        while some := list(islice(results, _BATCH)):
            yield columns.record_batch(some, arrow)

    return read


def _entries(files: list[EntryFile], uid: str) -> Iterator[Entry]:
    for file in files:
        for entry in file.read(tuple(range(len(file.row_groups)))):
            if entry.uid == uid:
                yield entry
