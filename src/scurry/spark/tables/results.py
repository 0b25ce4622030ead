"""Results of queries in BATCH: sent to the driver by Spark, in memory up to a limit and beyond it on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors.exceptions.captured import unwrap_spark_exception
from pyspark.sql.pandas.serializers import ArrowStreamSerializer
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.util import _load_from_socket

from scurry.connectors.collect_sink import MOST_WAITING_BYTES
from scurry.errors import SparkFailedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class KeptBatches:
    """Record batches in memory, as many as there is room for, and the others in a temporary file."""

    def __init__(self, most_bytes: int = MOST_WAITING_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._in_memory: list[pa.RecordBatch] = []
        self._file: IO[bytes] | None = None
        self._writer: Any = None
        self._reader: Any = None
        self._open = ExitStack()

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep a batch."""
        self._bytes += batch.nbytes
        if self._writer is None and self._bytes <= self._most_bytes:
            self._in_memory.append(batch)
            return
        if self._writer is None:
            self._file = self._open.enter_context(tempfile.TemporaryFile(prefix="scurry-result-"))
            self._writer = pa.ipc.new_file(self._file, batch.schema)
        self._writer.write_batch(batch)

    def take(self, number: int) -> pa.RecordBatch:
        """Return the batch that was added as that number, counted from 0, once all were added; each is taken once."""
        if number < len(self._in_memory):
            batch, self._in_memory[number] = self._in_memory[number], None
            return batch
        if self._reader is None:
            self._writer.close()
            self._reader = pa.ipc.open_file(self._file)
        return self._reader.get_batch(number - len(self._in_memory))

    def close(self) -> None:
        """Delete the file."""
        self._open.close()


def collected(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a DataFrame in its order, once Spark has computed all of them.

    `toArrow` has all rows in memory, and an iterator over partitions computes them one by one.
    """
    schema = to_arrow_schema(frame.schema, error_on_duplicated_field_names_in_struct=True, timezone="UTC")
    kept = KeptBatches()
    try:
        port, secret, server = frame._jdf.collectAsArrowToPython()
        try:
            with _load_from_socket((port, secret), _Kept(kept)) as numbers:
                order = list(numbers)
        finally:
            with unwrap_spark_exception():
                server.getResult()  # raises what has failed in the JVM
        for number in order:
            yield from pa.Table.from_batches([kept.take(number)]).cast(schema).to_batches()
    finally:
        kept.close()


class _Kept(ArrowStreamSerializer):
    """Keep the batches that the JVM sends as partitions end, and yield their numbers in the order of the rows."""

    def __init__(self, kept: KeptBatches) -> None:
        super().__init__()
        self._kept = kept

    def load_stream(self, stream: IO[bytes]) -> Iterator[int]:
        for batch in super().load_stream(stream):
            self._kept.add(batch)
        count = _number(stream)
        if count == -1:  # a text follows
            raise SparkFailedError(stream.read(_number(stream)).decode())
        for _ in range(count):
            yield _number(stream)


def _number(stream: IO[bytes]) -> int:
    return int.from_bytes(stream.read(4), "big", signed=True)
