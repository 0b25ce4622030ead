"""Formats that are read from a stream of bytes: their base, and lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry.common import _charsets
from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.format import FileFormat
from scurry.connectors.files.formats.ranges import compressed, open_decompressed, owned_blocks
from scurry.errors import UnsupportedError

#: About how many bytes of lines are decoded at once.
_PIECE_BYTES = 256 * 1024


class StreamFormat(FileFormat):
    """A format read from a stream of bytes, such as text. Flink's `StreamFormat`."""

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """Return the format that reads lines of text.

        Args:
            charset_name: The character set of the files.
        """
        return TextLineFormat(charset_name)


class TextLineFormat(StreamFormat):
    r"""Read lines of text like Java's `BufferedReader.readLine`.

    A line ends at `\n`, `\r\n` or `\r`; empty lines are records; invalid bytes become U+FFFD. Files named
    .gz, .gzip, .bz2, .xz, .deflate or .zst are decompressed.
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        """Create a format of text lines.

        Raises:
            UnsupportedError: Python does not support the character set.
        """
        try:
            self.charset = _charsets.codec_of(charset)
        except LookupError:
            raise UnsupportedError(f"unknown character set {charset!r}; use one that Python's codecs know") from None

    @property
    def produced_type(self) -> TypeInformation | None:
        """STRING."""
        return Types.STRING()

    @property
    def meets_malformed_records(self) -> bool:
        """False: every line is a record."""
        return False

    def splittable(self, path: str) -> bool:
        r"""Return whether the file can be cut at the byte of `\n`."""
        return self._has_line_bytes() and not compressed(path)

    def _has_line_bytes(self) -> bool:
        stateful = self.charset.startswith(("iso2022", "hz", "utf-7"))
        return "\n".encode(self.charset) == b"\n" and not stateful

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Sequence[Any]]:
        with open_decompressed(fs, path) as file:
            if self._has_line_bytes():
                for _, data in owned_blocks(file, path, start, end):
                    for piece in _pieces(data):
                        yield split_lines(piece.decode(self.charset, "replace"))
            else:
                yield split_lines(_charsets.decode(file.read(), self.charset))


def _pieces(lines: bytearray) -> Iterator[bytes | bytearray]:
    """Cut lines into pieces whose texts stay in the processor's caches until they have been processed."""
    start = 0
    while len(lines) - start > _PIECE_BYTES and (end := lines.find(b"\n", start + _PIECE_BYTES) + 1):
        yield lines[start:end]
        start = end
    if start < len(lines):
        yield lines[start:] if start else lines


def split_lines(text: str) -> list[str]:
    r"""Split only at `\n`, `\r\n` and `\r`; a line end at the end of the text starts no further line."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
