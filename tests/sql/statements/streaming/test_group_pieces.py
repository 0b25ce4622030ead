"""Groups of many values: MIN, MAX and DISTINCT of rows that are taken back, kept in pieces."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from scurry.runtime.keys import key_hash
from scurry.sql.operators.aggregation.pieces import EntryPieces, ValueCounts
from support.statements.fed_queries import FedQuery
from support.statements.tables import environment


def counted(entry: dict[Any, Any]) -> ValueCounts:
    return ValueCounts(EntryPieces(entry, ("values",)))


def test_a_value_of_many_changes_few_pieces() -> None:
    entry: dict[Any, Any] = {}
    values = counted(entry)
    for value in range(20_000):
        values.add(value, key_hash(value), 1)
    values.save()
    before = dict(entry)
    later = counted(entry)
    assert later.add(77, key_hash(77), 1) == (True, True)
    assert later.add(77, key_hash(77), -2) == (True, False)
    assert later.add(-1, key_hash(-1), 1) == (False, True)
    later.save()
    assert len(entry) > 500
    assert sum(entry[slot] != before.get(slot) for slot in entry) <= 3


def query_of(tmp_path: Path, mini_batches: str, aggregates: str) -> FedQuery:
    env = environment(**{"table.exec.mini-batch.enabled": mini_batches})
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'debezium-json'"
    env.execute_sql(f"CREATE TABLE c (k STRING, v INT, d DOUBLE) WITH ({options})")
    return FedQuery(env, f"SELECT k, {aggregates} FROM c GROUP BY k")


def change(kind: str, key: str, value: int | None, number: float | None = None) -> Any:
    return kind, {"k": key, "v": value, "d": number}


@pytest.mark.parametrize("mini_batches", ["false", "true"])
def test_values_come_and_go_as_in_a_naive_model(mini_batches: str, tmp_path: Path) -> None:
    query = query_of(tmp_path, mini_batches, "MIN(v), MAX(v), COUNT(DISTINCT v), COUNT(*)")
    chance, kept = random.Random(3), {"a": [], "b": []}  # type: ignore[var-annotated]
    for number in range(12):
        # The group of many values grows, shrinks to nothing, and begins again.
        growing, changes = number % 6 < 3, []
        for key, size in (("a", 600), ("b", 5)):
            rows = kept[key]
            for _ in range(size):
                if growing or not rows:
                    rows.append(chance.choice([None, *range(-2000, 2000)]))
                    changes.append(change("+I", key, rows[-1]))
                else:
                    changes.append(change("-D", key, rows.pop(chance.randrange(len(rows)))))
            if number % 6 == 5:
                changes += [change("-D", key, rows.pop()) for _ in range(len(rows))]
        query.feed([("c", changes)])
        wanted = []
        for key, rows in kept.items():
            values = [value for value in rows if value is not None]
            if rows:
                wanted.append((key, min(values), max(values), len(set(values)), len(rows)))
        assert query.rows() == wanted
        if number % 4 == 1:
            query.restart(1 + number % 3)


@pytest.mark.parametrize("mini_batches", ["false", "true"])
def test_not_a_number_is_the_greatest_value_until_it_is_taken_back(mini_batches: str, tmp_path: Path) -> None:
    query = query_of(tmp_path, mini_batches, "CAST(MAX(d) AS STRING), CAST(MIN(d) AS STRING)")
    query.feed([("c", [change("+I", "a", 1, 2.5), change("+I", "a", 1, float("nan")), change("+I", "a", 1, 7.5)])])
    assert query.rows() == [("a", "NaN", "2.5")]
    query.feed([("c", [change("-D", "a", 1, float("nan")), change("-D", "a", 1, 2.5)])])
    assert query.rows() == [("a", "7.5", "7.5")]
