"""What the result modes `table` and `changelog` show, and what their keys do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scurry.sql.client.executor import Cells
from scurry.sql.client.results import DisplaySettings, table_lines
from scurry.sql.client.views import REFRESH_INTERVALS, ResultView
from scurry.sql.types import BigIntType, DataType

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)
#: Lines of a terminal that has room for three rows.
HEIGHT = 11


class Answered:
    """A query whose changes are there."""

    columns: list[tuple[str, DataType]] = [("x", BigIntType())]  # noqa: RUF012
    is_query, has_content, job_id = True, True, None

    def __init__(self, changes: list[tuple[int, int]]) -> None:
        self._changes = changes

    def pages(self) -> Iterator[list[Cells]]:
        yield [(kind, (str(value),)) for kind, value in self._changes]

    def cancel(self) -> None:
        pass


def view(changes: list[tuple[int, int]], mode: str = "TABLE") -> ResultView:
    found = ResultView(Answered(changes), DisplaySettings({"sql-client.execution.result-mode": mode}))
    found.rows.join(10)
    found.refresh()
    return found


def rows(shown: ResultView) -> list[str]:
    """The rows of the page, below the names of the columns."""
    lines = shown.lines(100, HEIGHT)
    return [line.strip() for line in lines[4:-3] if line.strip()]


def page(shown: ResultView) -> str:
    return " ".join(shown.lines(100, HEIGHT)[1].split("Page: ")[1].split()[:3])


def test_a_table_has_the_rows_that_the_changes_leave() -> None:
    changes = [(INSERT, 1), (INSERT, 2), (UPDATE_BEFORE, 1), (UPDATE_AFTER, 5), (DELETE, 2)]
    assert rows(view(changes)) == ["5"]


def test_a_changelog_has_all_changes() -> None:
    changes = [(INSERT, 1), (UPDATE_BEFORE, 1), (UPDATE_AFTER, 5)]
    assert [row.split() for row in rows(view(changes, "CHANGELOG"))] == [["+I", "1"], ["-U", "1"], ["+U", "5"]]


def test_pages_are_turned_within_those_there_are() -> None:
    shown = view([(INSERT, value) for value in range(7)])
    assert (page(shown), rows(shown)) == ("Last of 3", ["6"])
    shown.turn(-1, HEIGHT)
    assert (page(shown), rows(shown)) == ("2 of 3", ["3", "4", "5"])
    shown.turn(-5, HEIGHT)
    assert (page(shown), rows(shown)) == ("1 of 3", ["0", "1", "2"])
    shown.go_to(2, HEIGHT)
    assert page(shown) == "2 of 3"
    shown.go_to(None, HEIGHT)
    assert page(shown) == "Last of 3"


def test_an_opened_row_is_shown_with_the_names_of_its_columns() -> None:
    shown = view([(INSERT, 7), (INSERT, 8)])
    shown.select(5, HEIGHT)
    assert shown.selected == 1
    shown.opened = shown.selected
    assert any(line.split() == ["x", "8"] for line in shown.lines(100, HEIGHT))


@pytest.mark.parametrize(("steps", "interval"), [(100, REFRESH_INTERVALS[-1][0]), (-100, REFRESH_INTERVALS[0][0])])
def test_the_refresh_is_no_slower_and_no_faster_than_there_is(steps: int, interval: float) -> None:
    shown = view([])
    shown.faster(steps)
    assert shown.refresh_seconds == interval


def test_a_printed_table_fits_the_terminal() -> None:
    lines = list(table_lines(["id", "note"], [["1", "x" * 30], ["2", "short"]], 30, room=24))
    assert lines == [
        "+----+-----------------+",
        "| id |            note |",
        "+----+-----------------+",
        "|  1 | xxxxxxxxxxxx... |",
        "|  2 |           short |",
        "+----+-----------------+",
    ]
    assert len(next(iter(table_lines(["a" * 9, "b" * 9], [], None, room=10)))) == 23  # no column below 8
