"""Inputs and outputs of a simulated job: simulated sources and sinks, files, or a log, on the simulated disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar

from scurry.common import Encoder
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.files.filesystem import hidden
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.file_system import FileSink, FileSource, RollingPolicy, StreamFormat
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaRecordSerializationSchema
from scurry.datastream.connectors.log import FileLog, FileLogSink, FileLogSource
from scurry.testing.simulation.buckets import SimulatedStore
from scurry.testing.simulation.machine import Machine
from scurry.testing.simulation.parts import SimulatedSink, SimulatedSource
from scurry.testing.simulation.schedules import KINDS, KINDS_OF_STORES

__all__ = ["Endpoints", "FileEndpoints", "LogEndpoints", "StoreEndpoints"]

#: Partition, record and time in milliseconds of each, in the order of arrival.
Arriving = Sequence[tuple[int, Any, int]]


class Endpoints:
    """The source and the sinks of a program: here simulated ones, of which each call can fail.

    Subclasses keep records in files of the simulated disk. Their input is there before the job begins.
    """

    #: kind of a fault -> its weight
    kinds: ClassVar[dict[str, int]] = KINDS

    def prepare(self, directory: str, records: Arriving, partitions: int) -> None:
        """Let the input be there, below a directory that is the run's."""

    def active(self, machine: Machine) -> AbstractContextManager[None]:
        """Keep systems outside of the machine, such as an object store, up while a `with` block runs."""
        return nullcontext()

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
        return _source_of_lines(f"{directory}/input")

    def sink(self, directory: str, name: str) -> Any:
        """Return a sink that begins a file with each checkpoint."""
        return _sink_of_lines(f"{directory}/output/{name}")

    def output(self, directory: str, name: str, machine: Machine) -> list[Any]:
        """Return the records of the lines of all files that readers see."""
        found: list[Any] = []
        for place, directories, names in os.walk(f"{directory}/output/{name}"):
            directories.sort()
            for each in sorted(names):
                if not hidden(each):
                    with open(f"{place}/{each}", encoding="utf-8") as file:
                        found += [tuple(json.loads(line)) for line in file]
        return found


def _source_of_lines(directory: str) -> Any:
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory).build()


def _sink_of_lines(directory: str) -> Any:
    builder = FileSink.for_row_format(directory, Encoder.simple_string_encoder())
    return builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()


class StoreEndpoints(Endpoints):
    """Objects of lines in an object store, whose listings may be old, with a FileSource and a FileSink.

    Lines are those of `FileEndpoints`.
    """

    kinds = KINDS_OF_STORES

    def __init__(self) -> None:
        self._input: dict[str, bytes] = {}
        self._store: SimulatedStore | None = None

    def prepare(self, directory: str, records: Arriving, partitions: int) -> None:
        """Keep the objects of the input for the store of the run."""
        self._input = {
            f"input/{partition}": "".join(f"{line}\n" for line in _lines(records, partition)).encode()
            for partition in range(partitions)
        }

    @contextmanager
    def active(self, machine: Machine) -> Iterator[None]:
        """Let there be a store with the objects of the input while a `with` block runs."""
        self._store = store = SimulatedStore(machine, self._input)
        with store.active():
            yield

    def source(self, directory: str, records: Arriving, partitions: int) -> Any:
        """Return a source of the lines."""
        return _source_of_lines("s3://input")

    def sink(self, directory: str, name: str) -> Any:
        """Return a sink that begins an object with each checkpoint."""
        return _sink_of_lines(f"s3://output/{name}")

    def output(self, directory: str, name: str, machine: Machine) -> list[Any]:
        """Return the records of the lines of all objects that readers see."""
        assert self._store is not None
        contents = self._store.contents(f"output/{name}")
        return [
            tuple(json.loads(line))
            for path, content in contents.items()
            if not any(map(hidden, path.split("/")))
            for line in content.decode().splitlines()
        ]


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
