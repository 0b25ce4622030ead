"""BoundFormat: the format of a connector's messages, with its columns and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scurry._dataclasses import dataclass
from scurry.sql.catalog.table_options import Options
from scurry.sql.formats.contract import FormatColumn, FormatFactory
from scurry.sql.formats.messages import MessageDecoder, MessageEncoder
from scurry.sql.formats.registry import checked_options, find_message_format
from scurry.sql.types import DataType


@dataclass(frozen=True)
class BoundFormat:
    """A format with the columns and options of a table; picklable."""

    format: FormatFactory
    columns: tuple[FormatColumn, ...]
    options: Options

    @property
    def identifier(self) -> str:
        return self.format.identifier

    @property
    def insert_only(self) -> bool:
        """True if messages are rows that are added."""
        return self.format.insert_only

    @property
    def metadata(self) -> Mapping[str, DataType]:
        return self.format.metadata

    def decoder(self, columns: Sequence[str], metadata: Sequence[str]) -> MessageDecoder:
        return self.format.message_decoder(self.columns, columns, metadata, self.options)

    def encoder(self) -> MessageEncoder:
        return self.format.message_encoder(self.columns, self.options)


def bound_format(
    options: Options, space: str, identifier: str, columns: Sequence[FormatColumn], kind: str
) -> BoundFormat:
    """Return a format after checking its options.

    Args:
        space: What the keys of the format begin with: `key.`, `value.` or nothing.
        kind: `scan` or `sink`.

    Raises:
        ValidationError: There is no such format, its options are wrong, or it cannot read or write a column.
    """
    factory = find_message_format(identifier, kind)
    own = checked_options(factory, options.below(space), kind)
    found = BoundFormat(factory, tuple(columns), own)
    if kind == "scan":
        found.decoder([column.name for column in columns], ())
    else:
        found.encoder()
    return found


def format_keys(identifier: str, space: str) -> list[str]:
    """Return the keys of a format's options, empty if there is no such format."""
    factory = find_message_format(identifier, "scan")
    return [f"{space}{identifier}.{option.key}" for option in factory.options]
