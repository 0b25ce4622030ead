"""Readings from files -> a running count per sensor -> a Delta table, an Iceberg table, and files that are compacted.

to_tables.py INPUT OUTPUT CHECKPOINTS FUSE
"""

from __future__ import annotations

import sys

from scurry.common import Encoder, Types, WatermarkStrategy
from scurry.datastream.connectors.delta import DeltaSink
from scurry.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    FileSource,
    StreamFormat,
)
from scurry.datastream.connectors.iceberg import IcebergSink, TableLoader
from scurry.table.types import DataTypes
from support.faults.failing_sink import FailingSink
from support.faults.programs.windows_and_counts import READING, RunningCount, environment, parse

COUNT = Types.ROW_NAMED(["sensor", "n"], [Types.STRING(), Types.LONG()])
COLUMNS = DataTypes.ROW([DataTypes.FIELD("sensor", DataTypes.STRING()), DataTypes.FIELD("n", DataTypes.BIGINT())])


def iceberg(output: str) -> TableLoader:
    """Where the Iceberg table is."""
    properties = {"type": "sql", "uri": f"sqlite:///{output}/catalog.db", "warehouse": f"file://{output}/warehouse"}
    return TableLoader.from_catalog(properties, "db.counts")


def main(source: str, output: str, checkpoints: str, fuse: str) -> None:
    env = environment(checkpoints)
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), source).build()
    readings = env.from_source(files, WatermarkStrategy.no_watermarks(), "readings").map(parse, output_type=READING)
    keyed = readings.key_by(lambda reading: reading[0], key_type=Types.STRING())
    counts = keyed.process(RunningCount(), output_type=Types.STRING())
    rows = counts.map(lambda text: (text.split(",")[0], int(text.split(",")[1])), output_type=COUNT)
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).build()
    rows.sink_to(DeltaSink.for_row_data(f"{output}/delta", COLUMNS).build())
    rows.sink_to(IcebergSink.for_row_data(COLUMNS).table_loader(iceberg(output)).build())
    counts.sink_to(
        FileSink.for_row_format(f"{output}/files", Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .enable_compact(strategy, FileCompactor.concat_file_compactor())
        .build()
    )
    counts.sink_to(FailingSink(fuse))
    env.execute("to tables")


if __name__ == "__main__":
    main(*sys.argv[1:])
