"""Changes in STREAMING: tables that have them, operators between, tables that take them."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.table import ExplainDetail, TableEnvironment
from support.statements.tables import changed_rows, environment, files, rows

Row = dict[str, Any]


def inserted(row: Row) -> Row:
    return {"before": None, "after": row, "op": "c"}


def updated(before: Row, after: Row) -> Row:
    return {"before": before, "after": after, "op": "u"}


def deleted(row: Row) -> Row:
    return {"before": row, "after": None, "op": "d"}


def changing(env: TableEnvironment, directory: Path, *messages: Row, columns: str = "k STRING, v INT") -> None:
    """Make `c`, a table of changes."""
    directory.mkdir(exist_ok=True)
    (directory / "f").write_text("".join(json.dumps(each) + "\n" for each in messages))
    files(env, "c", columns, directory, format="debezium-json")


A1, A2, B1 = {"k": "a", "v": 1}, {"k": "a", "v": 2}, {"k": "b", "v": 1}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("SELECT * FROM c", [("+I", "a", 1), ("+I", "b", 1), ("-U", "a", 1), ("+U", "a", 2), ("-D", "a", 2)]),
        ("SELECT k FROM c WHERE v = 1", [("+I", "a"), ("+I", "b"), ("-U", "a")]),
        ("SELECT v, COUNT(*) FROM c GROUP BY v", [
            ("+I", 1, 1), ("-U", 1, 1), ("+U", 1, 2), ("-U", 1, 2), ("+U", 1, 1), ("+I", 2, 1), ("-D", 2, 1),
        ]),
        ("SELECT MIN(k), MAX(v) FROM c", [
            ("+I", "a", 1), ("-U", "a", 1), ("+U", "b", 1), ("-U", "b", 1), ("+U", "a", 2), ("-U", "a", 2),
            ("+U", "b", 1),
        ]),
    ],
)  # fmt: skip
def test_changes_of_a_table_pass_operators(query: str, wanted: list[Any], tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    changing(env, tmp_path / "in", inserted(A1), inserted(B1), updated(A1, A2), deleted(A2))
    assert changed_rows(env, query) == wanted


def test_repeated_changes_are_normalized_by_the_primary_key(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1", "table.exec.source.cdc-events-duplicate": "true"})
    messages = inserted(A1), inserted(A1), updated(A1, A2), updated(A1, A2), deleted(A2), deleted(A2), inserted(B1)
    changing(env, tmp_path / "in", *messages, columns="k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED")
    found = changed_rows(env, "SELECT v FROM c")
    assert [kind for kind, _ in found].count("+I") - [kind for kind, _ in found].count("-D") == 1
    assert found[0] == ("+I", 1)
    assert found[-1] == ("+I", 1)


def test_normalizing_needs_a_primary_key(tmp_path: Path) -> None:
    env = environment(**{"table.exec.source.cdc-events-duplicate": "true"})
    changing(env, tmp_path / "in", inserted(A1))
    with pytest.raises(ValidationError, match="requires the changelog sources to define a PRIMARY KEY"):
        env.execute_sql("SELECT * FROM c")


def random_changes(count: int, seed: int) -> tuple[list[Row], list[Row]]:
    """Return messages, and the rows that there are after them."""
    chance = random.Random(seed)
    table: list[Row] = []
    messages: list[Row] = []
    for _ in range(count):
        row = {"k": chance.choice(["a", "b", "c", None]), "v": chance.randint(0, 6)}
        action = chance.random()
        if action < 0.5 or not table:
            messages.append(inserted(row))
            table.append(row)
        elif action < 0.75:
            place = chance.randrange(len(table))
            messages.append(updated(table[place], row))
            table[place] = row
        else:
            messages.append(deleted(table.pop(chance.randrange(len(table)))))
    return messages, table


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, COUNT(*), SUM(v), AVG(v), MIN(v), MAX(v), COUNT(DISTINCT v) FROM {} GROUP BY k",
        "SELECT DISTINCT v FROM {}",
        "SELECT k, v, COUNT(*) FROM {} GROUP BY ROLLUP (k, v)",
        "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM {} WHERE v > 1 GROUP BY k) GROUP BY n",
    ],
)
def test_the_table_after_all_changes_is_that_of_batch_over_the_rows_left(query: str, seed: int, tmp_path: Path) -> None:
    messages, left = random_changes(120, seed)
    env, batch = environment(**{"parallelism.default": "1"}), environment(False)
    changing(env, tmp_path / "in", *messages)
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "f").write_text("".join(json.dumps(each) + "\n" for each in left))
    files(batch, "t", "k STRING, v INT", tmp_path / "left")
    table: list[tuple[Any, ...]] = []
    for kind, *row in changed_rows(env, query.format("c")):
        if kind in ("+I", "+U"):
            table.append(tuple(row))
        else:
            table.remove(tuple(row))
    assert sorted(table, key=str) == rows(batch, query.format("t"))


def database(env: TableEnvironment, path: Path, columns: str, key: str) -> sqlite3.Connection:
    """Make `written`, a table of a database with a primary key."""
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE written (k TEXT, n INTEGER, PRIMARY KEY ({key}))")
    connection.commit()
    env.execute_sql(
        f"CREATE TABLE written ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'url' = 'jdbc:sqlite:{path}', 'table-name' = 'written')"
    )
    return connection


def test_a_row_that_a_condition_drops_after_an_update_is_deleted_from_the_table(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    changing(env, tmp_path / "in", *[inserted(row) for row in (A1, B1, A2, A1)])
    found = database(env, tmp_path / "db", "k STRING, n BIGINT", "k")
    env.execute_sql("INSERT INTO written SELECT k, COUNT(*) FROM c GROUP BY k HAVING COUNT(*) < 3").wait()
    assert found.execute("SELECT * FROM written").fetchall() == [("b", 1)]


COUNTED = "INSERT INTO written SELECT k, COUNT(*) FROM c GROUP BY k"


def test_rows_of_a_query_with_another_key_are_written_by_the_key_of_the_table(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    changing(env, tmp_path / "in", *[inserted(row) for row in (A1, B1, A2)])
    found = database(env, tmp_path / "db", "k STRING, n BIGINT", "n")
    env.execute_sql(f"{COUNTED} ON CONFLICT DO DEDUPLICATE").wait()
    assert sorted(found.execute("SELECT * FROM written").fetchall()) == [("a", 2), ("b", 1)]


def test_explain_shows_the_changes_of_each_operation(tmp_path: Path) -> None:
    env = environment()
    changing(env, tmp_path / "in")
    text = env.explain_sql("SELECT v, COUNT(*) FROM c GROUP BY v", ExplainDetail.CHANGELOG_MODE)
    statement = "EXPLAIN CHANGELOG_MODE SELECT v, COUNT(*) FROM c GROUP BY v"
    assert rows(env, statement) == [(text,)]
    physical = text.split("== Optimized Physical Plan ==\n")[1].split("\n\n")[0].splitlines()
    assert "GroupAggregate(groupBy=[v], " in physical[0]
    assert physical[0].endswith("changelogMode=[I,UA,D])")
    assert physical[-1].endswith("changelogMode=[I,UB,UA,D])")


def test_a_query_with_another_key_than_the_table_has_to_say_what_conflicts_mean(tmp_path: Path) -> None:
    env = environment()
    changing(env, tmp_path / "in")
    database(env, tmp_path / "db", "k STRING, n BIGINT", "n")
    with pytest.raises(
        ValidationError, match=r"differs from the primary key of .*Primary key: \[n\], upsert key: \[k\]"
    ):
        env.execute_sql(COUNTED)
    for option, value in (("require-on-conflict", "false"), ("upsert-materialize", "NONE")):
        env.get_config().set(f"table.exec.sink.{option}", value)
        assert "Sink(" in env.explain_sql(COUNTED)
        env.get_config().get_configuration().remove_config(f"table.exec.sink.{option}")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT 'a', CAST(1 AS BIGINT) ON CONFLICT DO DEDUPLICATE",
            "ON CONFLICT clause is only allowed for upsert sinks",
        ),
        (f"{COUNTED.partition('written ')[2]} ON CONFLICT DO ERROR", "requires all source tables to define watermarks"),
        (
            f"{COUNTED.partition('written ')[2]} ON CONFLICT DO NOTHING",
            r"source\(s\) do not: default_catalog.default_d.*\.c\.",
        ),
    ],
)
def test_a_clause_for_conflicts_that_means_nothing_is_refused(query: str, message: str, tmp_path: Path) -> None:
    env = environment()
    changing(env, tmp_path / "in")
    database(env, tmp_path / "db", "k STRING, n BIGINT", "n")
    with pytest.raises(ValidationError, match=message):
        env.execute_sql(f"INSERT INTO written {query}")
