"""The position of a part of a statement in its text."""

from __future__ import annotations

from typing import Final


class Span:
    """A stretch of a statement's text, from offset ``start`` up to but not including ``end``.

    Lines and columns start at 1; the end is that of the last character, as in Flink's messages.

    Attributes:
        text: The whole text that was parsed.
        start: Offset of the first character.
        end: Offset after the last character.
    """

    __slots__ = ("end", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.start = start
        self.end = end

    @property
    def line(self) -> int:
        """Line of the first character."""
        return line_and_column(self.text, self.start)[0]

    @property
    def column(self) -> int:
        """Column of the first character."""
        return line_and_column(self.text, self.start)[1]

    @property
    def end_line(self) -> int:
        """Line of the last character."""
        return line_and_column(self.text, max(self.end - 1, self.start))[0]

    @property
    def end_column(self) -> int:
        """Column of the last character."""
        return line_and_column(self.text, max(self.end - 1, self.start))[1]

    @property
    def source(self) -> str:
        """The characters themselves."""
        return self.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        return Span(self.text, self.start, other.end)

    def describe(self) -> str:
        """Return the place as Flink's validator names it.

        Returns:
            ``At line 1, column 11`` for a single character, else ``From line 1, column 8 to line 1, column 12``;
            an empty text if the place is not known.
        """
        if not self.text:
            return ""
        line, column = line_and_column(self.text, self.start)
        end_line, end_column = line_and_column(self.text, max(self.end - 1, self.start))
        if (line, column) == (end_line, end_column):
            return f"At line {line}, column {column}"
        return f"From line {line}, column {column} to line {end_line}, column {end_column}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return (self.start, self.end, self.text) == (other.start, other.end, other.text)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __repr__(self) -> str:
        return f"Span({self.start}, {self.end}, {self.source!r})"


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, both from 1, of an offset in a text."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


NO_SPAN: Final = Span("", 0, 0)
