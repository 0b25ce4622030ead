"""Answers as lines of text, in the layout of Flink's SQL client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from scurry.common._config.tables import DISPLAY_MAX_COLUMN_WIDTH, DML_SYNC
from scurry.common.redaction import one_line, printable
from scurry.common.types import RowKind
from scurry.errors import ValidationError
from scurry.sql.client.executor import Answer, Cells
from scurry.sql.statements.display.tableau import border_line, cells_line, column_width, display_width

NULL = "<NULL>"
#: Width below which no column is cut for the terminal.
_NARROWEST = 8

Write = Callable[[str], None]


_MODE = "sql-client.execution.result-mode"
_MODES = ("TABLE", "CHANGELOG", "TABLEAU")
_MOST_ROWS = "sql-client.execution.max-table-result.rows"
_WIDEST = DISPLAY_MAX_COLUMN_WIDTH.key
_WIDEST_OF_CLIENT = "sql-client.display.max-column-width"


class DisplaySettings:
    """The settings of a session that say how results are shown.

    Values are read where they are needed: SET and RESET, which change one that cannot be read, need none.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self.is_streaming = settings.get("execution.runtime-mode", "STREAMING").upper() != "BATCH"
        self.with_time = settings.get("sql-client.display.print-time-cost", "true").lower() == "true"
        self.verbose = settings.get("sql-client.verbose", "false").lower() == "true"
        self.waits = settings.get(DML_SYNC.key, DML_SYNC.default).lower() == "true"

    @property
    def mode(self) -> str:
        """Return the result mode of the interactive client."""
        value = self._settings.get(_MODE, "TABLE")
        if value.upper() not in _MODES:
            raise _unreadable(_MODE, value, f"one of {', '.join(_MODES)}")
        return value.upper()

    @property
    def chooses_mode(self) -> bool:
        """Return whether the session sets the mode; without it, a result that is complete soon is printed."""
        return _MODE in self._settings

    @property
    def most_rows(self) -> int:
        """Return the maximum number of rows that the interactive client keeps."""
        return self._number(_MOST_ROWS, "1000000")

    @property
    def widest(self) -> int:
        """Return the maximum width of a column."""
        return self._number(
            _WIDEST_OF_CLIENT if self._settings.get(_WIDEST_OF_CLIENT) else _WIDEST, DISPLAY_MAX_COLUMN_WIDTH.default
        )

    def _number(self, key: str, default: str) -> int:
        value = self._settings.get(key, default)
        try:
            return int(value)
        except ValueError:
            raise _unreadable(key, value, "a whole number") from None


def _unreadable(key: str, value: str, expected: str) -> ValidationError:
    return ValidationError(f"Could not parse value '{value}' for key '{key}'. Expected {expected}.")


def print_answer(answer: Answer, settings: DisplaySettings, began: float, write: Write) -> None:
    """Print the rows of an answer.

    Args:
        answer: The answer. Ctrl-C cancels it, and nothing else.
        settings: How to show it.
        began: When its statement was sent, in seconds of the monotonic clock.
        write: Prints a line.
    """
    if not answer.is_query:
        # As in Flink, NULL is shown in rows of queries only.
        _print_all(answer, None, lambda count: f"{count} row{'s' * (count != 1)} in set", write, "", null="")
        return

    def cost() -> str:
        return f" ({time.monotonic() - began:.2f} seconds)" if settings.with_time else ""

    if settings.is_streaming:
        _print_changes(answer, settings, cost, write)
        return
    try:
        _print_all(
            answer, settings.widest, lambda count: f"{count} row{'s' * (count != 1)} in set{cost()}", write, cost
        )
    except KeyboardInterrupt:
        answer.cancel()
        write("Query terminated.")


def print_text(answer: Answer, write: Write) -> None:
    """Print the texts of an answer of one column, such as a plan, as they are."""
    for page in answer.pages():
        for row in page:
            write("\n".join(printable(cell) for cell in row[1] if cell is not None))


def _print_all(
    answer: Answer,
    widest: int | None,
    summary: Callable[[int], str],
    write: Write,
    cost: Callable[[], str] | str,
    null: str = NULL,
) -> None:
    """Print rows in columns that are as wide as their values."""
    rows = [row for page in answer.pages() for row in page]
    if not rows:
        write(f"Empty set{cost if isinstance(cost, str) else cost()}")
        return
    for line in table_lines([name for name, _ in answer.columns], [cells(row, null) for row in rows], widest):
        write(line)
    write(summary(len(rows)))


def table_lines(
    names: Sequence[str], rows: Sequence[Sequence[str]], widest: int | None, room: int | None = None
) -> Iterable[str]:
    """Return rows in columns that are as wide as their values.

    Args:
        widest: How wide a column is at the most; None for no limit.
        room: Columns of the terminal, which the widest columns are cut for; None for no limit.
    """
    widths = [max([display_width(name), *(display_width(row[i]) for row in rows)]) for i, name in enumerate(names)]
    if widest is not None:
        widths = [max(display_width(name), min(width, widest)) for name, width in zip(names, widths, strict=True)]
    if room is not None:
        while sum(widths) + 3 * len(widths) + 1 > room and max(widths) > _NARROWEST:
            widths[widths.index(max(widths))] -= 1
    return _framed(names, widths, rows)


def _framed(names: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    border = border_line(widths)
    yield from (border, cells_line(names, widths), border)
    for row in rows:
        yield cells_line(row, widths)
    yield border


def _print_changes(answer: Answer, settings: DisplaySettings, cost: Callable[[], str], write: Write) -> None:
    """Print changes as they come, in columns whose width follows from their types."""
    names = ["op", *(name for name, _ in answer.columns)]
    widths = [2, *(max(len(name), len(NULL), column_width(kind, settings.widest)) for name, kind in answer.columns)]
    border = border_line(widths)
    for line in (border, cells_line(names, widths), border):
        write(line)
    count = 0
    said = "Received"
    try:
        for page in answer.pages():
            for row in page:
                write(cells_line([str(RowKind(row[0])), *cells(row)], widths))
                count += 1
    except KeyboardInterrupt:
        answer.cancel()
        said = "Query terminated, received"
    else:
        if count:
            write(border)
    write(f"{said} a total of {count} row{'s' * (count > 1)}{cost()}")


def cells(row: Cells, null: str = NULL) -> list[str]:
    """Return the texts of a row, with the text of NULL."""
    return [null if cell is None else one_line(cell) for cell in row[1]]
