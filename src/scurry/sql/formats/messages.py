"""The contract of formats of messages: bytes to rows and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass

if TYPE_CHECKING:
    import pyarrow as pa


class DecodingError(Exception):
    """A message that cannot be read.

    Attributes:
        index: Its position among those given to the decoder.
        reason: What is wrong with it.
        hint: The option that leaves such messages out; empty without one.
    """

    def __init__(self, index: int, reason: str, option: str = "") -> None:
        super().__init__(reason)
        self.index = index
        self.reason = reason
        self.hint = f"'{option}' = 'true' leaves out what cannot be read" if option else ""


@dataclass(frozen=True)
class DecodedMessages:
    """The rows of some messages.

    Attributes:
        origins: The position of each row's message; None if there is one row per message, in order.
        kinds: The kind of change of each row, values of `RowKind`; None if all are inserted.
    """

    batch: pa.RecordBatch
    origins: Sequence[int] | None = None
    kinds: Sequence[int] | None = None


class MessageDecoder(ABC):
    """Decode messages to columns; picklable."""

    @abstractmethod
    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        """Return the rows with the messages that they are from, of which a message may have any number.

        Raises:
            DecodingError: A message cannot be read.
        """

    def decode(self, messages: Sequence[bytes]) -> pa.RecordBatch:
        """Return the rows of some messages.

        Raises:
            DecodingError: A message cannot be read.
        """
        return self.decode_messages(messages).batch

    def block_decoder(self) -> Callable[[bytes | bytearray], pa.RecordBatch | None] | None:
        """Return a quick way to decode many lines at once, which gives None for those it leaves to `decode`."""
        return None


class MessageEncoder(ABC):
    """Encode the rows of record batches; picklable."""

    @abstractmethod
    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return one message per row."""

    def encode_changes(self, batch: pa.RecordBatch, kinds: Sequence[int] | None) -> list[bytes]:
        """Return one message per row, which says its kind of change if the format can.

        Args:
            kinds: Values of `RowKind`; None if all are inserted.
        """
        return self.encode(batch)
