"""Use DataFrames as sources: a streaming one joins the query, a batch one is first written to files."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.filesystem import FileSystem, file_system
from scurry.connectors.files.formats.format import BulkFormat
from scurry.connectors.files.reading.source import FileSource
from scurry.connectors.source import Source
from scurry.connectors.spark_source import SparkSource, arrow_rows
from scurry.graph.plan import SourcePlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMPLETE = "_complete"


def in_session(spark: SparkSession, frame: Any) -> Any:
    """Return a DataFrame in this session, where it can be combined with other frames and has this session's views."""
    from pyspark.sql import DataFrame

    plan = frame._jdf.queryExecution().analyzed()
    jvm: Any = spark._jvm
    dataset = jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)


def materialize(plan: SourcePlan, directory: str) -> Source:
    """Write the rows of a batch DataFrame to one file per partition and return a source that reads them.

    A restarted job reads the rows it began with, even if the DataFrame's inputs have changed.
    """
    source = plan.source
    assert isinstance(source, SparkSource)
    fs, path = file_system(directory)
    if not fs.exists(f"{path}/{_COMPLETE}"):
        fs.delete(path)
        source.dataframe.mapInArrow(_write_to(directory), "rows long").collect()
        fs.open_output(f"{path}/{_COMPLETE}").close()
    return FileSource(_Snapshot(source.type_info), [directory])


def _write_to(directory: str) -> Any:
    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = context.partitionId() if context is not None else 0
        fs, path = file_system(directory)
        # a retried task must not append to its first attempt, and only one attempt may be read
        target = f"{path}/{partition:06d}.arrow"
        staged = f"{path}/.{partition:06d}.{uuid.uuid4().hex}"
        writer, count = None, 0
        with fs.open_output(staged) as stream:
            for batch in batches:
                if writer is None:
                    writer = pa.ipc.new_stream(stream, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))
                writer.write_batch(batch)
                count += batch.num_rows
            if writer is not None:
                writer.close()
        fs.rename(staged, target)
        yield pa.RecordBatch.from_pydict({"rows": [count]})

    return write


class _Snapshot(BulkFormat):
    """Read Arrow streams of rows."""

    def __init__(self, type_info: TypeInformation | None) -> None:
        self._type_info = type_info

    @property
    def produced_type(self) -> TypeInformation | None:
        return self._type_info

    def splittable(self, path: str) -> bool:
        return False

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Sequence[Any]]:
        import pyarrow as pa

        with fs.open_input(path) as file, pa.ipc.open_stream(file) as batches:
            yield from map(arrow_rows, batches)
