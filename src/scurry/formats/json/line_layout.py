"""LineLayout: reads JSON lines that differ in nothing but their values, with numpy."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LineLayout"]

#: a member of an object: what precedes its name, the name, what follows, a text or a number
_MEMBER = re.compile(
    rb'([ ]*[{,][ ]*)"([^"\\\x00-\x1f]*)"([ ]*:[ ]*)(?:(")[^"\\\x00-\x1f]*"|-?\d+)',
)
_END = re.compile(rb"[ ]*\}[ ]*")
_NEWLINE, _QUOTE, _MINUS, _ZERO = b'\n"-0'
#: the words that constant text is compared in, the longest first
_WORDS = (8, 4, 2, 1)
#: bytes read at once: they stay in the cache of a core from one step to the next
_CHUNK_BYTES = 1024 * 1024
#: bytes before the lines: a word may begin before the first number
_MARGIN = 16
#: digits of the longest number that is read
_DIGITS = 16

Positions = np.ndarray[Any, np.dtype[np.int64]]


class _UnlikeError(Exception):
    """A line differs from the layout in more than its values."""


@dataclass(frozen=True)
class _Member:
    """A member of each line.

    Attributes:
        name: Its name.
        is_text: Whether its value is in quotes.
        before: The text from the end of the value before, its quote included, to the value.
        quote: The place of the name's first quote in `before`.
        mark: Its number among the quotes of a line.
    """

    name: str
    is_text: bool
    before: bytes
    quote: int
    mark: int


@dataclass(frozen=True)
class LineLayout:
    """What the lines of a file have in common: the names of their members, in one order, with the same spaces.

    A machine writes such lines, and a parser reads each of their characters again. Here the quotes and ends of lines
    are found first; then the text between the values is compared, a column at once.

    Attributes:
        members: The members of a line.
        end: The text behind the last value.
        marks: The number of quotes of a line and its end.
    """

    members: tuple[_Member, ...]
    end: bytes
    marks: int

    @classmethod
    def of(cls, line: bytes | bytearray) -> LineLayout | None:
        """Return the layout of a line, None if it has other values than texts and whole numbers."""
        members: list[_Member] = []
        position = mark = 0
        closing = b""
        while match := _MEMBER.match(line, position):
            lead, name, colon, quote = match.groups(b"")
            if (lead.strip() == b"{") is not (not members):
                return None
            before = closing + lead + b'"' + name + b'"' + colon + quote
            members.append(_Member(name.decode("utf-8", "replace"), bool(quote), before, len(closing + lead), mark))
            mark += 4 if quote else 2
            closing, position = quote, match.end()
        end = _END.fullmatch(line, position)
        if end is None or not members or len({each.name for each in members}) < len(members):
            return None
        return cls(tuple(members), closing + end[0], mark + 1)

    def read(self, data: bytes | bytearray, columns: pa.Schema) -> dict[str, pa.Array] | None:
        """Return columns of lines, None if a line has another layout, a backslash or a control character.

        Args:
            data: Whole lines in UTF-8.
            columns: The columns to return: strings and whole numbers.

        Raises:
            ArrowInvalid: A number is too large for its column.
        """
        import pyarrow as pa

        texts = {member.name: member.is_text for member in self.members}
        if b"\\" in data or any(texts.get(each.name) is not (each.type == pa.string()) for each in columns):
            return None
        ends = [0]
        while ends[-1] < len(data):
            ends.append(data.find(b"\n", ends[-1] + _CHUNK_BYTES) + 1 or len(data))
        chunk = _Chunk(max(end - begin for begin, end in pairwise(ends)))
        chunks: list[dict[str, pa.Array]] = []
        try:
            for begin, end in pairwise(ends):
                chunk.fill(memoryview(data)[begin:end])
                chunks.append(self._read_chunk(chunk, columns.names))
        except _UnlikeError:
            return None
        return {each.name: pa.concat_arrays([chunk[each.name] for chunk in chunks]).cast(each.type) for each in columns}

    def _read_chunk(self, chunk: _Chunk, wanted: Collection[str]) -> dict[str, pa.Array]:
        import pyarrow as pa

        marks = chunk.marks(self.marks)
        ends = marks[-1]
        begins = [marks[member.mark] - member.quote for member in self.members]
        begins.append(ends - len(self.end))
        _require(begins[0][0] == _MARGIN and (begins[0][1:] == ends[:-1] + 1).all())
        # Only when all the text between them is right do the positions enclose values.
        for begin, text in zip(begins, [*(member.before for member in self.members), self.end], strict=True):
            chunk.require_text(begin, text)
        columns: dict[str, pa.Array] = {}
        for member, begin, end in zip(self.members, begins[:-1], begins[1:], strict=True):
            start = begin + len(member.before)
            if not member.is_text:
                numbers = chunk.numbers(start, end)
                if member.name in wanted:
                    columns[member.name] = pa.array(numbers)
            elif member.name in wanted:
                columns[member.name] = chunk.texts(start, end)
        return columns


class _Chunk:
    """Some lines, as bytes and as words that begin at any byte. It is filled again and again: fresh memory is slow.

    Args:
        capacity: The most bytes of lines.
    """

    def __init__(self, capacity: int) -> None:
        size = _MARGIN + capacity + 1
        self._memory = np.full(size, _ZERO, np.uint8)
        self._words = {
            width: np.ndarray((size - width + 1,), f"<u{width}", self._memory, strides=(1,)) for width in _WORDS
        }
        self._bytes = self._memory
        self._is_quote, self._is_mark = np.empty(size, np.bool_), np.empty(size, np.bool_)

    def fill(self, lines: memoryview) -> None:
        """Replace the lines; the last one may lack its end."""
        end = _MARGIN + len(lines)
        self._memory[_MARGIN:end] = lines
        if lines[-1] != _NEWLINE:
            self._memory[end] = _NEWLINE
            end += 1
        self._bytes = self._memory[:end]

    def marks(self, per_line: int) -> Positions:
        """Return the positions of quotes and ends of lines: a row for each of those of a line."""
        text = self._bytes
        is_quote, is_mark = self._is_quote[: len(text)], self._is_mark[: len(text)]
        np.equal(text, _QUOTE, out=is_quote)
        np.less(text, ord(" "), out=is_mark)
        controls = np.count_nonzero(is_mark)
        np.logical_or(is_quote, is_mark, out=is_mark)
        found = np.flatnonzero(is_mark)
        _require(len(found) % per_line == 0)
        marks = np.ascontiguousarray(found.reshape(-1, per_line).T)
        _require((text[marks[-1]] == _NEWLINE).all() and controls == marks.shape[1])
        return marks

    def require_text(self, begins: Positions, text: bytes) -> None:
        """Raise an error if a text does not stand at all positions."""
        done = 0
        while done < len(text):
            width = next(width for width in _WORDS if width <= len(text))
            if (left := len(text) - done) < width:
                # the last word overlaps the one before, or is a shorter one
                width, done = (width, len(text) - width) if left > 2 else (2 if left == 2 else 1, done)
            word = np.frombuffer(text, f"<u{width}", 1, done)[0]
            _require((self._words[width][done:][begins] == word).all())
            done += width

    def texts(self, begins: Positions, ends: Positions) -> pa.Array:
        """Return the texts between positions."""
        import pyarrow as pa

        # every second piece of the chunk is a value
        offsets = np.zeros(2 * len(begins) + 1, np.int32)
        offsets[1::2], offsets[2::2] = begins, ends
        pieces = pa.Array.from_buffers(
            pa.string(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(self._bytes)]
        )
        return pieces.take(pa.array(np.arange(1, len(offsets) - 1, 2, dtype=np.int32)))

    def numbers(self, begins: Positions, ends: Positions) -> Positions:
        """Return the whole numbers between positions."""
        negative = self._bytes[begins] == _MINUS
        widths = ends - begins - negative
        longest = widths.max()
        _require(widths.min() > 0 and longest <= _DIGITS)
        _require(not ((self._bytes[begins + negative] == _ZERO) & (widths > 1)).any())
        values = self._eight_digits(ends, np.minimum(widths, 8))
        if longest > 8:
            values += self._eight_digits(ends - 8, np.maximum(widths - 8, 0)) * 100_000_000
        return np.where(negative, -values, values) if negative.any() else values

    def _eight_digits(self, ends: Positions, widths: Positions) -> Positions:
        """Return the numbers of up to eight digits that end at positions: a digit is a byte of a word."""
        digits = self._words[8][ends - 8]
        unused = ((8 - widths) * 8).astype(np.uint64)
        digits ^= np.uint64(0x3030303030303030)
        # Two shifts: one by the 64 bits of a number of no digits would have no effect.
        half = unused >> np.uint64(1)
        digits = digits >> half >> (unused - half) << half << (unused - half)
        _require(not (((digits + np.uint64(0x0606060606060606)) | digits) & np.uint64(0xF0F0F0F0F0F0F0F0)).any())
        pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
        odd = np.uint64(0x000000FF000000FF)
        high = (pairs & odd) * np.uint64(0x000F424000000064)
        low = ((pairs >> np.uint64(16)) & odd) * np.uint64(0x0000271000000001)
        numbers: Positions = (((high + low) >> np.uint64(32)) & np.uint64(0xFFFFFFFF)).astype(np.int64)
        return numbers


def _require(holds: Any) -> None:
    if not holds:
        raise _UnlikeError
