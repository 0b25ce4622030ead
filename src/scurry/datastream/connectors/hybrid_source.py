"""HybridSource: one source after another."""

from __future__ import annotations

from collections.abc import Callable

from scurry.common._api import ApiObject, made_by
from scurry.connectors.hybrid import HybridSource as _HybridSource
from scurry.connectors.hybrid import LaterSource, SourceSwitchContext
from scurry.connectors.source import Source
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["HybridSource", "HybridSourceBuilder", "SourceSwitchContext"]


@made_by("builder")
class HybridSource(ApiObject, _HybridSource):
    """Read each source when the one before it has ended, for example files and then a live stream."""

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Return a builder that begins with a source."""
        return HybridSourceBuilder(first_source)


class HybridSourceBuilder(ApiObject):
    """Builder of a HybridSource: collects the sources in their order."""

    def __init__(self, first_source: Source) -> None:
        """Begin with a source."""
        self._sources: list[Source | LaterSource] = [first_source]

    def add_source(
        self,
        source: Source | Callable[[SourceSwitchContext], Source],
        *,
        bounded: bool = False,
        channels: int | None = None,
    ) -> HybridSourceBuilder:
        """Read this source when those before have ended.

        Args:
            source: The source, or a function that makes it when the one before it has ended, from its end position
                (Java's `SourceFactory`; PyFlink has none).
            bounded: Whether the source that the function makes ends; only then can other sources follow.
            channels: How many readers it has, for a KafkaSource the number of its partitions; by default the
                operator's parallelism. A source may use fewer; one that needs more fails the job.

        Raises:
            ArgumentTypeError: `source` is neither.
            ArgumentError: `bounded` or `channels` is set for a source, which has its own, or `channels` is below 1.
        """
        if isinstance(source, Source):
            if bounded or channels is not None:
                raise ArgumentError("bounded and channels are for a function that makes the source later")
            self._sources.append(source)
            return self
        if not callable(source):
            raise ArgumentTypeError(f"add_source takes a Source or a function that makes one, got {source!r}")
        if channels is not None and channels < 1:
            raise ArgumentError(f"channels must be 1 or more, got {channels}")
        self._sources.append(LaterSource(source, bounded, channels))
        return self

    def build(self) -> HybridSource:
        """Return the source.

        Raises:
            ArgumentError: A source before the last never ends.
            ArgumentTypeError: The sources have records of different types.
            UnsupportedError: A source can only be read by Spark.
        """
        return HybridSource(self._sources)
