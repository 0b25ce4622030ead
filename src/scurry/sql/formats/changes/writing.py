"""ChangeEncoder: changes of rows as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.sql.formats.json.codec import JsonEncoder
from scurry.sql.formats.messages import MessageEncoder

if TYPE_CHECKING:
    import pyarrow as pa

_GONE = (RowKind.UPDATE_BEFORE.value, RowKind.DELETE.value)


def _images(operation: str, insert: str, delete: str) -> tuple[bytes, bytes, bytes, bytes]:
    return (
        b'{"before":null,"after":',
        b',"%s":"%s"}' % (operation.encode(), insert.encode()),
        b'{"before":',
        b',"after":null,"%s":"%s"}' % (operation.encode(), delete.encode()),
    )


#: what is before and behind the row that is added, and the row that is removed
_AROUND = {
    "debezium-json": _images("op", "c", "d"),
    "ogg-json": _images("op_type", "I", "D"),
    "canal-json": (b'{"data":[', b'],"type":"INSERT"}', b'{"data":[', b'],"type":"DELETE"}'),
    "maxwell-json": (b'{"data":', b',"type":"insert"}', b'{"data":', b',"type":"delete"}'),
}


@dataclass(frozen=True)
class ChangeEncoder(MessageEncoder):
    """Encode an update as a deletion and an insertion, as Flink does.

    Attributes:
        identifier: The format.
        skip_nulls: Whether NULL fields are left out, `before` and `after` too.
    """

    identifier: str
    rows: JsonEncoder
    skip_nulls: bool

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the messages of inserted rows."""
        return self.encode_changes(batch, None)

    def encode_changes(self, batch: pa.RecordBatch, kinds: Sequence[int] | None) -> list[bytes]:
        """Return the message of each row."""
        begin, end, gone_begin, gone_end = _AROUND[self.identifier]
        if self.skip_nulls:
            begin, gone_end = begin.replace(b'"before":null,', b""), gone_end.replace(b',"after":null', b"")
        rows = self.rows.encode(batch)
        return [
            gone_begin + row + gone_end if kind in _GONE else begin + row + end
            for kind, row in zip(kinds if kinds is not None else [0] * len(rows), rows, strict=True)
        ]
