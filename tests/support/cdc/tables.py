"""Tables of captured changes in an environment of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from scurry.table import EnvironmentSettings, TableEnvironment

GIVE_UP_SECONDS = 30


def environment(streaming: bool = True) -> TableEnvironment:
    modes = EnvironmentSettings.in_streaming_mode, EnvironmentSettings.in_batch_mode
    made = TableEnvironment.create(modes[not streaming]())
    made.get_config().set("scurry.runner", "local")
    return made


def rows(
    env: TableEnvironment, query: str, count: int, meanwhile: dict[int, Callable[[], None]]
) -> list[tuple[str, Any]]:
    """The kinds and rows of a query that does not end.

    Args:
        env: The environment.
        query: The query.
        count: How many rows are awaited.
        meanwhile: What is done after how many rows; after 0 it is done beside the query.
    """
    found: list[tuple[str, Any]] = []
    give_up = time.monotonic() + GIVE_UP_SECONDS
    with env.execute_sql(query).collect() as results:
        if 0 in meanwhile:  # the job begins with the first row that is asked for
            threading.Thread(target=meanwhile[0], daemon=True).start()
        for row in results:
            found.append((str(row.get_row_kind()), tuple(row)))
            if len(found) in meanwhile:
                meanwhile[len(found)]()
            if len(found) == count:
                break
            assert time.monotonic() < give_up, found
    return found


def hints(error: BaseException) -> str:
    """What an error and those that caused it say to do."""
    found: list[str] = []
    each: BaseException | None = error
    while each is not None:
        found += getattr(each, "__notes__", [])
        each = getattr(each, "cause", None) or each.__cause__
    return " ".join(found)
