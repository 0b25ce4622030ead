"""Inputs and outputs of a simulated job: simulated sources and sinks, files, or a log, on the simulated disk."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from scurry.common import Encoder
from scurry.common.serialization import SimpleStringSchema
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.file_system import FileSink, FileSource, RollingPolicy, StreamFormat
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaRecordSerializationSchema
from scurry.datastream.connectors.log import FileLog, FileLogSink, FileLogSource
from scurry.testing.simulation.machine import Machine
from scurry.testing.simulation.parts import SimulatedSink, SimulatedSource

__all__ = ["Endpoints", "FileEndpoints", "LogEndpoints"]

#: Partition, record and time in milliseconds of each, in the order of arrival.
Arriving = Sequence[tuple[int, Any, int]]


class Endpoints:
    """The source and the sinks of a program: here simulated ones, of which each call can fail.

    Subclasses keep records in files of the simulated disk. Their input is there before the job begins.
    """

    def prepare(self, directory: str, records: Arriving, partitions: int) -> None:
        """Let the input be there, below a directory that is the run's."""

    def source(self, directory: str, records: Arriving, partitions: int) -> Any:
        """Return the source."""
        return SimulatedSource(tuple(records), partitions)

    def sink(self, directory: str, name: str) -> Any:
        """Return a sink; the name is that of the output."""
        return SimulatedSink(name)

    def output(self, directory: str, name: str, machine: Machine) -> list[Any]:
        """Return the visible output of a name."""
        outside = machine.outside
        return [
            value
            for sink in outside
            if sink.split(" ", 1)[0] == name
            for batch in sorted(outside[sink])
            for value in outside[sink][batch]
        ]


def _lines(records: Arriving, partition: int) -> list[str]:
    return [json.dumps([*value, time]) for number, value, time in records if number == partition]


class FileEndpoints(Endpoints):
    """Files of lines, read by a FileSource and written by a FileSink; a file for each partition.

    A line of the input is the JSON of a record, a tuple, with its time at the end; so is a line of the output.
    """

    def prepare(self, directory: str, records: Arriving, partitions: int) -> None:
        """Write the files."""
        os.makedirs(f"{directory}/input", exist_ok=True)
        for partition in range(partitions):
            path = f"{directory}/input/{partition}"
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in _lines(records, partition))
            os.utime(path, (partition, partition))

    def source(self, directory: str, records: Arriving, partitions: int) -> Any:
        """Return a source of the lines."""
        return FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"{directory}/input").build()

    def sink(self, directory: str, name: str) -> Any:
        """Return a sink that begins a file with each checkpoint."""
        builder = FileSink.for_row_format(f"{directory}/output/{name}", Encoder.simple_string_encoder())
        return builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()

    def output(self, directory: str, name: str, machine: Machine) -> list[Any]:
        """Return the records of the lines of all files that readers see."""
        found: list[Any] = []
        for place, directories, names in os.walk(f"{directory}/output/{name}"):
            directories.sort()
            for each in sorted(names):
                if each[0] not in "._":
                    with open(f"{place}/{each}", encoding="utf-8") as file:
                        found += [tuple(json.loads(line)) for line in file]
        return found


class LogEndpoints(Endpoints):
    """Topics of a log without a broker, written exactly once; a partition for each of the input.

    A message of the input is the JSON of a record, a tuple, with its time at the end; so is one of the output.
    """

    def prepare(self, directory: str, records: Arriving, partitions: int) -> None:
        """Append the messages."""
        for partition in range(partitions):
            log = FileLog(f"{directory}/log")
            log.create_topic(f"in-{partition}")
            log.append(f"in-{partition}", _lines(records, partition))

    def source(self, directory: str, records: Arriving, partitions: int) -> Any:
        """Return a source of the messages that are there."""
        return (
            FileLogSource.builder()
            .set_path(f"{directory}/log")
            .set_topics(*(f"in-{partition}" for partition in range(partitions)))
            .set_starting_offsets(KafkaOffsetsInitializer.earliest())
            .set_bounded(KafkaOffsetsInitializer.latest())
            .set_value_only_deserializer(SimpleStringSchema())
            .build()
        )

    def sink(self, directory: str, name: str) -> Any:
        """Return a sink that writes exactly once."""
        schema = KafkaRecordSerializationSchema.builder().set_topic(name)
        return (
            FileLogSink.builder()
            .set_path(f"{directory}/log")
            .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
            .build()
        )

    def output(self, directory: str, name: str, machine: Machine) -> list[Any]:
        """Return the messages of a topic."""
        log = FileLog(f"{directory}/log")
        if name not in log.topics():
            return []
        return [tuple(json.loads(message.value or b"")) for message in log.read(name)]
