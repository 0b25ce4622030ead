"""The result modes `table` and `changelog`: the rows so far, in pages, on the whole terminal."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Sequence

from scurry.common.redaction import one_line
from scurry.common.types import RowKind
from scurry.sql.client.executor import Answer
from scurry.sql.client.results import NULL, DisplaySettings, table_lines
from scurry.sql.statements.display.tableau import column_width, display_width

#: Seconds between refreshes, and their name on the screen.
REFRESH_INTERVALS = (
    (0.0, "-"),
    (0.05, "Fastest"),
    (0.1, "100 ms"),
    (0.5, "500 ms"),
    (1.0, "1 s"),
    (5.0, "5 s"),
    (10.0, "10 s"),
    (60.0, "1 min"),
    (600.0, "10 min"),
)
#: Maximum rows that stay on the terminal.
_MOST_PRINTED = 200
_FINISHED = "Table program finished."
_FAILED = "Table program failed."

Line = tuple[str | None, ...]


class Rows:
    """The rows of an answer, taken by a thread of their own.

    In the mode `table` these are the rows of the table that the changes make; in `changelog` the changes themselves.
    """

    def __init__(self, answer: Answer, is_changelog: bool, most: int) -> None:
        """Begin to take them.

        Args:
            is_changelog: Whether the changes are kept as they are.
            most: How many rows are kept; the oldest go first.
        """
        self._answer, self._is_changelog, self._most = answer, is_changelog, most
        self._rows: list[Line] = []
        self._lock = threading.Lock()
        self.error: BaseException | None = None
        self.is_over = False
        self._is_stopped = False
        self._thread = threading.Thread(target=self._take, name="scurry-sql-rows", daemon=True)
        self._thread.start()

    def join(self, seconds: float | None = None) -> None:
        """Wait until the last row has come."""
        self._thread.join(seconds)

    def snapshot(self) -> list[Line]:
        with self._lock:
            return list(self._rows)

    def stop(self) -> None:
        """Stop fetching rows, and cancel the query."""
        if not self.is_over:
            self._is_stopped = True
            self._answer.cancel()

    def _take(self) -> None:
        try:
            for page in self._answer.pages():
                with self._lock:
                    for kind, cells in page:
                        self._change(RowKind(kind), tuple(None if cell is None else one_line(cell) for cell in cells))
        except BaseException as error:  # shown on the screen
            self.error = None if self._is_stopped else error
        finally:
            self.is_over = True

    def _change(self, kind: RowKind, row: Line) -> None:
        if self._is_changelog:
            self._rows.append((str(kind), *row))
        elif kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            self._rows.append(row)
        else:
            for index in range(len(self._rows) - 1, -1, -1):
                if self._rows[index] == row:
                    del self._rows[index]
                    break
        if len(self._rows) > self._most:
            del self._rows[: len(self._rows) - self._most]


class ResultView:
    """The screen of a result: a title, columns, a page of rows, and the keys."""

    def __init__(self, answer: Answer, settings: DisplaySettings) -> None:
        """Begin to take the rows.

        Args:
            settings: How to show it.
        """
        self._is_changelog, self._widest = settings.mode == "CHANGELOG", settings.widest
        self.rows = Rows(answer, self._is_changelog, settings.most_rows)
        names = [name for name, _ in answer.columns]
        widths = [max(len(name), len(NULL), column_width(kind, settings.widest)) for name, kind in answer.columns]
        self._names = ["op", *names] if self._is_changelog else names
        self._widths = [2, *widths] if self._is_changelog else widths
        self._shown: list[Line] = []
        self._updated = datetime.datetime.now()
        self.interval = 4
        self._page: int | None = None
        self.opened: int | None = None
        self.selected = 0

    @property
    def refresh_seconds(self) -> float:
        """Seconds between refreshes; 0 if only the user refreshes."""
        return REFRESH_INTERVALS[self.interval][0]

    def refresh(self) -> None:
        """Show the rows so far."""
        self._shown = self.rows.snapshot()
        self._updated = datetime.datetime.now()

    def printed(self, room: int | None = None) -> list[str]:
        """Return the rows so far as lines that stay on the terminal: the last ones, if there are many.

        Args:
            room: Columns of the terminal; None for no limit.
        """
        rows = self.rows.snapshot()
        shown = [[NULL if cell is None else cell for cell in row] for row in rows[-_MOST_PRINTED:]]
        count = f"{len(rows)} row{'s' * (len(rows) != 1)}"
        if len(rows) > len(shown):
            count = f"the last {len(shown)} of {count}"
        if not rows:
            return ["Empty set"]
        return [
            *table_lines(self._names, shown, self._widest, room),
            f"{count} {'in set' if self.rows.is_over else 'so far'}",
        ]

    def turn(self, pages: int, height: int) -> None:
        """Turn some pages forward, or back if negative."""
        last = self._last_page(height)
        current = last if self._page is None else self._page
        turned = min(max(current + pages, 1), last)
        self._page = None if turned == last else turned

    def go_to(self, page: int | None, height: int) -> None:
        """Show a page, from 1; None for the last one, which follows new rows."""
        last = self._last_page(height)
        self._page = None if page is None or page >= last else max(page, 1)

    def faster(self, steps: int) -> None:
        """Refresh less often, or more often if negative."""
        self.interval = min(max(self.interval + steps, 0), len(REFRESH_INTERVALS) - 1)

    def select(self, steps: int, height: int) -> None:
        """Move to another row of the page."""
        count = len(self._rows_of_page(height))
        self.selected = min(max(self.selected + steps, 0), max(count - 1, 0))

    def lines(self, width: int, height: int) -> list[str]:
        """Return the text of the screen.

        Args:
            width: Columns of the terminal.
        """
        title = f"SQL Query Result ({'Changelog' if self._is_changelog else 'Table'})"
        head = [title.center(width).rstrip(), self._status(width, height), ""]
        keys = _keys(width)
        body = self._opened(height) if self.opened is not None else self._table(height)
        room = max(height - len(head) - len(keys) - 1, 1)
        body = [line[:width] for line in body[:room]]
        return [*head, *body, *[""] * (room - len(body)), "", *keys]

    def _status(self, width: int, height: int) -> str:
        if self.rows.error is not None:
            left = f" {_FAILED} {self.rows.error}".splitlines()[0]
        elif self.rows.is_over:
            left = f" {_FINISHED}"
        else:
            left = f" Refresh: {REFRESH_INTERVALS[self.interval][1]}"
        last = self._last_page(height)
        middle = f"Page: {'Last' if self._page is None else self._page} of {last}"
        right = f"Updated: {self._updated:%H:%M:%S}.{self._updated.microsecond // 1000:03d} "
        free = max(width - len(left) - len(middle) - len(right), 2)
        return f"{left}{' ' * (free // 2)}{middle}{' ' * (free - free // 2)}{right}"[:width]

    def _page_rows(self, height: int) -> int:
        return max(height - 8, 1)

    def _last_page(self, height: int) -> int:
        return max(-(-len(self._shown) // self._page_rows(height)), 1)

    def _rows_of_page(self, height: int) -> list[Line]:
        size = self._page_rows(height)
        page = self._last_page(height) if self._page is None else self._page
        return self._shown[(page - 1) * size : page * size]

    def _table(self, height: int) -> list[str]:
        rows = self._rows_of_page(height)
        lines = [_row(self._names, self._widths)]
        return lines + [_row([NULL if cell is None else cell for cell in row], self._widths) for row in rows]

    def _opened(self, height: int) -> list[str]:
        rows = self._rows_of_page(height)
        if self.opened is None or self.opened >= len(rows):
            return []
        widest = max(map(len, self._names))
        cells = (NULL if cell is None else cell for cell in rows[self.opened])
        return [f" {name.ljust(widest)}  {cell}" for name, cell in zip(self._names, cells, strict=True)]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f" {_fitted(cell, width)}" for cell, width in zip(cells, widths, strict=True))


def _fitted(text: str, width: int) -> str:
    text = text.replace("\n", " ")
    if display_width(text) <= width:
        return " " * (width - display_width(text)) + text
    cut = text
    while display_width(cut) > width - 1:
        cut = cut[:-1]
    return cut + "~"


def _keys(width: int) -> list[str]:
    first = ("Q Quit", "+ Inc Refresh", "G Goto Page", "N Next Page", "O Open Row")
    second = ("R Refresh", "- Dec Refresh", "L Last Page", "P Prev Page", "")
    each = max(min(width // 5, 19), 14)
    join: Callable[[tuple[str, ...]], str] = lambda keys: "".join(key.ljust(each) for key in keys).rstrip()[:width]  # noqa: E731
    return [join(first), join(second)]
