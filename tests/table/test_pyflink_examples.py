"""The examples of tables that PyFlink 2.3.0 brings run unmodified, and print what PyFlink prints.

tests/fixtures/pyflink_examples has them, with the lines that PyFlink printed where they do not depend on chance, in any
order. `streaming_word_count` is not there: it does not end.
"""

from __future__ import annotations

import io
import json
import re
import runpy
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import scurry.pyflink_alias  # noqa: F401
from scurry.common._process import launch

EXAMPLES = Path(__file__).parent.parent / "fixtures" / "pyflink_examples"
PRINTED = json.loads((EXAMPLES / "printed.json").read_text())


@pytest.fixture(autouse=True)
def in_this_process() -> Iterator[None]:
    with launch.activate(launch.LaunchOptions(runner="local")):
        yield


def rows_of(text: str) -> list[str]:
    """Return the rows that a program printed, without the number of the task that printed them."""
    rows = (re.sub(r"^\d+> ", "", line) for line in text.splitlines())
    return sorted(row for row in rows if re.match(r"(\| )?[+-][IUD]\b", row))


def run(name: str, *functions: str, **names: Any) -> list[str]:
    """Return what an example prints, or some functions of it with other global names."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        module = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="example" if functions else "__main__")
        for function in functions:
            module[function].__globals__.update(names)
            module[function]()
    return rows_of(printed.getvalue())


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_it_prints_the_rows_that_pyflink_prints(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [name])
    assert run(name) == PRINTED[name]


@pytest.mark.parametrize(("name", "rows"), [("mixing_use_of_datastream_and_table", 10), ("async_scalar_function", 20)])
def test_of_random_data_it_prints_a_row_for_each_row(name: str, rows: int) -> None:
    assert len(run(name)) == rows


def test_a_frame_of_pandas_becomes_a_table_and_a_frame_again(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "conversion_from_dataframe.py"), run_name="__main__")
    assert "[1000 rows x 2 columns]" in capsys.readouterr().out


@pytest.mark.parametrize("function", ["basic_operations", "sql_operations", "column_operations", "row_operations"])
def test_operations_print_the_rows_that_their_comments_say(function: str) -> None:
    # The example imports all names of pyflink.table.expressions after the module `json`, and a function `json` is one
    # of them: with PyFlink 2.3 its functions fail.
    assert run("basic_operations", function, json=json) == commented(function) != []


def commented(function: str) -> list[str]:
    """Return the rows that the comments of a function of `basic_operations` say it prints."""
    source = (EXAMPLES / "basic_operations.py").read_text()
    body = re.split(r"^def ", source.partition(f"def {function}():")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return rows_of("\n".join(line.strip().removeprefix("# ") for line in body.splitlines() if "# |" in line))
