"""HybridSource: one source after another."""

from __future__ import annotations

from scurry.connectors.hybrid import HybridSource as _HybridSource
from scurry.connectors.source import Source

__all__ = ["HybridSource", "HybridSourceBuilder"]


class HybridSource(_HybridSource):
    """Reads each source when the one before it has ended, for example files and then a live stream."""

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Return a builder that begins with a source."""
        return HybridSourceBuilder(first_source)


class HybridSourceBuilder:
    """Collects the sources in their order."""

    def __init__(self, first_source: Source) -> None:
        """Begin with a source."""
        self._sources = [first_source]

    def add_source(self, source: Source) -> HybridSourceBuilder:
        """Read this source when those before have ended."""
        self._sources.append(source)
        return self

    def build(self) -> HybridSource:
        """Return the source.

        Raises:
            ArgumentError: A source before the last never ends.
        """
        return HybridSource(self._sources)
