"""Process table functions that take tables with updates: `SUPPORT_UPDATES`, as Flink has it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

from scurry.common.types import Row
from scurry.errors import ArgumentError, ValidationError
from scurry.table import MapView, TableEnvironment
from scurry.table.udf import ArgumentHint, ArgumentTrait, ProcessTableFunction, StateHint, udptf
from support.statements.fed_queries import FedQuery
from support.statements.tables import environment, files, rows, write

SET, ROW = ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.ROW_SEMANTIC_TABLE
UPDATES, BEFORE = ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_UPDATE_BEFORE

COUNTED = "CREATE TEMPORARY VIEW counted AS SELECT name, COUNT(*) AS n FROM people GROUP BY name"


def kind_and_values(row: Row) -> str:
    return f"{row.get_row_kind().name} {', '.join(map(str, row))}"


class ShowsRows(ProcessTableFunction):
    def eval(self, t: Annotated[Row, ArgumentHint(ROW, UPDATES)]) -> Iterator[str]:
        yield kind_and_values(t)


class ShowsSets(ProcessTableFunction):
    def eval(self, t: Annotated[Row, ArgumentHint(SET, UPDATES)]) -> Iterator[str]:
        yield kind_and_values(t)


class ShowsBefore(ProcessTableFunction):
    def eval(
        self, t: Annotated[Row, ArgumentHint(SET, UPDATES, BEFORE, ArgumentTrait.REQUIRE_FULL_DELETE)]
    ) -> Iterator[str]:
        yield kind_and_values(t)


class Latest(ProcessTableFunction):
    """Keeps the rows of a table, and says how many there are after each change."""

    def eval(
        self, kept: Annotated[MapView[str, int], StateHint()], t: Annotated[Row, ArgumentHint(SET, UPDATES)]
    ) -> Iterator[tuple[int, int]]:
        if t.get_row_kind().name in ("INSERT", "UPDATE_AFTER"):
            kept.put(t.name, t.n)
        else:
            kept.remove(t.name)
        yield len(list(kept.keys())), sum(kept.values())


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    """A table with a row for each name, the first of which changes once."""
    env = environment(**{"parallelism.default": "1"})
    write(tmp_path / "people", "0", {"name": "ann"}, {"name": "bob"}, {"name": "ann"})
    files(env, "people", "name STRING", tmp_path / "people")
    env.execute_sql(COUNTED)
    for name, function in {"by_row": ShowsRows(), "by_set": ShowsSets(), "with_before": ShowsBefore()}.items():
        env.create_temporary_function(name, function)
    return env


def test_rows_on_their_own_are_updated_with_the_row_before(env: TableEnvironment) -> None:
    assert rows(env, "SELECT * FROM by_row(TABLE counted)") == [
        ("INSERT ann, 1",),
        ("INSERT bob, 1",),
        ("UPDATE_AFTER ann, 2",),
        ("UPDATE_BEFORE ann, 1",),
    ]


def test_a_partition_that_is_one_row_is_updated_without_the_row_before(env: TableEnvironment) -> None:
    assert rows(env, "SELECT * FROM by_set(TABLE counted PARTITION BY name)") == [
        ("ann", "INSERT ann, 1"),
        ("ann", "UPDATE_AFTER ann, 2"),
        ("bob", "INSERT bob, 1"),
    ]


@pytest.mark.parametrize(
    "call", ["with_before(TABLE counted PARTITION BY name)", "by_set(TABLE counted PARTITION BY n)"]
)
def test_the_row_before_comes_if_it_is_required_or_partitions_have_many_rows(env: TableEnvironment, call: str) -> None:
    found = sorted(row[-1] for row in rows(env, f"SELECT * FROM {call}"))
    assert found == ["INSERT ann, 1", "INSERT bob, 1", "UPDATE_AFTER ann, 2", "UPDATE_BEFORE ann, 1"]


def test_in_batch_all_rows_are_inserted(tmp_path: Path) -> None:
    env = environment(False)
    env.create_temporary_view("people", env.from_elements([("ann",), ("bob",), ("ann",)], ["name"]))
    env.execute_sql(COUNTED)
    env.create_temporary_function("by_set", ShowsSets())
    found = rows(env, "SELECT * FROM by_set(TABLE counted PARTITION BY name)")
    assert found == [("ann", "INSERT ann, 2"), ("bob", "INSERT bob, 1")]


@pytest.mark.parametrize("other", [1, 3])
def test_state_follows_the_changes_through_a_snapshot_and_another_parallelism(other: int) -> None:
    env = environment()
    files(env, "changing", "k INT, name STRING, n INT", Path("/none"), format="debezium-json")
    env.create_temporary_function("latest", Latest())
    query = FedQuery(env, "SELECT * FROM latest(TABLE changing PARTITION BY k)", 2)
    ann, bob = {"k": 1, "name": "ann", "n": 1}, {"k": 1, "name": "bob", "n": 5}
    query.feed([("changing", [("+I", ann), ("+I", bob), ("+I", {"k": 2, "name": "cid", "n": 7})])])
    query.restart(other)
    query.feed([("changing", [("-U", ann), ("+U", {**ann, "n": 2}), ("-D", bob)])])
    query.end()
    assert sorted(query.rows()) == sorted([(1, 1, 1), (1, 2, 6), (2, 1, 7), (1, 1, 5), (1, 2, 7), (1, 1, 2)])


def test_time_and_updates_do_not_go_together(env: TableEnvironment, tmp_path: Path) -> None:
    files(
        env, "timed", "name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", tmp_path / "timed", format="debezium-json"
    )
    with pytest.raises(ValidationError, match="currently not supported for PTFs that consume or produce updates"):
        env.execute_sql("SELECT * FROM by_set(t => TABLE timed PARTITION BY name, on_time => DESCRIPTOR(ts))")


@dataclasses.dataclass
class Person:
    name: str


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (Annotated[Row, ArgumentHint(SET, BEFORE)], "Trait REQUIRE_UPDATE_BEFORE requires SUPPORT_UPDATES"),
        (Annotated[Row, ArgumentHint(ROW, ArgumentTrait.OPTIONAL_PARTITION_BY)], "requires SET_SEMANTIC_TABLE"),
        (
            Annotated[Row, ArgumentHint(SET, UPDATES, ArgumentTrait.PASS_COLUMNS_THROUGH)],
            "must not pass columns through",
        ),
        (Annotated[Person, ArgumentHint(SET, UPDATES)], "argument 't' of Wrong takes updates: annotate it with Row"),
    ],
)
def test_traits_that_do_not_go_together_are_refused(hint: Any, message: str) -> None:
    def evaluate(self: Any, t: Any) -> Iterator[str]:
        yield ""

    evaluate.__annotations__ = {"t": hint, "return": Iterator[str]}
    with pytest.raises(ArgumentError, match=message):
        udptf(type("Wrong", (ProcessTableFunction,), {"eval": evaluate})())
