"""VECTOR_SEARCH of connectors that search by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.errors import ScurryError, ValidationError
from scurry.table import TableEnvironment
from scurry.table.connectors import register_connector
from support.vector_connector import PatientShelf, Shelf, ShelfFactory


@pytest.fixture(autouse=True)
def registered() -> None:
    register_connector(ShelfFactory)


@pytest.fixture(params=["false", "true"])
def patient(request: pytest.FixtureRequest, env: TableEnvironment) -> bool:
    env.execute_sql(
        "CREATE TABLE books (title STRING, place ARRAY<DOUBLE>) "
        f"WITH ('connector' = 'shelf', 'patient' = '{request.param}')"
    )
    return str(request.param) == "true"


def rows(env: TableEnvironment, config: str = "", join: str = ",", on: str = "", query: str = "Q.d") -> list[Any]:
    config = f", MAP[{config}]" if config else ""
    call = f"VECTOR_SEARCH(TABLE books, DESCRIPTOR(place), {query}, 1{config})"
    found = env.execute_sql(f"SELECT a, title, score FROM Q {join} LATERAL TABLE({call}) {on}").collect()
    return [tuple(row) for row in found]


def test_rows_are_those_of_the_finder_in_the_order_of_the_input(env: TableEnvironment, patient: bool) -> None:
    closed = Shelf.closed
    assert rows(env) == [(1, "cats", 3.0), (2, "dogs", 1.0)]
    assert Shelf.closed > closed
    assert rows(env, join="LEFT JOIN", on="ON TRUE")[-1] == (3, None, None)


def test_what_the_finder_raises_names_the_row(env: TableEnvironment, patient: bool) -> None:
    with pytest.raises(ScurryError) as failed:
        rows(env, query="ARRAY[Q.a, 0, 0]")
    shown = repr(failed.value.__cause__) + str(failed.value.__cause__) + str(failed.value)
    assert "the shelf has two sides" in shown


def test_the_mode_is_one_that_the_table_has(env: TableEnvironment, patient: bool) -> None:
    mode, other = ("sync", "false") if patient else ("async", "true")
    with pytest.raises(ValidationError, match=f"Require {mode} mode, but vector search provider of table"):
        rows(env, f"'async', '{other}'")
    assert len(rows(env, f"'async', '{str(patient).lower()}'")) == 2


def test_searches_overlap_as_far_as_the_call_lets_them(env: TableEnvironment) -> None:
    env.execute_sql(
        "CREATE TABLE books (title STRING, place ARRAY<DOUBLE>) WITH ('connector' = 'shelf', 'patient' = 'true')"
    )
    Shelf.most = PatientShelf.running = 0
    assert len(rows(env, "'max-concurrent-operations', '2'", query="ARRAY[1, 0]")) == 3
    assert Shelf.most == 2


def test_a_search_that_takes_too_long_fails(env: TableEnvironment) -> None:
    env.execute_sql(
        "CREATE TABLE books (title STRING, place ARRAY<DOUBLE>) WITH ('connector' = 'shelf', 'patient' = 'true')"
    )
    with pytest.raises(ScurryError) as failed:
        rows(env, "'timeout', '1 ms'")
    assert "timed out" in str(failed.value) + str(failed.value.__cause__)
