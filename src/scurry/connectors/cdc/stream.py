"""CdcSource: rows and changes of captured tables as records of a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.cdc.capture import ChangeCapture, ChunkWork, RowBlock
from scurry.connectors.cdc.enumerator import CdcEnumerator, EnumeratorSettings
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced


class ChangeDecoder(ABC):
    """Records of rows and changes; picklable."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation | None:
        """Return the type of the records, None for any Python object."""

    @abstractmethod
    def records(self, block: RowBlock) -> list[Any]:
        """Return the records of a block; an update is the row before it, if that is known, and the one after it."""


class CdcSource(Source):
    """Read captured tables: their rows in chunks, by all readers, then the log by one of them."""

    def __init__(self, capture: ChangeCapture, settings: EnumeratorSettings, decoder: ChangeDecoder) -> None:
        """Describe the source.

        Args:
            capture: The database.
            settings: How chunks and the log are assigned; the number of channels is the job's.
            decoder: Makes records of rows and changes.
        """
        self._capture = capture
        self._settings = settings
        self._decoder = decoder
        self.bounded = settings.startup.ends

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the type of the records."""
        return self._decoder.produced_type

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of chunks and of the log, which connects with the first micro-batch."""
        return CdcEnumerator(self._capture.open, replace(self._settings, channels=parallelism), limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of chunks, or of a range of the log."""
        return sliced((self._decoder.records(block) for piece in work for block in self._blocks(piece)), sizer)

    def _blocks(self, piece: Any) -> Iterator[RowBlock]:
        read = self._capture.read_chunk if isinstance(piece, ChunkWork) else self._capture.read_log
        return read(piece, None)
