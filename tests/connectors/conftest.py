"""Drives sources and sinks the way a runner does, without one."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import BatchLimits, ChunkSizer, Enumerator, MalformedRecords, Source
from scurry.errors import MalformedRecordError

#: The records of one micro-batch, by channel.
Batch = dict[int, list[Any]]


class Driver:
    """Runs the batches of a source, optionally restarting it from its position after every batch."""

    def __init__(
        self, source: Source, parallelism: int = 1, limits: BatchLimits | None = None, tolerant: bool = False
    ) -> None:
        self.source = source
        self.tolerant = tolerant
        self.malformed: list[MalformedRecordError] = []
        self.parallelism = parallelism
        self.limits = limits or BatchLimits()
        self.enumerator = self.create()
        self.final: set[int] = set()

    def create(self) -> Enumerator:
        return self.source.create_enumerator(self.parallelism, self.limits)

    def batch(self) -> Batch:
        shipped: Source = pickle.loads(pickle.dumps(self.source))
        records: Batch = {}
        for assignment in self.enumerator.next_batch():
            assert assignment.channel not in self.final, "a final channel got more"
            work = pickle.loads(pickle.dumps(assignment.work))
            chunks = shipped.read(work, ChunkSizer()) if work is not None else ()
            records[assignment.channel] = []
            for chunk in chunks:
                if not isinstance(chunk, MalformedRecords):
                    records[assignment.channel] += chunk[0]
                elif self.tolerant:
                    self.malformed += chunk.errors
                else:
                    raise chunk.errors[0]
            if assignment.final:
                self.final.add(assignment.channel)
        return records

    def restart(self, parallelism: int | None = None) -> None:
        position = json.loads(json.dumps(self.enumerator.position()))
        if parallelism is not None and parallelism != self.parallelism:
            self.parallelism, self.final = parallelism, set()
        self.enumerator = self.create()
        self.enumerator.restore(position)

    def batches(self, restarting: bool = False) -> list[Batch]:
        done = []
        while len(self.final) < self.source.channels(self.parallelism):
            done.append(self.batch())
            if restarting:
                self.restart()
        assert self.enumerator.next_batch() == []
        return done

    def by_channel(self) -> Batch:
        channels: Batch = {}
        for batch in self.batches():
            for channel, records in batch.items():
                channels.setdefault(channel, []).extend(records)
        return channels

    def all(self) -> list[Any]:
        return [record for _, records in sorted(self.by_channel().items()) for record in records]


@pytest.fixture
def drive() -> Callable[..., Driver]:
    return Driver


def write_batch(
    sink: Sink, batch_id: int, tasks: Sequence[Iterable[Any]], sink_id: str = "job-sink", input_type: Any = None
) -> list[Any]:
    """What the tasks of a batch hand to the committer."""
    committables = []
    for subtask, values in enumerate(tasks):
        context = WriterContext(subtask, len(tasks), batch_id, sink_id, input_type)
        writer: SinkWriter = pickle.loads(pickle.dumps(sink)).create_writer(context)
        for value in values:
            writer.write([value])
        committables += pickle.loads(pickle.dumps(writer.prepare_commit()))
    return committables


@pytest.fixture
def write() -> Callable[..., list[Any]]:
    return write_batch


@pytest.fixture
def run_sink() -> Callable[..., Committer]:
    """Writes and commits batches of one task each."""

    def run(sink: Sink, *batches: Iterable[Any], input_type: Any = None) -> Committer:
        committer = sink.create_committer("job-sink")
        for batch_id, values in enumerate(batches):
            committer.commit(batch_id, write_batch(sink, batch_id, [values], input_type=input_type))
        committer.finish()
        return committer

    return run
