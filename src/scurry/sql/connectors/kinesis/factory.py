"""KinesisFactory and FirehoseFactory: tables of streams, and of delivery streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.serializer import ProducerRecord
from scurry.connectors.kinesis.client import AwsService, botocore
from scurry.connectors.kinesis.settings import source_scan
from scurry.connectors.kinesis.sink import AwsSink, Batching
from scurry.connectors.kinesis.streams import KinesisStreams
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, explained
from scurry.sql.connectors.contract import TableContext, TableFactory, TableSource
from scurry.sql.connectors.elasticsearch.indices import column_texts
from scurry.sql.connectors.kinesis import options as keys
from scurry.sql.connectors.messages.factory import MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.queues.options import BOUNDED_MODE
from scurry.sql.formats.contract import FormatColumn


@dataclass(frozen=True)
class PartitionedSerializer:
    """Serialize changes with the texts of columns as partition keys.

    Attributes:
        places: Positions of the columns.
        delimiter: Text between their texts.
    """

    changes: ChangeSerializer
    places: tuple[int, ...]
    columns: tuple[FormatColumn, ...]
    delimiter: str

    @property
    def topic(self) -> str | None:
        """Return the stream."""
        return self.changes.topic

    def records(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> list[ProducerRecord]:
        """Return the records of some changes."""
        found: list[ProducerRecord] = []
        readers = [column_texts(column) for column in self.columns]
        for changes in values:
            texts = [read(changes.batch.column(place)) for place, read in zip(self.places, readers, strict=True)]
            rows = self.changes.records([changes], None)
            for (topic, _, value, time, headers), parts in zip(rows, zip(*texts, strict=True), strict=True):
                found.append((topic, self.delimiter.join(parts).encode(), value, time, headers))
        return found


class _AwsFactory(MessageFactory):
    """The common part of tables of services of AWS."""

    service: str
    declared: tuple[TableOption[Any], ...]
    target: TableOption[str]

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return self.declared

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the formats, and those of the provider of a role."""
        nested = "aws.credentials.role.provider."
        return [*super().other_keys(context), *(key for key in context.options if key.startswith(nested))]

    def topics(self, options: Options) -> tuple[str, ...]:
        """Return the stream."""
        return (options.get(self.target),)

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink of the stream."""
        botocore()
        try:
            batching = Batching(
                options.get(keys.BATCH_SIZE),
                options.get(next(each for each in self.declared if each.key == "sink.flush-buffer.size")),
                Batching().most_record_bytes if self.service == "kinesis" else 1000 << 10,
                options.get(keys.BUFFER_TIME),
                options.get(keys.FAILS),
            )
            service = AwsService.of(options.values, self.service)
        except (ArgumentError, UnsupportedError) as error:
            raise explained(error, str(error)) from None
        made = AwsSink(service, options.get(self.target), serializer, None, batching)
        return self.partitioned(made, options, serializer, context)

    def partitioned(
        self, sink: AwsSink, options: Options, serializer: ChangeSerializer, context: TableContext
    ) -> AwsSink:
        """Return the sink with its partition keys."""
        return sink


class KinesisFactory(_AwsFactory):
    """Make sources and sinks of streams."""

    identifier = "kinesis"
    system_name = "Kinesis"
    system = KinesisStreams.system
    service = "kinesis"
    declared = keys.KINESIS_OPTIONS
    target = keys.STREAM

    def scan(self, options: Options) -> KinesisStreams:
        """Return the records of the stream.

        Raises:
            ValidationError: An option has a wrong value.
        """
        botocore()
        values = {key: value for key, value in options.values.items() if key.startswith(("aws.", "source."))}
        try:
            bounded = options.get(BOUNDED_MODE) != "unbounded"
            return source_scan((options.get(keys.STREAM),), values, bounded=bounded)
        except (ArgumentError, UnsupportedError) as error:
            raise explained(error, str(error)) from None

    def partitioned(
        self, sink: AwsSink, options: Options, serializer: ChangeSerializer, context: TableContext
    ) -> AwsSink:
        """Return the sink with the partition keys of PARTITIONED BY, or those that the partitioner makes."""
        names, given = context.table.partition_keys, options.find(keys.PARTITIONER)
        if not names:
            if given not in (None, "random", "fixed"):
                raise ValidationError(
                    f"'{keys.PARTITIONER.key}' = '{given}' is a class of Java: use PARTITIONED BY, 'random' or 'fixed'"
                )
            return replace(sink, partitioner=given or "random")
        if given is not None:
            raise ValidationError(
                f"Cannot set {keys.PARTITIONER.key} option for a table defined with a PARTITIONED BY clause"
            )
        columns = {column.name: column for column in context.physical_columns}
        made = PartitionedSerializer(
            serializer,
            tuple(map(serializer.names.index, names)),
            tuple(columns[name] for name in names),
            options.get(keys.DELIMITER),
        )
        return replace(sink, serializer=made, partitioner="key")


class FirehoseFactory(_AwsFactory):
    """Make sinks of delivery streams."""

    identifier = "firehose"
    system_name = "Firehose"
    system = KinesisStreams.system
    service = "firehose"
    declared = keys.FIREHOSE_OPTIONS
    target = keys.DELIVERY_STREAM

    def scan(self, options: Options) -> KinesisStreams:
        """Raise an error: nothing reads a delivery stream."""
        raise NotImplementedError

    def create_source(self, context: TableContext) -> TableSource:
        """Raise an error.

        Raises:
            ValidationError: Always: a delivery stream is only written.
        """
        return TableFactory.create_source(self, context)
