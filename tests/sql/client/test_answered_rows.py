"""Rows: what a thread takes from an answer while a screen shows it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from scurry.errors import GatewayError
from scurry.sql.client.executor import Cells
from scurry.sql.client.views import Rows
from scurry.sql.types import BigIntType, DataType


class Endless:
    """A query whose rows end with an error: when it is cancelled, or after the first page."""

    columns: list[tuple[str, DataType]] = [("x", BigIntType())]  # noqa: RUF012
    is_query, has_content, job_id = True, True, None

    def __init__(self, fails: bool) -> None:
        self.cancelled = threading.Event()
        if fails:
            self.cancelled.set()

    def pages(self) -> Iterator[list[Cells]]:
        yield [(0, ("1",))]
        self.cancelled.wait(10)
        raise GatewayError("operation 7 was canceled")

    def cancel(self) -> None:
        self.cancelled.set()


@pytest.mark.parametrize("fails", [False, True], ids=["stopped by the user", "failed"])
def test_only_a_query_that_nobody_stopped_has_an_error(fails: bool) -> None:
    rows = Rows(Endless(fails), is_changelog=False, most=10)
    if not fails:
        rows.stop()
    rows.join(10)
    assert rows.is_over
    assert rows.snapshot() == [("1",)]
    assert (rows.error is not None) == fails
