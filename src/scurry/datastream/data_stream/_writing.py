"""Shortcuts of streams that write dataclasses: each is one map, and a sink built with its builder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scurry.common.serialization import BulkWriterFactory
    from scurry.datastream.data_stream.sink import DataStreamSink


class WritingShortcuts:
    """The `write_*` methods of a `DataStream`. scurry's own; PyFlink has only the long forms."""

    def write_json(self, path: str, record: type) -> DataStreamSink:
        """Write the records to files with a JSON object per line, exactly once.

        Args:
            path: The directory.
            record: Their dataclass; its fields are those of the objects.

        Raises:
            ArgumentTypeError: `record` is not a dataclass, or has a field that cannot be written.
        """
        from scurry.datastream._records import row_type_info
        from scurry.datastream.formats.json import JsonBulkWriters

        return self._write_files(path, record, JsonBulkWriters.for_type_info(row_type_info(record)))

    def write_csv(self, path: str, record: type, header: bool = False) -> DataStreamSink:
        """Write the records to CSV files, exactly once.

        Args:
            path: The directory.
            record: Their dataclass; its fields are the columns. If one may be None, None is an empty column.
            header: Whether files begin with a header.

        Raises:
            ArgumentTypeError: `record` is not a dataclass, or has a field that cannot be written.
        """
        from scurry.datastream._records import csv_schema
        from scurry.datastream.formats.csv import CsvBulkWriters

        return self._write_files(path, record, CsvBulkWriters.for_schema(csv_schema(record, header=header)))

    def write_parquet(self, path: str, record: type) -> DataStreamSink:
        """Write the records to Parquet files, exactly once.

        Args:
            path: The directory.
            record: Their dataclass; its fields are the columns.

        Raises:
            ArgumentTypeError: `record` is not a dataclass, or has a field that cannot be written.
        """
        from scurry.datastream._records import row_data_type
        from scurry.datastream.formats.parquet import ParquetBulkWriters

        return self._write_files(path, record, ParquetBulkWriters.for_row_type(row_data_type(record)))

    def write_kafka(self, bootstrap_servers: str, topic: str, record: type) -> DataStreamSink:
        """Send the records to a topic as JSON objects, at least once.

        Args:
            bootstrap_servers: Addresses of the cluster, such as `localhost:9092`.
            topic: The topic.
            record: Their dataclass; its fields are those of the objects.

        Raises:
            ArgumentTypeError: `record` is not a dataclass, or has a field that cannot be written.
        """
        from scurry.datastream._records import row_type_info
        from scurry.datastream.connectors.base import DeliveryGuarantee
        from scurry.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink
        from scurry.datastream.formats.json import JsonRowSerializationSchema

        values = JsonRowSerializationSchema.builder().with_type_info(row_type_info(record)).build()
        serializer = KafkaRecordSerializationSchema.builder().set_topic(topic).set_value_serialization_schema(values)
        builder = KafkaSink.builder().set_bootstrap_servers(bootstrap_servers)
        builder.set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE).set_record_serializer(serializer.build())
        return self._write(builder.build(), record)

    def _write_files(self, path: str, record: type, writers: BulkWriterFactory) -> DataStreamSink:
        from scurry.datastream.connectors.file_system import FileSink

        return self._write(FileSink.for_bulk_format(path, writers).build(), record)

    def _write(self, sink: Any, record: type) -> DataStreamSink:
        from scurry.datastream._records import RecordToRow, row_type_info

        rows = self.map(RecordToRow(record), output_type=row_type_info(record))  # type: ignore[attr-defined]
        written: DataStreamSink = rows.sink_to(sink)
        return written
