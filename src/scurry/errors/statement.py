"""StatementPlace: the part of a SQL statement that an error is about, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["StatementPlace"]

#: Widest line of a statement that is shown whole; of a longer one, the part around the place is.
_WIDEST = 120
_BEFORE = 40


@dataclass(frozen=True)
class StatementPlace:
    """A stretch of a statement's text.

    Attributes:
        text: The whole text that was parsed: a statement, or a script of many. It contains no secrets.
        start: Offset of the first character.
        end: Offset after the last character.
        file: The script that the text is from; empty if it is from none.
        before: How many lines of the script come before the text.
    """

    text: str
    start: int
    end: int
    file: str = ""
    before: int = 0

    @property
    def line(self) -> int:
        """Line of the first character, from 1."""
        return self.text.count("\n", 0, self.start) + 1 + self.before

    @property
    def column(self) -> int:
        """Column of the first character, from 1."""
        return self.start - self.text.rfind("\n", 0, self.start)

    def __str__(self) -> str:
        """Return `script.sql:3:8`, or `line 3, column 8` if the text is from no script."""
        return f"{self.file}:{self.line}:{self.column}" if self.file else f"line {self.line}, column {self.column}"

    def excerpt(self) -> str:
        """Return the line of the statement, with the place underlined."""
        begin = self.text.rfind("\n", 0, self.start) + 1
        line, _, _ = self.text[begin:].partition("\n")
        line = line.rstrip("\r")
        first = self.start - begin
        last = min(max(self.end - begin, first + 1), max(len(line), first + 1))
        if len(line) > _WIDEST:
            cut = max(min(first - _BEFORE, len(line) - _WIDEST), 0)
            shown = line[cut : cut + _WIDEST]
            line = f"{'...' * (cut > 0)}{shown}{'...' * (cut + _WIDEST < len(line))}"
            moved = cut - 3 * (cut > 0)
            first, last = first - moved, min(last - moved, len(line))
        number = f"{self.line:>4} | "
        indent = "".join("\t" if each == "\t" else " " for each in line[:first]).ljust(first)
        return f"{number}{line}\n{' ' * len(number)}{indent}{'^' * max(last - first, 1)}"
