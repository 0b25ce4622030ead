"""However rows are cut into micro-batches, restarted and spread, operators of tables leave the same final table."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.table import TableEnvironment
from support.cases import cases
from support.statements.fed_queries import FedQuery
from support.statements.operator_queries import FUNCTIONS, QUERIES, SETTINGS, TIME, changed_table, smallest
from support.statements.tables import environment, files

#: What has a result that the clock or a database decides.
OTHERS = {
    "lookup join",
    "over processing time",
    "over some rows of processing time",
    "last row by processing time",
    "match recognize by processing time",
}
NAMES = sorted(QUERIES.keys() - OTHERS)
NONE = Path("/none")


def tables(name: str) -> TableEnvironment:
    env = environment(**SETTINGS.get(name, {}))
    for table in ("t", "u"):
        files(env, table, f"id INT, k STRING, v INT, {TIME}", NONE)
    files(env, "rates", f"k STRING, rate INT, {TIME}, PRIMARY KEY (k) NOT ENFORCED", NONE)
    files(env, "c", "id INT, k STRING, v INT", NONE, format="debezium-json")
    columns = "id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED"
    files(env, "normalized", columns, NONE, format="debezium-json")
    files(env, "timed", f"id INT, k STRING, v INT, {TIME}", NONE, format="debezium-json")
    for function, counting in FUNCTIONS.items():
        env.create_temporary_function(function, counting)
    env.create_temporary_view("smallest", smallest(env.from_path("t")))
    return env


def changes_by_second(seed: int) -> list[tuple[str, tuple[str, dict[str, Any]]]]:
    """Return tables and their changes in the order in which they come; times are out of order by two seconds."""
    chance = random.Random(seed)
    present: list[dict[str, Any]] = []
    found: list[tuple[str, tuple[str, dict[str, Any]]]] = []
    for second in range(0, 200, 3):
        row: dict[str, Any] = {
            "k": chance.choice(["a", "b", "c", None]),
            "id": second,
            "v": chance.randint(0, 9),
            "rate": second,
        }
        row["ts"] = (1_704_067_200 + second + chance.randint(-2, 0)) * 1000
        found.append((chance.choice(["t", "u", "rates"]), ("+I", row)))
        change = {"id": second, "k": chance.choice(["a", "b", None]), "v": chance.randint(0, 9), "ts": row["ts"]}
        if present and chance.random() < 0.4:
            found.append(("c", ("-D", present.pop(chance.randrange(len(present))))))
        else:
            present.append(change)
            found.append(("c", ("+I", change)))
    return found


def final_table(name: str, batches: list[Any], parallelism: list[int]) -> list[tuple[Any, ...]]:
    query = FedQuery(tables(name), QUERIES[name], parallelism[0])
    for number, batch in enumerate(batches):
        if 0 < number < len(parallelism):
            query.restart(parallelism[number])
        query.feed([(changed_table(QUERIES[name]) if table == "c" else table, [change]) for table, change in batch])
    query.end()
    return query.rows()


@given(
    name=st.sampled_from(NAMES),
    seed=st.integers(0, 1000),
    cuts=st.sets(st.integers(1, 130), max_size=5),
    parallelism=st.lists(st.integers(1, 4), min_size=1, max_size=4),
)
@settings(max_examples=cases(30))
def test_any_cut_restart_and_parallelism_gives_the_same_final_table(
    name: str, seed: int, cuts: set[int], parallelism: list[int]
) -> None:
    changes = changes_by_second(seed)
    bounds = [0, *sorted(cuts), len(changes)]
    batches = [changes[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False) if start < stop]
    whole = [changes[start : start + 5] for start in range(0, len(changes), 5)] if seed % 2 else [changes]
    assert final_table(name, batches, parallelism) == final_table(name, whole, [1])
