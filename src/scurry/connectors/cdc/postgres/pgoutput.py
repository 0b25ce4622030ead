"""The messages of pgoutput, PostgreSQL's plugin for logical decoding, version 1 of the protocol."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple, TypeAlias

from scurry._dataclasses import dataclass

_BEGIN = struct.Struct("!qqI")
_RELATION = struct.Struct("!I")
_ATTRIBUTE = struct.Struct("!Ii")
_SHORT = struct.Struct("!h")
_INT = struct.Struct("!i")
#: Milliseconds from 1970 to 2000, where PostgreSQL's times begin.
_EPOCH_MILLIS = 946_684_800_000


class Unchanged:
    """The value of a column that an update did not change and that is stored out of line (TOAST)."""

    def __repr__(self) -> str:
        return "<unchanged>"


UNCHANGED = Unchanged()
#: The values of a row as text, None for NULL.
Values: TypeAlias = list[Any]


class Begin(NamedTuple):
    """The begin of a transaction, which `lsn` says where it is committed."""

    lsn: int
    millis: int
    xid: int


@dataclass(frozen=True)
class Relation:
    """The columns of a table, as of the changes that follow."""

    number: int
    schema: str
    name: str
    identity: str
    columns: tuple[str, ...]
    keys: tuple[bool, ...]


class Change(NamedTuple):
    """A change of a row.

    Attributes:
        kind: `I`, `U` or `D`.
        relation: The number of the table.
        old: The row before, None if it is not known.
        whole: Whether all columns of the row before are known, not those of its identity only.
        new: The row after, None if it is deleted.
    """

    kind: str
    relation: int
    old: Values | None
    whole: bool
    new: Values | None


def parse(data: bytes) -> Begin | Relation | Change | None:
    """Return the content of a message; None for those that change no row."""
    kind = data[:1]
    if kind in (b"I", b"U", b"D"):
        return _change(kind.decode(), data)
    if kind == b"B":
        lsn, micros, xid = _BEGIN.unpack_from(data, 1)
        return Begin(lsn, micros // 1000 + _EPOCH_MILLIS, xid)
    return _relation(data) if kind == b"R" else None


def _relation(data: bytes) -> Relation:
    (number,) = _RELATION.unpack_from(data, 1)
    schema, at = _text(data, 5)
    name, at = _text(data, at)
    identity = data[at : at + 1].decode()
    (count,) = _SHORT.unpack_from(data, at + 1)
    at += 3
    columns, keys = [], []
    for _ in range(count):
        keys.append(data[at] == 1)
        column, at = _text(data, at + 1)
        at += _ATTRIBUTE.size
        columns.append(column)
    return Relation(number, schema or "pg_catalog", name, identity, tuple(columns), tuple(keys))


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def _change(kind: str, data: bytes) -> Change:
    (relation,) = _RELATION.unpack_from(data, 1)
    at, size = 5, len(data)
    old, new, whole = None, None, False
    while at < size:
        part = data[at : at + 1]
        values, at = _tuple(data, at + 1)
        if part == b"N":
            new = values
        else:
            old, whole = values, part == b"O"
    return Change(kind, relation, old, whole, new)


def _tuple(data: bytes, at: int) -> tuple[Values, int]:
    (count,) = _SHORT.unpack_from(data, at)
    at += 2
    values: Values = []
    for _ in range(count):
        kind = data[at]
        at += 1
        if kind == 0x74:  # t
            (size,) = _INT.unpack_from(data, at)
            at += 4
            values.append(data[at : at + size].decode())
            at += size
        else:
            values.append(UNCHANGED if kind == 0x75 else None)  # u, or n
    return values, at
