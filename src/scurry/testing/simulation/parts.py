"""The source and the sink of simulated jobs: each call is an operation of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.testing.simulation.machine import running_machine

__all__ = ["SimulatedSink", "SimulatedSource"]

#: The largest number of records that arrive between two looks at a source.
_MOST_ARRIVALS = 6


@dataclass(frozen=True)
class SimulatedSource(Source):
    """Give records in the order in which they arrive, out of order by their times if they are so.

    A record stays in its partition, and partitions belong to a reader each. How much a reader gets at once, nothing
    included, is left to chance; readers that have read all end.

    Attributes:
        records: Partition, record and timestamp in milliseconds, in the order in which they arrive.
        partitions: The number of partitions.
    """

    records: tuple[tuple[int, Any, int], ...]
    partitions: int

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator at the beginning."""
        return _SimulatedEnumerator(self, parallelism)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield records in chunks of chance."""
        machine = running_machine()
        while work:
            machine.operation("source", f"of {len(work)}")
            count = machine.chance.randint(1, len(work))
            some, work = work[:count], work[count:]
            yield [value for value, _ in some], [time for _, time in some]


class _SimulatedEnumerator(Enumerator):
    def __init__(self, source: SimulatedSource, channels: int) -> None:
        self._source, self._channels = source, channels
        #: partition -> how many of all records have been looked at for it
        self._seen = dict.fromkeys(range(source.partitions), 0)
        #: whether several have records; the only one may be silent at first, as no other makes its records late
        self._together = len({partition for partition, _, _ in source.records}) > 1
        self._ended: set[int] = set()
        #: channels that have had an assignment since the start, which makes their partitions hold the watermark back
        self._speaking: set[int] = set()

    def next_batch(self) -> list[Assignment]:
        """Return the records that have arrived at each reader since the last call."""
        machine, found, total = running_machine(), [], len(self._source.records)
        machine.operation("next")
        for channel in range(self._channels):
            if channel in self._ended:
                continue
            own = [partition for partition in self._seen if partition % self._channels == channel]
            seen = min((self._seen[partition] for partition in own), default=total)
            until = min(total, seen + machine.chance.randint(0, _MOST_ARRIVALS))
            work = [
                (value, time)
                for number, (partition, value, time) in enumerate(self._source.records[:until])
                if partition in own and number >= self._seen[partition]
            ]
            for partition in own:
                self._seen[partition] = max(until, self._seen[partition])
            final = all(self._seen[partition] == total for partition in own)
            if final:
                self._ended.add(channel)
            if work or final or (self._together and channel not in self._speaking):
                found.append(Assignment(channel, work or None, final, len(work)))
            self._speaking.add(channel)
        return found

    def position(self) -> dict[str, Any]:
        seen = {str(partition): seen for partition, seen in self._seen.items()}
        return {"seen": seen, "channels": self._channels, "ended": sorted(self._ended)}

    def restore(self, position: dict[str, Any]) -> None:
        self._seen = {int(partition): seen for partition, seen in position["seen"].items()}
        self._ended = set(position["ended"]) if position["channels"] == self._channels else set()


@dataclass(frozen=True)
class SimulatedSink(Sink):
    """Keep records outside of the process, once for each batch: a commit may come again, and must be the same.

    Attributes:
        name: Names the output: of all processes of a run together.
    """

    name: str = "out"

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that keeps records until the commit."""
        return _Writer()

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that may fail or die before, within and after its work."""
        return _Committer(f"{self.name} {sink_id}")


class _Writer(SinkWriter):
    def __init__(self) -> None:
        self._values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        running_machine().operation("sink", f"write {values!r}")
        self._values += values

    def prepare_commit(self) -> list[Any]:
        running_machine().operation("sink", "prepare")
        return [self._values] if self._values else []


class _Committer(Committer):
    def __init__(self, name: str) -> None:
        self._kept = running_machine().outside.setdefault(name, {})

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        machine, values = running_machine(), [value for some in committables for value in some]
        machine.operation("commit", f"{batch_id} begins {len(values)}")
        done = self._kept.setdefault(batch_id, [])
        assert done == values[: len(done)], f"batch {batch_id} is committed as {values}, after {done}"
        for value in values[len(done) :]:
            done.append(value)
            machine.operation("commit", f"{batch_id} has {value!r}")
        machine.operation("commit", f"{batch_id} ends")
