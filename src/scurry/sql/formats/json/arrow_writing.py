"""JSON of columns without a Python call for each value, where it is the same text: whole numbers, and plain texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from scurry.connectors.files.formats.json.writer import JsonTexts, JsonWriting
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import CharType, DataType, IntegralType, VarCharType
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

#: Rows from which calls of Arrow cost less than those of Python that they save.
FEW_ROWS: Final = 32
#: Bytes of a batch from which its texts might be too long for one array.
_MOST_BYTES: Final = 256 << 20


def json_objects(batch: pa.RecordBatch, columns: tuple[FormatColumn, ...], settings: JsonWriting) -> pa.Array | None:
    """Return the rows as JSON objects, as `JsonTexts.objects` does; None if that is slower, or NULLs are left out.

    Args:
        batch: The rows, at least one column of them.
        columns: Its columns.
        settings: How to write.
    """
    if batch.num_rows < FEW_ROWS or settings.skip_nulls or batch.nbytes > _MOST_BYTES:
        return None
    texts, parts = JsonTexts(settings), list[Any]()
    quoted = texts.value(VarCharType())
    for column, array in zip(columns, batch.columns, strict=True):
        key = quoted(column.name) + ":"
        parts += [(",", "{")[not parts] + key, _values(array, column.type, texts)]
    return joined(*parts, "}")


def _values(array: pa.Array, data_type: DataType, texts: JsonTexts) -> pa.Array:
    """Return the JSON of values."""
    import pyarrow as pa

    text = texts.value(data_type)
    if isinstance(data_type, CharType | VarCharType):
        return text_column(array, text)
    if isinstance(data_type, IntegralType) and pa.types.is_integer(array.type):
        return array.cast(pa.string()).fill_null("null")
    return pa.array(["null" if value is None else text(value) for value in to_values(array)], pa.string())


def text_column(array: pa.Array, quote: Callable[[str], str]) -> pa.Array:
    """Return texts as JSON strings.

    Args:
        array: The texts.
        quote: Returns a text as a JSON string; only called for texts that are not plain.
    """
    import pyarrow as pa

    if pa.types.is_string(array.type) and _is_plain(array):
        found = joined('"', array, '"')
        return found.fill_null("null") if found.null_count else found
    return pa.array(["null" if value is None else quote(value) for value in to_values(array)], pa.string())


def joined(*parts: str | pa.Array) -> pa.Array:
    """Return the rows of columns of texts, and of texts that each row has, one after the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    scalars = [pa.scalar(part, pa.string()) if isinstance(part, str) else part for part in (*parts, "")]
    return pc.binary_join_element_wise(*scalars)


def _is_plain(array: pa.Array) -> bool:
    """Return whether texts are valid and have nothing to escape."""
    import numpy as np
    import pyarrow as pa

    _, offsets, data = array.buffers()
    if data is None or not len(array):
        return True
    at = np.frombuffer(offsets, np.int32, len(array) + 1, array.offset * 4)
    worst = _kinds_of_bytes()[np.frombuffer(data, np.uint8, at[-1] - at[0], at[0])].max(initial=0)
    if worst == 1:
        try:
            array.validate(full=True)
        except pa.ArrowInvalid:
            return False
    return bool(worst < 2)


@cache
def _kinds_of_bytes() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return for each byte of UTF-8: 0 if it is plain, 1 beyond ASCII, 2 if the character is perhaps escaped."""
    import numpy as np

    kinds = np.zeros(256, np.uint8)
    kinds[0x80:] = 1
    kinds[0xF0:] = 2  # characters beyond U+FFFF begin with these
    kinds[:0x20] = kinds[ord('"')] = kinds[ord("\\")] = 2
    return kinds
