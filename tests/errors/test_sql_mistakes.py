"""The mistakes that beginners made in SQL when scurry was tried, each with all that its user sees.

`sql_mistakes.txt` has for each a script and the whole text of `scurry run`. After a change of a text,
`python tests/errors/test_sql_mistakes.py` writes the file anew: read what has changed.
"""

from __future__ import annotations

import contextlib
import io
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions

GOLDEN = Path(__file__).with_name("sql_mistakes.txt")
SETUP = """\
CREATE TABLE orders (id INT, city STRING, amount DOUBLE, ts TIMESTAMP(3), note STRING)
WITH ('connector' = 'filesystem', 'path' = '{dir}/orders.csv', 'format' = 'csv');
CREATE TABLE timed (id INT, city STRING, amount DOUBLE, ts TIMESTAMP(3), note STRING, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{dir}/orders.csv', 'format' = 'csv');
CREATE TABLE files (city STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{dir}/out', 'format' = 'csv');
CREATE TABLE shown (city STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE stored (city STRING, n BIGINT)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{dir}/shop.db', 'table-name' = 'totals');
"""
QUIET = {"scurry.progress": "off"}
LINES = "1,berlin,10.5,2024-01-01 00:00:00,a\n2,paris,ten,2024-01-01 00:01:00,b\n"
#: What no text that a user sees may contain: names of Java's and of scurry's own files.
FOREIGN = re.compile(r"org\.apache|java\.\w|classpath|site-packages|typer|DynamicTable|\w+Exception\b|Traceback|\.py:")


def mistakes() -> Iterator[tuple[str, str, str]]:
    """Yield the name, the statements and the text of each."""
    for block in GOLDEN.read_text(encoding="utf-8").split("=== ")[1:]:
        name, _, rest = block.partition("\n")
        statements, _, text = rest.partition("---\n")
        yield name, statements, text.strip("\n")


def seen(statements: str, directory: Path, settings: dict[str, str] = QUIET) -> str:
    """Run a script as `scurry run --runner local` does; return what is printed on standard error."""
    (directory / "orders.csv").write_text(LINES)
    sqlite3.connect(directory / "shop.db").close()
    script = directory / "mistake.sql"
    script.write_text(SETUP.replace("{dir}", str(directory)) + statements.replace("{dir}", str(directory)))
    error = io.StringIO()
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
        status = run_program(script, [], LaunchOptions(runner="local", configuration=settings), debug=False)
    assert status == 1, f"exit status {status}"
    text = error.getvalue().replace(f"{directory}/", "").replace(str(directory), "{dir}")
    return "\n".join(line for line in text.splitlines() if not line.startswith("pyflink resolves to"))


@pytest.mark.parametrize(("statements", "text"), [pytest.param(s, t, id=n) for n, s, t in mistakes()])
def test_the_whole_text_of_a_mistake(statements: str, text: str, tmp_path: Path) -> None:
    assert seen(statements, tmp_path) == text


@pytest.mark.parametrize(("statements", "text"), [pytest.param(s, t, id=n) for n, s, t in mistakes()])
def test_a_mistake_names_its_place_a_cure_and_nothing_of_java(statements: str, text: str) -> None:
    assert re.match(r"error: mistake\.sql:\d+:\d+: ", text)
    assert re.search(r"\n +\d+ \| .*\n +\^+$", text), "the line of the statement, with the place underlined, comes last"
    assert re.search("  hint: |did you mean|create it there first|check the path", text)
    assert not FOREIGN.search(text)


@pytest.mark.parametrize("statement", ["SELECT * FROM t", "INSERT INTO shown SELECT note, 1 FROM t"])
def test_the_progress_of_a_job_that_fails_does_not_say_that_it_has_finished(statement: str, tmp_path: Path) -> None:
    table = "CREATE TABLE t (note STRING) WITH ('connector' = 'filesystem', 'path' = '{dir}/no', 'format' = 'csv');\n"
    text = seen(f"{table}{statement};", tmp_path, {"scurry.progress": "plain"})
    assert " failed after " in text and "finished" not in text


def _record() -> None:
    blocks = []
    for name, statements, _ in list(mistakes()):
        with tempfile.TemporaryDirectory() as directory:
            blocks.append(f"=== {name}\n{statements}---\n{seen(statements, Path(directory))}\n")
    GOLDEN.write_text("\n".join(blocks), encoding="utf-8")


if __name__ == "__main__":
    _record()
