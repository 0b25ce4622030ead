"""Every line of the cheat sheet gives the same rows in pandas, Polars (where it is installed) and here."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import scurry.dataframe as pf
from scurry.common._process import launch

PAGE = Path(__file__).parents[2] / "docs" / "coming-from" / "pandas-polars.md"
LINES = re.findall(r"^\| ([^|]+) \| `(.+?)` \| `(.+?)` \| `(.+?)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
DATA: dict[str, dict[str, list[Any]]] = {
    "orders": {
        "item": ["pen", "ink", "pen", "cap"],
        "city": ["Oslo", "Rome", "Rome", "Bonn"],
        "price": [2, 9, 3, 7],
        "amount": [1, None, 5, None],
    },
    "cities": {"city": ["Oslo", "Rome"], "land": ["Norway", "Italy"]},
    "tags": {"item": ["pen", "ink"], "tag": [["new", "blue"], ["old"]]},
}


@pytest.fixture(autouse=True)
def in_batch() -> Iterator[None]:
    with launch.activate(launch.LaunchOptions()):
        pf.config.set("execution.runtime-mode", "BATCH")
        yield


def rows(frame: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns, and the rows, in any order."""
    found = [tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)]
    return list(frame.columns), sorted(found, key=repr)


def here(text: str) -> Any:
    frames = {name: pf.from_dict(columns) for name, columns in DATA.items()}
    return rows(eval(text, {"pf": pf, **frames}).to_pandas())


def test_there_are_lines() -> None:
    assert len(LINES) > 20


@pytest.mark.parametrize(("what", "in_pandas", "_", "text"), LINES, ids=[line[0].replace(" ", "-") for line in LINES])
def test_as_in_pandas(what: str, in_pandas: str, _: str, text: str) -> None:
    frames = {name: pd.DataFrame(columns) for name, columns in DATA.items()}
    assert here(text) == rows(eval(in_pandas, {"pd": pd, **frames}))


@pytest.mark.skipif(importlib.util.find_spec("polars") is None, reason="Polars is not installed")
@pytest.mark.parametrize(("what", "_", "in_polars", "text"), LINES, ids=[line[0].replace(" ", "-") for line in LINES])
def test_as_in_polars(what: str, _: str, in_polars: str, text: str) -> None:
    polars = importlib.import_module("polars")
    frames = {name: polars.DataFrame(columns) for name, columns in DATA.items()}
    columns, found = rows(eval(in_polars, {"pl": polars, **frames}).to_pandas())
    assert here(text) == (columns, found)
