"""Statements on materialized tables answer as Flink 2.3's SQL gateway did, on a cluster with `test-filesystem`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scurry.errors import ScurryError
from scurry.table import TableEnvironment
from support.statements.tables import environment

RECORDED = Path(__file__).parent / "materialized_tables_of_flink.txt"
#: Statement -> why the answer differs from Flink's.
DIFFERENT = {
    "SHOW MATERIALIZED TABLES": "Flink's catalog does not list them",
    "ALTER MATERIALIZED TABLE f AS SELECT name, id, ds FROM src": "Flink fails with an index that is out of bounds",
    "ALTER MATERIALIZED TABLE g REFRESH PARTITION (name = 'a')": "Flink replaces partitions by some of their rows",
    "DROP MATERIALIZED TABLE src": "in the words of a TableEnvironment, not of a gateway",
    "DROP MATERIALIZED TABLE f": "in the words of a TableEnvironment, not of a gateway",
    "ALTER MATERIALIZED TABLE h AS SELECT CAST(id AS STRING) AS id FROM gen": "Flink's job did not run yet",
}
#: Beginnings of statements whose answer is the id of a job, or that only a gateway takes or Flink alone refuses.
JOBS = ("INSERT", "SET", "ALTER MATERIALIZED TABLE h SUSPEND")


class Answer(NamedTuple):
    statement: str
    rows: list[list[Any]]
    error: str


def recorded() -> list[list[Answer]]:
    """The statements of each session, in order."""
    sessions = []
    for part in RECORDED.read_text().split("-- another session\n")[:-1]:
        answers = []
        for block in part.strip().split("\n\n"):
            statement, *lines = block.split("\n")
            rows = [json.loads(line[2:]) for line in lines if line.startswith("= ")]
            error = "\n".join(line.removeprefix("  ") for line in lines if not line.startswith("= "))
            answers.append(Answer(statement[2:], rows, re.sub(r"^! \w+: ", "", error)))
        sessions.append(answers)
    return sessions


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TableEnvironment]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = environment(True, **{"parallelism.default": "1", "execution.checkpointing.interval": "50 ms"})
    yield made
    for name in ("f", "g", "h"):
        made.execute_sql(f"DROP MATERIALIZED TABLE IF EXISTS {name}")


def answer(env: TableEnvironment, statement: str) -> Answer:
    try:
        result = env.execute_sql(statement)
        if statement.startswith("INSERT"):
            result.wait()
        rows = [[_shown(value) for value in row] for row in result.collect()] if not result.get_job_client() else []
    except ScurryError as error:
        return Answer(statement, [], "\n".join(line for line in str(error).split("\n") if line))
    return Answer(statement, rows or [["OK"]], "")


def _shown(value: Any) -> Any:
    return value if isinstance(value, bool | int) or value is None else str(value)


def test_statements_answer_as_in_flink(env: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "mydb").mkdir()
    found, wanted = [], []
    for number, session in enumerate(recorded()):
        for one in session:
            if number and one.statement.startswith("CREATE CATALOG"):
                continue  # this environment has it
            mine = answer(env, one.statement.replace("{path}", str(tmp_path)))
            if one.statement in DIFFERENT or one.statement.startswith(JOBS):
                continue
            wanted.append(one)
            error = re.sub(r"[0-9a-f]{32}", "ID", mine.error)
            rows = json.loads(json.dumps(mine.rows).replace(str(tmp_path), "{path}"))
            found.append(Answer(one.statement, rows, error))
    for mine, theirs in zip(found, wanted, strict=True):
        theirs = theirs._replace(error=re.sub(r"[0-9a-f]{32}", "ID", theirs.error))
        if theirs.error:  # the cause comes last, behind what was being done
            assert mine.error.endswith(theirs.error), mine.statement
        else:
            assert mine == theirs


def test_what_differs_is_recorded() -> None:
    statements = {one.statement for session in recorded() for one in session}
    assert set(DIFFERENT) <= statements
