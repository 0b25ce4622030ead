"""HybridSource: reads several sources, one after the other."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.pickling import Captured, by_value, loads
from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError


class SourceSwitchContext:
    """The source that has ended, for creating the next: Flink's `SourceSwitchContext`.

    Attributes:
        previous_source: The source that has ended.
        previous_position: The last `position()` of its enumerator, JSON-able data. Of a FileSource, `newest` is the
            modification time in milliseconds and the path of the newest file; of a KafkaSource, `partitions` is a list
            of topic, partition, next offset and end.
    """

    def __init__(
        self, previous_source: Source, previous_position: dict[str, Any], enumerator: Callable[[], Enumerator]
    ) -> None:
        self.previous_source = previous_source
        self.previous_position = previous_position
        self._enumerator = enumerator

    def get_previous_enumerator(self) -> Enumerator:
        """Open the previous source again; return its enumerator at its last position."""
        return self._enumerator()


@dataclass(frozen=True)
class LaterSource:
    """A source that is created when the previous one has ended: Flink's `SourceFactory`.

    Attributes:
        factory: Creates the source. A job that resumes after the switch calls it again with the same position; the
            source then continues from its own checkpointed position, not from the start that the factory gives it.
        bounded: Whether the source ends.
        channels: Number of its readers (of a KafkaSource: its partitions); None for the operator's parallelism.
    """

    factory: Callable[[SourceSwitchContext], Source]
    bounded: bool = False
    channels: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "factory", Captured(self.factory).copy())  # it is called much later


class HybridSource(Source):
    """Read each source when the previous one has ended, for example files and then a live stream.

    All but the last must be bounded. A source is opened (its files are listed) only when everything before it is
    committed.
    """

    def __init__(self, sources: Sequence[Source | LaterSource]) -> None:
        """Create a source that reads other sources one after the other.

        Raises:
            ArgumentError: There is no source, one before the last is unbounded, or the first is a `LaterSource`.
            ArgumentTypeError: An element is not a source, or sources have records of different types.
            UnsupportedError: A source that only Spark reads.
        """
        if not sources:
            raise ArgumentError("a HybridSource needs at least one source")
        for index, source in enumerate(sources):
            if not isinstance(source, Source | LaterSource):
                raise ArgumentTypeError(f"source {index + 1} of a HybridSource is no source: {source!r}")
            if not source.bounded and index + 1 < len(sources):
                raise ArgumentError(f"source {index + 1} of {len(sources)} in a HybridSource never ends; put it last")
        first = sources[0]
        if not isinstance(first, Source):
            raise ArgumentError("the first source of a HybridSource has none before it to be made from")
        self._type = first.produced_type
        self.sources = tuple(sources)
        self.bounded = sources[-1].bounded
        self.replayable = all(isinstance(source, LaterSource) or source.replayable for source in sources)
        for index, source in enumerate(sources):
            if isinstance(source, Source):
                self._check(index, source)

    def _check(self, index: int, source: Source) -> None:
        if not source.native:
            raise UnsupportedError(
                f"source {index + 1} of a HybridSource is a DataFrame of Spark, whose end is never known; read "
                "the files, topic or table with scurry's own source, or union the two streams"
            )
        if _type(source.produced_type) not in (_type(self._type), _type(None)) and self._type is not None:
            raise ArgumentTypeError(
                f"source {index + 1} of a HybridSource has records of type {source.produced_type}, the first has "
                f"{self._type}: give them the same, for example by reading both as strings and parsing in a map"
            )

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of all sources."""
        return self._type

    @property
    def meets_malformed_records(self) -> bool:
        """Return whether any source may meet malformed records; a `LaterSource` is assumed to."""
        return any(isinstance(source, LaterSource) or source.meets_malformed_records for source in self.sources)

    def channels(self, parallelism: int) -> int:
        """Return the largest number of channels that any source needs."""
        return max(
            (source.channels or parallelism) if isinstance(source, LaterSource) else source.channels(parallelism)
            for source in self.sources
        )

    def made(self, index: int, context: SourceSwitchContext, parallelism: int) -> Source:
        """Return the source that the factory of a `LaterSource` creates.

        Raises:
            ArgumentError: It is unbounded but was declared bounded, or needs more channels than there are.
            ArgumentTypeError: It is not a source, or has records of another type.
            UnsupportedError: A source that only Spark reads.
        """
        later = self.sources[index]
        assert isinstance(later, LaterSource)
        source = later.factory(context)
        if not isinstance(source, Source):
            raise ArgumentTypeError(f"the factory of source {index + 1} of a HybridSource returned {source!r}")
        self._check(index, source)
        if later.bounded and not source.bounded:
            raise ArgumentError(
                f"the factory of source {index + 1} of a HybridSource returned a source that never ends; it was added "
                "as bounded"
            )
        needed, there = source.channels(parallelism), self.channels(parallelism)
        if needed > there:
            raise ArgumentError(
                f"the factory of source {index + 1} of a HybridSource returned a source with {needed} readers, and "
                f"there are {there}; add it with channels={needed} and start the job again: it resumes here"
            )
        return source

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that runs the sources' enumerators one after the other."""
        return _HybridEnumerator(self, parallelism, limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of one assignment of one of the sources."""
        index, inner, *shipped = work
        source = _unpacked(shipped[0]) if shipped else self.sources[index]
        assert isinstance(source, Source)
        return source.read(inner, sizer)


def _type(declared: TypeInformation | None) -> TypeInformation:
    return Types.PICKLED_BYTE_ARRAY() if declared is None else declared


def _packed(source: Source) -> bytes:
    """Return a pickled source, with classes by name where possible, else by value."""
    try:
        return pickle.dumps(source, 5)
    except Exception:
        return by_value(source)


@functools.lru_cache(maxsize=16)
def _unpacked(packed: bytes) -> Source:
    source: Source = loads(packed)
    return source


@dataclass
class _Turn:
    """A source that is read or was read in this run, and its pickle if tasks do not have it in the plan."""

    source: Source
    packed: bytes | None = None


class _HybridEnumerator(Enumerator):
    def __init__(self, hybrid: HybridSource, parallelism: int, limits: BatchLimits) -> None:
        self._hybrid = hybrid
        self._channels = hybrid.channels(parallelism)
        self._parallelism = parallelism
        #: the parallelism of the current source: a restore with as many channels keeps its splits where they are
        self._current_parallelism = parallelism
        self._limits = limits
        #: the channels that wait for others; None if channels share the limits
        self._held: Collection[int] | None = None
        self._index = 0
        #: the last positions of the sources before the current one
        self._before: list[dict[str, Any]] = []
        #: the current source, and earlier ones that were created in this run
        self._turns: dict[int, _Turn] = {}
        #: the enumerator of the current source, once it is open; before that, its restored position, if any
        self._current: Enumerator | None = None
        self._restored_position: dict[str, Any] | None = None
        #: channels that the current source has ended or does not have; None until it is open
        self._ended: set[int] | None = None
        #: of a source restored with another number of channels: its own number of channels, and those that had ended
        self._channels_before: tuple[int, list[int]] | None = None
        #: the channels for which the restored position of the current source was made, until that is opened
        self._dealt: dict[str, Any] | None = None
        #: channels that were reported as final
        self._reported: set[int] = set()

    # ---------------------------------------------------------------- the sources

    def _turn(self, index: int) -> _Turn:
        if index not in self._turns:
            source = self._hybrid.sources[index]
            self._turns[index] = _Turn(source) if isinstance(source, Source) else self._make(index)
        return self._turns[index]

    def _make(self, index: int) -> _Turn:
        previous, position = self._turn(index - 1).source, self._before[index - 1]
        opened: list[Enumerator] = []

        def enumerator() -> Enumerator:
            if not opened:
                opened.append(previous.create_enumerator(self._parallelism, self._limits))
                opened[0].restore(position)
            return opened[0]

        try:
            source = self._hybrid.made(index, SourceSwitchContext(previous, position, enumerator), self._parallelism)
        finally:
            for each in opened:
                each.close()
        return _Turn(source, _packed(source))

    def _opened(self) -> Enumerator:
        if self._current is None:
            source = self._turn(self._index).source
            self._current = source.create_enumerator(self._current_parallelism, self._limits)
            if self._held is not None:
                self._current.align(self._held)
            if self._restored_position is not None:
                self._current.restore(self._restored_position)
            if self._ended is None:
                own = source.channels(self._current_parallelism)
                self._ended = set(range(own, self._channels))
                number, ended = self._channels_before or (own, [])
                if number == own:  # otherwise it reassigns splits, and ends each channel again
                    self._ended.update(channel for channel in ended if channel < own)
        return self._current

    def _switch(self) -> None:
        position = self._restored_position if self._current is None else self._current.position()
        assert position is not None
        self.close()
        self._before.append(position)
        self._index += 1
        self._current = self._restored_position = self._ended = self._channels_before = self._dealt = None
        self._current_parallelism = self._parallelism

    # ---------------------------------------------------------------- assigning

    def next_batch(self) -> list[Assignment]:
        # A batch never mixes two sources, and a source is opened only after all of the previous one is committed.
        while True:
            last = self._index + 1 == len(self._hybrid.sources)
            if not last and self._ended is not None and len(self._ended) == self._channels:
                self._switch()
                continue
            batch = self._opened().next_batch()
            assert self._ended is not None
            self._ended.update(assignment.channel for assignment in batch if assignment.final)
            if last:
                return self._last(batch)
            work = [self._wrap(each, False) for each in batch if each.work is not None or not each.final]
            if work or len(self._ended) < self._channels:
                return work

    def _last(self, batch: list[Assignment]) -> list[Assignment]:
        """Return the assignments of the last source; a channel that it ends is final."""
        assert self._ended is not None
        self._reported.update(assignment.channel for assignment in batch if assignment.final)
        silent = sorted(self._ended - self._reported)
        self._reported.update(silent)
        assigned = [self._wrap(assignment, assignment.final) for assignment in batch]
        return assigned + [Assignment(channel, None, True) for channel in silent]

    def _wrap(self, assignment: Assignment, final: bool) -> Assignment:
        if assignment.work is None:
            return Assignment(assignment.channel, None, final)
        packed = self._turn(self._index).packed
        work = (self._index, assignment.work) if packed is None else (self._index, assignment.work, packed)
        return Assignment(assignment.channel, work, final, assignment.amount)

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        self._limits = limits
        if self._current is not None:
            self._current.limit(limits, record_bytes)

    def align(self, held: Collection[int]) -> None:
        self._held = held
        if self._current is not None:
            self._current.align(held)

    def expects(self, channel: int) -> bool:
        if self._current is None or self._ended is None:
            return True
        return channel not in self._ended and self._current.expects(channel)

    @property
    def obeys_limits(self) -> bool:
        return self._current is None or self._current.obeys_limits

    def backlog(self) -> Backlog | None:
        return None if self._current is None else self._current.backlog()

    def metrics(self) -> Mapping[str, int]:
        """Return the metrics of the current source."""
        return {} if self._current is None else self._current.metrics()

    def idle_hint(self) -> float:
        return 0.0 if self._current is None else self._current.idle_hint()

    def committed(self) -> None:
        if self._current is not None:
            self._current.committed()

    def close(self) -> None:
        if self._current is not None:
            self._current.close()

    # ---------------------------------------------------------------- position

    def position(self) -> dict[str, Any]:
        dealt = {} if self._current is not None or self._dealt is None else {"dealt": self._dealt}
        return dealt | {
            "source": self._index,
            "channels": self._channels,
            "ended": None if self._ended is None else sorted(self._ended),
            "own": None if self._ended is None else self._turn(self._index).source.channels(self._current_parallelism),
            "final": sorted(self._reported),
            "current": self._restored_position if self._current is None else self._current.position(),
            "before": list(self._before),
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue in the source that was being read; earlier ones are not opened again."""
        index, dealt = position["source"], position.get("dealt", position)
        ended = dealt["ended"]
        sources = len(self._hybrid.sources)
        if index >= sources:
            raise ArgumentError(f"the job was reading source {index + 1} of a HybridSource, which now has {sources}")
        self._index, self._restored_position = index, position["current"]
        self._before = list(position.get("before", []))
        self._dealt = {name: dealt[name] for name in ("channels", "ended", "own")}
        if position["channels"] == self._channels:
            self._reported = set(position["final"] if "final" in position else position["told"])  # its earlier name
        if dealt["channels"] == self._channels:
            self._ended = None if ended is None else set(ended)
            self._current_parallelism = dealt["own"] or self._parallelism
        elif index + 1 < sources and ended is not None and len(ended) == dealt["channels"]:
            self._ended = set(range(self._channels))
        elif ended is not None:
            self._channels_before = (dealt["own"], ended)
