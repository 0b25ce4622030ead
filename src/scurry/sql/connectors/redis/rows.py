"""RedisRows: rows of a table as keys of Redis with hashes, strings or sets, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import MalformedRecordError, RecordRejectedError
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.prepared import Prepared
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types.values import to_values
from scurry.sql.values.parsing import atom_parser
from scurry.sql.values.texts import atom_text

#: A row as texts, by column; None for NULL.
Texts = Mapping[str, str | None]


@dataclass(frozen=True)
class RedisRows(Prepared):
    """Store rows under keys that are made of their primary keys; picklable.

    Attributes:
        key: The columns of the primary key, in its order.
        kind: `hash`, whose fields are the columns; `string`, which is the only other column; `set`, whose members are
            the last column of the primary key.
        prefix: The begin of keys.
        delimiter: The text between the columns in a key.
        ttl_ms: Milliseconds after which a key is gone, None for never.
    """

    columns: tuple[FormatColumn, ...]
    key: tuple[str, ...]
    kind: str
    prefix: str = ""
    delimiter: str = ":"
    ttl_ms: int | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """Return the columns of the primary key that are in the key of Redis."""
        return self.key[:-1] if self.kind == "set" else self.key

    @property
    def other(self) -> str:
        """Return the only column that is not in the key of Redis."""
        return next(column.name for column in self.columns if column.name not in self.named)

    @cached_property
    def _texts(self) -> dict[str, Callable[[Any], str]]:
        found = {column.name: atom_text(column.type) for column in self.columns}
        return {name: text for name, text in found.items() if text is not None}

    @cached_property
    def _parsers(self) -> dict[str, Callable[[str], Any]]:
        found = {column.name: atom_parser(column.type) for column in self.columns}
        return {name: parse for name, parse in found.items() if parse is not None}

    # ---------------------------------------------------------------- writing

    def commands(self, changes: Changes) -> list[tuple[bool, dict[str, str | None]]]:
        """Return for each row whether it is gone, and its texts."""
        columns = [
            [None if value is None else text(value) for value in to_values(changes.batch.column(index))]
            for index, text in enumerate(self._texts[column.name] for column in self.columns)
        ]
        names = [column.name for column in self.columns]
        rows = [dict(zip(names, each, strict=True)) for each in zip(*columns, strict=True)]
        return list(zip(changes.gone, rows, strict=True))

    def place(self, row: Texts) -> str:
        """Return the key of Redis for a row.

        Raises:
            RecordRejectedError: A part of it cannot be told from the others.
        """
        parts = [row[name] or "" for name in self.named]
        if len(parts) > 1 and any(self.delimiter in part for part in parts):
            raise RecordRejectedError(
                f"its key {parts} has the delimiter {self.delimiter!r} in it; set another 'key.delimiter'", dict(row)
            )
        return self.prefix + self.delimiter.join(parts)

    def write(self, pipeline: Any, is_gone: bool, row: Texts) -> None:
        """Let a pipeline store a row, or remove it."""
        place = self.place(row)
        if self.kind == "set":
            (pipeline.srem if is_gone else pipeline.sadd)(place, row[self.key[-1]] or "")
        elif is_gone or (self.kind == "string" and row[self.other] is None):
            pipeline.delete(place)
            return
        elif self.kind == "string":
            pipeline.set(place, row[self.other])
        else:
            pipeline.delete(place)
            pipeline.hset(place, mapping={name: text for name, text in row.items() if text is not None})
        if self.ttl_ms is not None and not is_gone:
            pipeline.pexpire(place, self.ttl_ms)

    # ---------------------------------------------------------------- reading

    def ask(self, pipeline: Any, place: str) -> None:
        """Let a pipeline read a key."""
        {"hash": pipeline.hgetall, "string": pipeline.get, "set": pipeline.smembers}[self.kind](place)

    def rows(self, place: str, found: Any) -> Iterator[Texts]:
        """Yield the rows of a key, of which `ask` has found this."""
        if not found and found != b"":
            return
        parts = self._parts(place)
        if self.kind == "set":
            for member in sorted(found):
                yield parts | {self.key[-1]: member.decode()}
        elif self.kind == "string":
            yield parts | {self.other: found.decode()}
        else:
            yield parts | {name.decode(): text.decode() for name, text in found.items()}

    def _parts(self, place: str) -> dict[str, str | None]:
        rest = place[len(self.prefix) :]
        parts = rest.split(self.delimiter) if len(self.named) > 1 else [rest]
        if len(parts) != len(self.named):
            raise MalformedRecordError(
                f"key {place!r}", None, place, f"it has {len(parts)} parts, the primary key {len(self.named)} columns"
            ).with_hint("other keys begin with 'key.prefix', too: set one that only this table has")
        return dict(zip(self.named, parts, strict=True))

    def values(self, place: str, row: Texts, columns: Sequence[str]) -> tuple[Any, ...]:
        """Return some columns of a row.

        Raises:
            MalformedRecordError: A text is no value of its column.
        """
        return tuple(self._value(place, name, row.get(name)) for name in columns)

    def _value(self, place: str, name: str, text: str | None) -> Any:
        if text is None:
            return None
        try:
            return self._parsers[name](text)
        except ValueError as error:
            raise MalformedRecordError(f"key {place!r}, column {name!r}", None, text, str(error)) from None
