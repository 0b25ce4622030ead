"""Shortcuts of environments that read dataclasses: each is a source, built with its builder, and one map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.common._type_variables import T
from scurry.common.watermark_strategy import WatermarkStrategy

if TYPE_CHECKING:
    from scurry.connectors.source import Source
    from scurry.datastream.data_stream import DataStream


class ReadingShortcuts:
    """The `read_*` methods of a `StreamExecutionEnvironment`. scurry's own; PyFlink has only the long forms.

    A field that a record lacks gets its default, or None if its type allows that; otherwise the record is malformed.
    The timestamp assigner of a watermark strategy gets rows, which have the fields of the dataclass.
    """

    def read_json(
        self, path: str, record: type[T], watermark_strategy: WatermarkStrategy | None = None
    ) -> DataStream[T]:
        """Return a stream of the JSON objects in files, one per line.

        Args:
            path: A file, a directory or a pattern.
            record: A dataclass; its fields are those of the objects.
            watermark_strategy: Timestamps and watermarks.

        Raises:
            ArgumentTypeError: `record` is not a dataclass, or has a field that cannot be read.
        """
        from scurry.datastream._records import json_schema
        from scurry.datastream.connectors.file_system import FileSource
        from scurry.datastream.formats.json import JsonReaderFormat

        lines = JsonReaderFormat.for_schema(json_schema(record))
        source = FileSource.for_record_stream_format(lines, path).build()
        return self._read(source, watermark_strategy, path, record)

    def read_csv(
        self,
        path: str,
        record: type[T],
        watermark_strategy: WatermarkStrategy | None = None,
        header: bool = False,
    ) -> DataStream[T]:
        """Return a stream of the lines of CSV files.

        Args:
            path: A file, a directory or a pattern.
            record: A dataclass; its fields are the columns, in order. If one may be None, empty columns are None.
            watermark_strategy: Timestamps and watermarks.
            header: Whether files begin with a header: then the fields are columns by their names, and others are not
                read.

        Raises:
            ArgumentTypeError: `record` is not a dataclass, or has a field that cannot be read.
        """
        from scurry.datastream._records import csv_schema
        from scurry.datastream.connectors.file_system import FileSource
        from scurry.datastream.formats.csv import CsvReaderFormat

        lines = CsvReaderFormat.for_schema(csv_schema(record, header=header))
        source = FileSource.for_record_stream_format(lines, path).build()
        return self._read(source, watermark_strategy, path, record)

    def read_parquet(
        self, path: str, record: type[T], watermark_strategy: WatermarkStrategy | None = None
    ) -> DataStream[T]:
        """Return a stream of the rows of Parquet files.

        Args:
            path: A file, a directory or a pattern.
            record: A dataclass; its fields are the columns that are read.
            watermark_strategy: Timestamps and watermarks.

        Raises:
            ArgumentTypeError: `record` is not a dataclass, or has a field that cannot be read.
        """
        from scurry.datastream._records import required_fields, row_data_type
        from scurry.datastream.connectors.file_system import FileSource
        from scurry.datastream.formats.parquet import ParquetColumnarRowInputFormat

        columns = ParquetColumnarRowInputFormat(row_data_type(record), required=required_fields(record))
        source = FileSource.for_bulk_file_format(columns, path).build()
        return self._read(source, watermark_strategy, path, record)

    def read_kafka(
        self,
        bootstrap_servers: str,
        topic: str,
        record: type[T],
        watermark_strategy: WatermarkStrategy | None = None,
    ) -> DataStream[T]:
        """Return a stream of the messages of a topic, JSON objects, from the earliest on.

        Args:
            bootstrap_servers: Addresses of the cluster, such as `localhost:9092`.
            topic: The topic.
            record: A dataclass; its fields are those of the objects.
            watermark_strategy: Timestamps and watermarks.

        Raises:
            ArgumentTypeError: `record` is not a dataclass, or has a field that cannot be read.
        """
        from scurry.datastream._records import json_schema
        from scurry.datastream.connectors.kafka import KafkaSource

        schema = json_schema(record)
        builder = KafkaSource.builder().set_bootstrap_servers(bootstrap_servers).set_topics(topic)
        source = builder.set_value_only_deserializer(schema).build()
        return self._read(source, watermark_strategy, topic, record)

    def _read(self, source: Source, strategy: WatermarkStrategy | None, name: str, record: type) -> DataStream[Any]:
        from scurry.datastream._records import RowToRecord

        rows: DataStream[Any] = self.from_source(source, strategy, name)  # type: ignore[attr-defined]
        return rows.map(RowToRecord(record), output_type=record)
