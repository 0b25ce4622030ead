"""Changes of the columns of captured tables, by the behaviors of pipelines and by what sinks can follow."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from scurry.connectors.cdc.capture import RowBlock, TableId
from scurry.errors import MalformedRecordError, ValidationError
from scurry.sql.pipelines.changes import ColumnHistory
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.pipelines.databases import DatabaseTarget
from scurry.sql.pipelines.evolution import BEHAVIORS, CHANGES, Evolution, Rules, changes_of, history_of
from scurry.sql.pipelines.lakes import DeltaTarget, IcebergTarget
from scurry.sql.pipelines.selectors import Route, TableSelector
from scurry.sql.pipelines.source import Plan
from scurry.sql.pipelines.targets import Target
from scurry.sql.pipelines.transforms import Transform
from scurry.sql.types import MAX_LENGTH, BigIntType, DataType, DecimalType, DoubleType, FloatType, IntType, VarCharType

ORDERS, OTHER = TableId("app", "", "orders"), TableId("app", "", "others")
STRING = VarCharType(MAX_LENGTH)
INT, NAME = IntType(), VarCharType(20)
FIRST = TableColumns(("id", "name"), (INT, NAME), ("id",))
ADDED = TableColumns(("id", "name", "size"), (INT, NAME, INT), ("id",))
LOST = TableColumns(("id",), (INT,), ("id",))
RENAMED = TableColumns(("id", "title"), (INT, NAME), ("id",))
WIDER = TableColumns(("id", "name"), (INT, VarCharType(30)), ("id",))
NARROWER = TableColumns(("id", "name"), (INT, VarCharType(10)), ("id",))


def evolved(
    behavior: str,
    now: TableColumns,
    able: Collection[str] = CHANGES,
    accepted: Collection[str] = CHANGES,
    is_shared: bool = False,
    first: TableColumns = FIRST,
    alters: bool = True,
) -> Evolution:
    rules = Rules(behavior, frozenset(accepted))
    return rules.evolved(ORDERS, Evolution.of(first), now, able, lambda *_: alters, is_shared)


#: Behavior, columns now -> columns of rows; None where the job ends.
EXPECTED: list[tuple[str, TableColumns, tuple[str, ...] | None]] = [
    ("lenient", ADDED, ("id", "name", "size")),
    ("lenient", LOST, ("id", "name")),
    ("lenient", RENAMED, ("id", "name", "title")),
    ("evolve", ADDED, ("id", "name", "size")),
    ("evolve", LOST, ("id",)),
    ("evolve", RENAMED, ("id", "title")),
    ("try_evolve", ADDED, ("id", "name", "size")),
    ("try_evolve", LOST, ("id",)),
    ("try_evolve", RENAMED, ("id", "title")),
    ("ignore", ADDED, ("id", "name")),
    ("ignore", LOST, ("id", "name")),
    ("ignore", RENAMED, ("id", "name")),
    ("exception", ADDED, None),
    ("exception", LOST, None),
    ("exception", RENAMED, None),
    ("exception", FIRST, ("id", "name")),
]


@pytest.mark.parametrize(("behavior", "now", "names"), EXPECTED)
def test_names_after_a_change(behavior: str, now: TableColumns, names: tuple[str, ...] | None) -> None:
    if names is None:
        with pytest.raises(ValidationError, match="'schema.change.behavior' is exception"):
            evolved(behavior, now)
    else:
        assert evolved(behavior, now).columns.names == names


@pytest.mark.parametrize(
    ("behavior", "now", "kind"),
    [
        ("lenient", WIDER, VarCharType(30)),
        ("lenient", NARROWER, NAME),
        ("evolve", WIDER, VarCharType(30)),
        ("try_evolve", WIDER, VarCharType(30)),
        ("ignore", WIDER, NAME),
        # of a number and a text, the text
        ("lenient", TableColumns(("id", "name"), (INT, INT), ("id",)), STRING),
    ],
)
def test_types_after_a_change(behavior: str, now: TableColumns, kind: DataType) -> None:
    assert evolved(behavior, now).columns.type_of("name") == kind


def test_a_sink_that_cannot_follow_ends_only_the_behavior_evolve() -> None:
    for now, word in ((LOST, "drop.column"), (RENAMED, "rename.column")):
        with pytest.raises(ValidationError, match=rf"table app.orders has .*: the sink has no {word}"):
            evolved("evolve", now, ("add.column",))
    with pytest.raises(ValidationError, match="has other types of columns name: the sink cannot change VARCHAR"):
        evolved("evolve", WIDER, alters=False)
    assert evolved("try_evolve", LOST, ("add.column",)).columns.names == ("id", "name")
    assert evolved("try_evolve", RENAMED, ("add.column",)).columns.names == ("id", "name", "title")
    for behavior in ("lenient", "try_evolve"):
        assert evolved(behavior, WIDER, alters=False).columns.type_of("name") == NAME


def test_changes_that_are_excluded_do_not_reach_the_sink() -> None:
    for now, kind in ((ADDED, "add.column"), (LOST, "drop.column"), (RENAMED, "rename.column")):
        found = evolved("evolve", now, accepted=set(CHANGES) - {kind})
        assert (found.columns, found.version) == (FIRST, 0)
    found = evolved("evolve", WIDER, accepted=set(CHANGES) - {"alter.column.type"})
    assert found.columns == FIRST


def test_a_table_of_the_sink_that_several_tables_fill_only_gets_more_columns() -> None:
    assert evolved("evolve", LOST, is_shared=True).columns.names == ("id", "name")
    assert evolved("evolve", RENAMED, is_shared=True).columns.names == ("id", "name", "title")
    assert evolved("evolve", WIDER, is_shared=True).columns == FIRST


def test_ids_tell_a_renamed_column_from_a_new_one() -> None:
    first = TableColumns(("id", "a"), (INT, INT), ("id",), (1, 2))
    replaced = TableColumns(("id", "b"), (INT, INT), ("id",), (1, 3))
    swapped = TableColumns(("id", "b", "a"), (INT, BigIntType(), INT), ("id",), (1, 2, 3))
    assert evolved("evolve", replaced, first=first).former == ()
    found = evolved("evolve", swapped, first=first)
    assert (found.columns.names, found.columns.types) == (("id", "b", "a"), (INT, BigIntType(), INT))
    assert list(found.earlier_names("b")) == ["a"]


def test_without_ids_places_and_types_tell_a_renamed_column() -> None:
    other_type = TableColumns(("id", "title"), (INT, INT), ("id",))
    assert evolved("evolve", other_type).former == ()
    assert evolved("evolve", RENAMED).former == (("title", "name"),)


@pytest.mark.parametrize(
    ("before", "after", "renamed"),
    [
        ("id a b", "id c b", {"c": "a"}),
        ("id a b", "id c", {}),
        ("id a b", "id c d", {"c": "a", "d": "b"}),
        ("id a b c", "id x b", {"x": "a"}),
        ("id a b", "id b x", {}),
        ("id a", "x id a", {}),
        ("id a", "id a x", {}),
    ],
)
def test_renamed_columns_lie_between_the_same_columns(before: str, after: str, renamed: dict[str, str]) -> None:
    first, now = (TableColumns(tuple(names.split()), (INT,) * len(names.split()), ("id",)) for names in (before, after))
    assert dict(evolved("evolve", now, first=first).former) == renamed


def test_a_lost_column_of_the_primary_key_ends_the_job() -> None:
    for behavior in set(BEHAVIORS) - {"ignore", "exception"}:
        with pytest.raises(ValidationError, match="table app.orders has lost columns id: 'id' is of the primary key"):
            evolved(behavior, TableColumns(("name",), (NAME,)))


def test_columns_that_come_and_go_are_known_from_the_last_ones() -> None:
    rules, able = Rules("evolve"), CHANGES
    known = Evolution.of(FIRST)
    for now in (ADDED, FIRST, RENAMED, FIRST):
        known = rules.evolved(ORDERS, known, now, able, lambda *_: True)
        assert known.columns.names == now.names
    assert known.version == 4
    restored = Evolution.of_json(known.to_json())
    assert (restored, restored.source.ids) == (known, ())


def plan(behavior: str = "evolve", **more: Any) -> Plan:
    return Plan(rules=Rules(behavior), **more)


def step(found: Plan, now: TableColumns, first: TableColumns = FIRST) -> tuple[Evolution, ColumnHistory]:
    before = Evolution.of(first)
    after = found.evolved(ORDERS, before, now, [ORDERS])
    return after, found.history(ORDERS, before, after)


@pytest.mark.parametrize(
    ("now", "history"),
    [
        (ADDED, ColumnHistory()),
        (LOST, ColumnHistory(dropped=("name",))),
        (RENAMED, ColumnHistory(renamed=(("name", "title"),))),
        (WIDER, ColumnHistory(altered=("name",))),
    ],
)
def test_changes_of_the_sink(now: TableColumns, history: ColumnHistory) -> None:
    assert step(plan(), now)[1] == history


def test_changes_of_the_sink_are_those_behind_the_transform() -> None:
    rule = Transform(TableSelector("app.orders"), "id, id + 1 AS following, CAST(name AS STRING) AS name")
    now = TableColumns(("id", "name", "size"), (BigIntType(), VarCharType(30), INT), ("id",))
    assert step(plan(transforms=(rule,)), now)[1] == ColumnHistory(altered=("id", "following"))


def test_a_chain_of_names_is_one_change() -> None:
    names = [TableColumns(("id", name), (INT, NAME), ("id",)) for name in ("a", "b", "c")]
    known = Evolution.of(names[0])
    for now in names[1:]:
        known = Rules("evolve").evolved(ORDERS, known, now, CHANGES, lambda *_: True)
    assert history_of(names[0], names[2], known) == ColumnHistory(renamed=(("a", "c"),))


def test_tables_that_share_a_table_of_the_sink_are_known_by_the_routes() -> None:
    found = plan(routes=(Route(TableSelector(r"app.\.*"), "ods.all"),))
    after = found.evolved(ORDERS, Evolution.of(FIRST), LOST, [ORDERS, OTHER])
    assert after.columns.names == ("id", "name")


def rows(found: Plan, evolution: Evolution, **columns: list[Any]) -> list[dict[str, Any]]:
    block = RowBlock(ORDERS, tuple(columns), ("text",) * len(columns), list(columns.values()), 1, None)
    (changes,) = found.compiled(ORDERS, evolution).apply(block)
    listed: list[dict[str, Any]] = changes.changes.batch.to_pylist()
    return listed


def test_rows_of_before_a_change_have_its_columns() -> None:
    assert rows(plan(), step(plan(), RENAMED)[0], id=["1"], name=["a"]) == [{"id": 1, "title": "a"}]
    assert rows(plan(), step(plan(), ADDED)[0], id=["1"], name=["a"]) == [{"id": 1, "name": "a", "size": None}]
    assert rows(plan(), step(plan(), LOST)[0], id=["1"], name=["a"]) == [{"id": 1}]


def test_a_value_that_does_not_fit_is_null_only_with_try_evolve() -> None:
    first = TableColumns(("id", "n"), (INT, INT), ("id",))
    now = TableColumns(("id", "n"), (INT, BigIntType()), ("id",))
    rules = {behavior: Plan(rules=Rules(behavior), target=Stubborn(())) for behavior in ("lenient", "try_evolve")}
    big = str(2**40)
    found = rules["try_evolve"]
    assert rows(found, step(found, now, first)[0], id=["1"], n=[big]) == [{"id": 1, "n": None}]
    with pytest.raises(MalformedRecordError, match="n"):
        rows(rules["lenient"], step(rules["lenient"], now, first)[0], id=["1"], n=[big])


class Stubborn(Target):
    def options_of(self, table: Any) -> dict[str, str]:
        return {}

    def alters(self, earlier: DataType, now: DataType) -> bool:
        return False


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (["drop"], {"drop.column", "drop.table"}),
        (["create.table.event", "column"], set(CHANGES) - {"drop.table", "truncate.table"}),
        (["all"], set(CHANGES)),
        (["none"], set()),
        (["alter.column.type"], {"alter.column.type"}),
    ],
)
def test_tags_name_kinds_of_changes(tags: list[str], found: set[str]) -> None:
    assert changes_of(tags) == found


@pytest.mark.parametrize(
    ("target", "earlier", "now", "can"),
    [
        (DeltaTarget, VarCharType(1), VarCharType(2), True),
        (DeltaTarget, IntType(), BigIntType(), False),
        (IcebergTarget, IntType(), BigIntType(), True),
        (IcebergTarget, FloatType(), DoubleType(), True),
        (IcebergTarget, DecimalType(5, 2), DecimalType(7, 2), True),
        (IcebergTarget, DecimalType(5, 2), DecimalType(7, 3), False),
        (IcebergTarget, IntType(), STRING, False),
        (DatabaseTarget, IntType(), STRING, True),
    ],
)
def test_types_that_sinks_change(target: Any, earlier: DataType, now: DataType, can: bool) -> None:
    assert target((("path", "x"), ("url", "jdbc:sqlite:x"))).alters(earlier, now) is can
