"""Tables of the connector `savepoint`: what they show of states, whatever their kind and type."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Row, Time
from scurry.common.typeinfo import TypeInformation, Types
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from scurry.state import OperatorTransformation, SavepointWriter
from support.statements.tables import environment, rows

MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5)
PAIR = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
#: Type of a state, type of its column, values as they are stored and as they are shown.
VALUES: dict[str, tuple[TypeInformation | None, str, Any, Any]] = {
    "boolean": (Types.BOOLEAN(), "BOOLEAN", True, True),
    "byte": (Types.BYTE(), "TINYINT", -3, -3),
    "short": (Types.SHORT(), "SMALLINT", 300, 300),
    "int": (Types.INT(), "INT", 70_000, 70_000),
    "long": (Types.LONG(), "BIGINT", 1 << 40, 1 << 40),
    "int in a wider column": (Types.INT(), "BIGINT", 7, 7),
    "float": (Types.FLOAT(), "FLOAT", 1.5, 1.5),
    "double": (Types.DOUBLE(), "DOUBLE", 2.25, 2.25),
    "decimal": (Types.BIG_DEC(), "DECIMAL(10, 2)", decimal.Decimal("12.30"), decimal.Decimal("12.30")),
    "text": (Types.STRING(), "STRING", "a", "a"),
    "bytes": (Types.PRIMITIVE_ARRAY(Types.BYTE()), "BYTES", b"\0\1", b"\0\1"),
    "date": (Types.SQL_DATE(), "DATE", datetime.date(2026, 11, 29), datetime.date(2026, 11, 29)),
    "time": (Types.SQL_TIME(), "TIME(0)", datetime.time(1, 2, 3), datetime.time(1, 2, 3)),
    "timestamp": (Types.SQL_TIMESTAMP(), "TIMESTAMP(3)", MOMENT, MOMENT),
    "list": (Types.LIST(Types.INT()), "ARRAY<INT>", [1, 2], [1, 2]),
    "map": (Types.MAP(Types.STRING(), Types.LONG()), "MAP<STRING, BIGINT>", {"a": 1}, {"a": 1}),
    "row": (PAIR, "ROW<b STRING, a BIGINT>", Row(1, "x"), Row("x", 1)),
    "part of a row": (PAIR, "ROW<b STRING>", Row(1, "x"), Row("x")),
    "tuple": (Types.TUPLE([Types.INT(), Types.STRING()]), "ROW<n INT, s STRING>", (1, "x"), Row(1, "x")),
    "undeclared": (None, "BIGINT", 5, 5),
    "undeclared tuple": (None, "ROW<n INT, s STRING>", (1, "x"), Row(1, "x")),
    "number as text": (Types.LONG(), "STRING", 5, "5"),
    "list as text": (Types.LIST(Types.INT()), "STRING", [1, 2], "[1, 2]"),
}  # fmt: skip

Stored = Iterable[tuple[Any, dict[str, Any]]]


def savepoint(path: Path, stored: Stored, *descriptors: Any) -> str:
    """Write a savepoint with the states of some keys."""
    keyed = OperatorTransformation.keyed_state(list(stored), list(descriptors))
    return SavepointWriter.new_savepoint().with_operator("visits", keyed).write(str(path))


def declare(env: Any, columns: str, path: str, options: dict[str, str] | None = None) -> None:
    given = {"connector": "savepoint", "state.path": path, "operator.uid": "visits"} | (options or {})
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items() if value)
    env.execute_sql(f"CREATE TABLE s ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ({listed})")


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> Any:
    return environment(request.param == "streaming")


def shown(env: Any, kinds: dict[str, str], stored: dict[str, Any], states: list[Any], path: Path) -> dict[str, Any]:
    """Return the values of a row that has a column of each state."""
    columns = ", ".join(["k STRING", *(f"`{name}` {kind}" for name, kind in kinds.items())])
    declare(env, columns, savepoint(path, [("a", stored)], *states))
    ((key, *values),) = rows(env, "SELECT * FROM s")
    assert key == "a"
    return dict(zip(kinds, values, strict=True))


def test_values_show_as_the_types_of_their_columns(tmp_path: Path, env: Any) -> None:
    descriptors = [ValueStateDescriptor(name, declared) for name, (declared, *_) in VALUES.items()]
    kinds = {name: kind for name, (_, kind, *_) in VALUES.items()}
    stored = {name: value for name, (_, _, value, _) in VALUES.items()}
    expected = {name: found for name, (*_, found) in VALUES.items()}
    assert shown(env, kinds, stored, descriptors, tmp_path / "s") == expected


def test_lists_show_elements_of_every_type(tmp_path: Path, env: Any) -> None:
    descriptors = [ListStateDescriptor(name, declared) for name, (declared, *_) in VALUES.items()]
    kinds = {name: f"ARRAY<{kind}>" for name, (_, kind, *_) in VALUES.items()}
    stored = {name: [value, value] for name, (_, _, value, _) in VALUES.items()}
    expected = {name: [found, found] for name, (*_, found) in VALUES.items()}
    assert shown(env, kinds, stored, descriptors, tmp_path / "s") == expected


def test_maps_show_values_of_every_type(tmp_path: Path, env: Any) -> None:
    descriptors = [
        MapStateDescriptor(name, None if declared is None else Types.STRING(), declared)
        for name, (declared, *_) in VALUES.items()
    ]
    kinds = {name: f"MAP<STRING, {kind}>" for name, (_, kind, *_) in VALUES.items()}
    stored = {name: {"x": value} for name, (_, _, value, _) in VALUES.items()}
    expected = {name: {"x": found} for name, (*_, found) in VALUES.items()}
    assert shown(env, kinds, stored, descriptors, tmp_path / "s") == expected


def test_a_key_without_a_state_has_null_and_empty_collections(tmp_path: Path, env: Any) -> None:
    states = (
        ValueStateDescriptor("v", Types.INT()),
        ListStateDescriptor("l", Types.INT()),
        MapStateDescriptor("m", Types.STRING(), Types.INT()),
    )
    stored: Stored = [("a", {"v": 1}), ("b", {"l": [2]}), ("c", {"m": {"x": 3}})]
    declare(env, "k STRING, v INT, l ARRAY<INT>, m MAP<STRING, INT>", savepoint(tmp_path / "s", stored, *states))
    assert rows(env, "SELECT * FROM s") == [("a", 1, [], {}), ("b", None, [2], {}), ("c", None, [], {"x": 3})]


def test_keys_that_have_none_of_the_states_of_the_table_have_no_row(tmp_path: Path, env: Any) -> None:
    states = ValueStateDescriptor("v", Types.INT()), ValueStateDescriptor("w", Types.INT())
    path = savepoint(tmp_path / "s", [("a", {"v": 1}), ("b", {"w": 2})], *states)
    declare(env, "k STRING, v INT", path)
    assert rows(env, "SELECT k FROM s") == [("a",)]


def test_expired_state_has_no_row(tmp_path: Path, env: Any) -> None:
    lasting = ValueStateDescriptor("v", Types.INT())
    lasting.enable_time_to_live(StateTtlConfig.new_builder(Time.days(36_500)).build())
    over = ListStateDescriptor("l", Types.INT())
    over.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(1)).build())
    stored: Stored = [("a", {"v": 1, "l": [1]}), ("b", {"l": [2]})]
    path = savepoint(tmp_path / "s", stored, lasting, over)
    declare(env, "k STRING, v INT, l ARRAY<INT>", path)
    assert rows(env, "SELECT * FROM s") in ([("a", 1, [])], [("a", 1, [1]), ("b", None, [2])])


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("STRING", ["a", "b"]),
        ("BIGINT", [1, -7]),
        ("ROW<f0 STRING, f1 INT>", [("a", 1), ("b", 2)]),
        ("BOOLEAN", [True, False]),
        ("DATE", [datetime.date(2026, 1, 1)]),
    ],
)
def test_keys_of_every_type_are_shown(kind: str, keys: list[Any], tmp_path: Path, env: Any) -> None:
    stored = [(key, {"v": place}) for place, key in enumerate(keys)]
    declare(env, f"k {kind}, v INT", savepoint(tmp_path / "s", stored, ValueStateDescriptor("v", Types.INT())))
    expected = [Row(*key) if isinstance(key, tuple) else key for key in keys]
    assert rows(env, "SELECT v, k FROM s") == list(enumerate(expected))


def test_states_have_other_names_than_columns(tmp_path: Path, env: Any) -> None:
    path = savepoint(tmp_path / "s", [("a", {"the count": 3})], ValueStateDescriptor("the count", Types.INT()))
    named = {"fields.n.state-name": "the count", "fields.n.state-type": "value"}
    of_java = {"fields.n.value-class": "java.lang.Integer", "state.backend.type": "rocksdb"}
    declare(env, "n INT, k STRING", path, named | of_java)
    assert rows(env, "SELECT * FROM s") == [(3, "a")]


def test_a_path_may_be_an_address(tmp_path: Path, env: Any) -> None:
    path = savepoint(tmp_path / "s", [("a", {"v": 1})], ValueStateDescriptor("v", Types.INT()))
    declare(env, "k STRING, v INT", f"file://{path}/")
    assert rows(env, "SELECT * FROM s") == [("a", 1)]


def test_queries_join_savepoints_with_tables(tmp_path: Path, env: Any) -> None:
    path = savepoint(tmp_path / "s", [("a", {"v": 1}), ("b", {"v": 2})], ValueStateDescriptor("v", Types.INT()))
    declare(env, "k STRING, v INT", path)
    query = "SELECT s.k, s.v + t.w FROM s JOIN (VALUES ('a', 10), ('c', 5)) AS t(k, w) ON s.k = t.k WHERE s.v < 2"
    assert rows(env, query) == [("a", 11)]
