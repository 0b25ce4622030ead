"""LineLayout: reads JSON lines that differ in nothing but their values, with numpy."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from scurry._dataclasses import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

#: a member of an object: what precedes its name, the name, what follows, a text or a number
_MEMBER = re.compile(
    rb'([ ]*[{,][ ]*)"([^"\\\x00-\x1f]*)"([ ]*:[ ]*)(?:(")[^"\\\x00-\x1f]*"|-?\d+)',
)
_END = re.compile(rb"[ ]*\}[ ]*")
_NEWLINE, _QUOTE, _MINUS, _ZERO = b'\n"-0'
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
        is_text: Whether its value is in quotes.
        before: The text from the end of the value before, its quote included, to the value.
    """

    name: str
    is_text: bool
    before: bytes


@dataclass(frozen=True)
class LineLayout:
    """The common layout of the lines of a file: the names of their members, in one order, with the same spaces.

    A machine writes such lines, and a parser reads each of their characters again. Here the beginnings of members are
    found first; then the text between the values is compared, a column at once.

    Attributes:
        separator: The text before the name of each member but the first.
        end: The text behind the last value.
    """

    members: tuple[_Member, ...]
    separator: bytes
    end: bytes

    @classmethod
    def of(cls, line: bytes | bytearray) -> LineLayout | None:
        """Return the layout of a line, None if it has other values than texts and whole numbers."""
        members: list[_Member] = []
        separators: set[bytes] = set()
        closing, position = b"", 0
        while match := _MEMBER.match(line, position):
            lead, name, colon, quote = match.groups(b"")
            if (lead.strip() == b"{") is not (not members):
                return None
            if members:
                separators.add(lead + b'"')
            before = closing + lead + b'"' + name + b'"' + colon + quote
            members.append(_Member(name.decode("utf-8", "replace"), bool(quote), before))
            closing, position = quote, match.end()
        end = _END.fullmatch(line, position)
        if end is None or len({each.name for each in members}) < max(len(members), 1) or len(separators) > 1:
            return None
        return cls(tuple(members), next(iter(separators), b""), closing + end[0])

    def read(self, data: bytes | bytearray, columns: pa.Schema, lines: Lines) -> dict[str, pa.Array] | None:
        """Return columns of lines, None if a line has another layout, a backslash or a control character.

        Args:
            data: Whole lines in UTF-8.
            columns: The columns to return: strings and whole numbers.
            lines: The memory to use.

        Raises:
            ArrowInvalid: A number is too large for its column.
        """
        import pyarrow as pa

        is_text = {member.name: member.is_text for member in self.members}
        if b"\\" in data or any(is_text.get(each.name) is not (each.type == pa.string()) for each in columns):
            return None
        ends = [0]
        while ends[-1] < len(data):
            ends.append(data.find(b"\n", ends[-1] + _CHUNK_BYTES) + 1 or len(data))
        chunks: list[dict[str, pa.Array]] = []
        try:
            for begin, end in pairwise(ends):
                lines.fill(memoryview(data)[begin:end])
                chunks.append(self._read_chunk(lines, columns.names))
        except _UnlikeError:
            return None
        return {each.name: pa.concat_arrays([chunk[each.name] for chunk in chunks]).cast(each.type) for each in columns}

    def _read_chunk(self, lines: Lines, wanted: Collection[str]) -> dict[str, pa.Array]:
        import pyarrow as pa

        constants = [*(member.before for member in self.members), self.end]
        begins = self._begins(lines, b"".join(constants).count(b'"'))
        for begin, text in zip(begins, constants, strict=True):
            lines.require_text(begin, text)
        # Only now is it known that the positions enclose values; the count of quotes says that no value has one.
        columns: dict[str, pa.Array] = {}
        for member, begin, end in zip(self.members, begins[:-1], begins[1:], strict=True):
            start = begin + len(member.before)
            if not member.is_text:
                numbers = lines.numbers(start, end)
                if member.name in wanted:
                    columns[member.name] = pa.array(numbers)
                continue
            _require((start <= end).all())
            if member.name in wanted:
                columns[member.name] = lines.texts(start, end)
        return columns

    def _begins(self, lines: Lines, quotes: int) -> list[Positions]:
        """Return where the text before each member begins, and the text behind the last."""
        *members, ends = lines.marks(self.separator, len(self.members), quotes)
        begins = [np.concatenate(([_MARGIN], ends[:-1] + 1))]
        for position, earlier in zip(members, self.members[:-1], strict=True):
            begins.append(position - (len(self.separator) - 1 + earlier.is_text))
        return [*begins, ends - len(self.end)]


class Lines:
    """Some lines, as bytes and as words that begin at any byte; filled again and again, for fresh memory is slow."""

    def __init__(self) -> None:
        self._allocate(_MARGIN + 2 * _CHUNK_BYTES)

    def _allocate(self, size: int) -> None:
        self._memory = np.empty(size, np.uint8)
        self._memory[:_MARGIN] = _ZERO
        self._words = {
            width: np.ndarray((size - width + 1,), f"<u{width}", self._memory, strides=(1,)) for width in (8, 4, 2, 1)
        }
        self._flags = np.empty((2, size), np.bool_)
        self._bytes = self._memory[:_MARGIN]

    def fill(self, lines: memoryview) -> None:
        """Replace the lines; the last one may lack its end."""
        end = _MARGIN + len(lines)
        if end >= len(self._memory):
            self._allocate(end + 1)
        self._memory[_MARGIN:end] = lines
        if lines[-1] != _NEWLINE:
            self._memory[end] = _NEWLINE
            end += 1
        self._bytes = self._memory[:end]

    def marks(self, separator: bytes, per_line: int, quotes: int) -> Positions:
        """Return the positions of members but the first, and of ends of lines: a row for each of those of a line.

        Args:
            separator: The text that ends with the first quote of a member.
            per_line: How many of them a line has.
            quotes: How many quotes a line has.
        """
        text = self._bytes
        is_mark, flags = self._flags[:, : len(text)]
        np.equal(text, _QUOTE, out=is_mark)
        count = np.count_nonzero(is_mark)
        for distance, character in enumerate(reversed(separator[:-1]), 1):
            np.equal(text, character, out=flags)
            is_mark[distance:] &= flags[:-distance]
        if not separator:
            is_mark[:] = False
        np.less(text, ord(" "), out=flags)
        is_mark |= flags
        found = np.flatnonzero(is_mark)
        _require(len(found) % per_line == 0)
        marks = np.ascontiguousarray(found.reshape(-1, per_line).T)
        rows = marks.shape[1]
        _require(count == rows * quotes and np.count_nonzero(flags) == rows and (text[marks[-1]] == _NEWLINE).all())
        return marks

    def require_text(self, begins: Positions, text: bytes) -> None:
        """Raise an error if a text does not stand at all positions."""
        for offset, width in _words_of(len(text)):
            word = np.frombuffer(text, f"<u{width}", 1, offset)[0]
            _require((self._words[width][offset:][begins] == word).all())

    def texts(self, begins: Positions, ends: Positions) -> pa.Array:
        """Return the texts between positions."""
        import pyarrow as pa

        # every second piece of the memory is a value
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


def _words_of(size: int) -> Iterator[tuple[int, int]]:
    """Yield offsets and widths of words that cover a text; the last one may overlap the one before."""
    if size >= 8:
        yield from ((min(offset, size - 8), 8) for offset in range(0, size, 8))
        return
    offset = 0
    for width in (4, 2, 1):
        if size & width:
            yield offset, width
            offset += width


def _require(holds: Any) -> None:
    if not holds:
        raise _UnlikeError
