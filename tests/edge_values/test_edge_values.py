"""Edge values through every operator, in this process, beside what Flink recorded: `record.py`."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from scurry.errors import ScurryError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.edge_values import (
    DEFINITIONS,
    DIFFERENT,
    MODES,
    Query,
    differences,
    queries,
    recorded,
    rows_by_name,
    shown_rows,
)
from support.edge_values import write_files as write


def environment(mode: str, directory: Path) -> TableEnvironment:
    write(str(directory))
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    found = TableEnvironment.create(settings)
    found.get_config().set("scurry.runner", "local").set("table.display.max-column-width", "400")
    for statement in DEFINITIONS:
        found.execute_sql(statement.replace("{tmp}", str(directory)))
    return found


def printed(env: TableEnvironment, statement: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        env.execute_sql(statement).print()
    return output.getvalue()


def answer(env: TableEnvironment, query: Query) -> dict[str, list[str]]:
    env.get_config().set("table.local-time-zone", query.zone)
    try:
        found = {query.name: rows_by_name(printed(env, query.as_texts)).get(query.name, [])}
        if query.is_printed:
            found[f"print {query.name}"] = shown_rows(printed(env, query.plain))
    except ScurryError as error:
        found = {query.name: [f"! {error}"]}
    return found


@pytest.mark.parametrize("mode", MODES)
def test_queries_have_the_rows_of_flink(mode: str, tmp_path: Path) -> None:
    env = environment(mode, tmp_path)
    found: dict[str, list[str]] = {}
    for query in queries(mode):
        found |= answer(env, query)
    different = differences(recorded(mode), found)
    assert {name: rows for name, rows in different.items() if name not in DIFFERENT[mode]} == {}
    assert set(different) == DIFFERENT[mode]


@pytest.mark.parametrize("mode", MODES)
def test_collected_numbers_are_those_that_are_printed(mode: str, tmp_path: Path) -> None:
    env = environment(mode, tmp_path)
    with env.execute_sql("SELECT i, v FROM doubles").collect() as rows:
        found = [f"{row[0]} ; {shown(row[1])}" for row in rows]
    assert sorted(found) == recorded(mode)["doubles, UTC: values"]


def shown(value: float | None) -> str:
    return {"None": "NULL", "nan": "NaN", "-inf": "-Infinity"}.get(repr(value), repr(value))
