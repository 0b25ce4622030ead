"""Tables of the connector `savepoint` that say something else than the savepoint has: the errors say what it has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from scurry.common.typeinfo import Types
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from scurry.errors import (
    SavepointFormatError,
    SavepointNotFoundError,
    SavepointTrustError,
    ScurryError,
    StateNotFoundError,
    UnsupportedError,
    ValidationError,
)
from scurry.sql.savepoints.uid_hash import uid_hash
from scurry.state import OperatorTransformation, SavepointWriter
from support.statements.tables import environment, files, rows, write

STATES = (
    ValueStateDescriptor("count", Types.LONG()),
    ValueStateDescriptor("anything"),
    ListStateDescriptor("pages", Types.STRING()),
    MapStateDescriptor("by_page", Types.STRING(), Types.INT()),
    ValueStateDescriptor("row", Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])),
)
KEY = "PRIMARY KEY (k) NOT ENFORCED"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    stored = [("ann", {"count": 2, "anything": "text", "pages": ["home"], "by_page": {"home": 1}})]
    state = OperatorTransformation.keyed_state(stored, list(STATES))
    return SavepointWriter.new_savepoint().with_operator("visits", state).write(str(tmp_path_factory.mktemp("s") / "s"))


def read(columns: str, **options: str | None) -> list[tuple[Any, ...]]:
    env = environment(False)
    given = {"connector": "savepoint", "operator.uid": "visits"}
    given |= {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}  # type: ignore[misc]
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items() if value is not None)
    env.execute_sql(f"CREATE TABLE s ({columns}) WITH ({listed})")
    return rows(env, "SELECT * FROM s")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("`count` INT", "Column 'count' is INT, and state 'count' of operator 'visits' has values of type BIGINT"),
        ("`count` ARRAY<BIGINT>", "is ARRAY<BIGINT>, and state 'count' .* type BIGINT"),
        ("`count` BOOLEAN", "is BOOLEAN, and state 'count' .* type BIGINT"),
        ("pages BIGINT", "is BIGINT, and state 'pages' .* type ARRAY<STRING>"),
        ("pages ARRAY<INT>", "is ARRAY<INT>, and state 'pages' .* type ARRAY<STRING>"),
        ("by_page MAP<STRING, TINYINT>", "is MAP<STRING, TINYINT>, and state 'by_page' .* type MAP<STRING, INT>"),
        ("`row` ROW<c INT>", "is ROW<`c` INT>, and state 'row' .* type ROW<`a` INT, `b` STRING>"),
        ("`row` ROW<a STRING, b INT>", "type ROW<`a` INT, `b` STRING>"),
    ],
)
def test_a_column_of_another_type_than_its_state_is_refused(columns: str, message: str, path: str) -> None:
    with pytest.raises(ValidationError, match=message) as failure:
        read(f"k STRING, {columns}, {KEY}", state_path=path)
    assert "or as STRING, which shows any value as JSON" in failure.value.describe()


def test_values_of_undeclared_types_are_refused_one_by_one(path: str) -> None:
    with pytest.raises(ScurryError, match="BIGINT of column 'anything', which shows state 'anything' of operator 'vis"):
        read(f"k STRING, anything BIGINT, {KEY}", state_path=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"operator_uid": "visit"}, "no operator with uid 'visit'; did you mean 'visits'"),
        ({"operator_uid": None, "operator_uid_hash": "00"}, "no operator whose uid has the hash '00'. There are: "),
        ({"fields_c_state__name": "cuont"}, "operator 'visits' has no state 'cuont'; did you mean 'count'"),
    ],
)
def test_names_that_the_savepoint_has_not_are_refused(options: dict[str, Any], message: str, path: str) -> None:
    with pytest.raises(StateNotFoundError, match=message):
        read(f"k STRING, c BIGINT, {KEY}", state_path=path, **options)


def test_names_are_refused_where_only_the_entries_have_names(tmp_path: Path) -> None:
    stored: dict[str, dict[str, Any]] = {"ann": {"count": 2}, "bob": {"pages": ["home"]}}
    written = SavepointWriter.new_savepoint().with_operator("visits", OperatorTransformation.keyed_state(stored))
    path = written.write(str(tmp_path / "s"))
    assert sorted(read(f"k STRING, pages ARRAY<STRING>, `count` BIGINT, {KEY}", state_path=path)) == [
        ("ann", [], 2),
        ("bob", ["home"], None),
    ]
    with pytest.raises(StateNotFoundError, match="no state 'pagse'; did you mean 'pages'. There are: 'count', 'pages'"):
        read(f"k STRING, pagse ARRAY<STRING>, `count` BIGINT, {KEY}", state_path=path)


def test_an_operator_is_found_by_the_hash_of_its_uid(path: str) -> None:
    uid: Any = {"operator_uid": None, "operator_uid_hash": uid_hash("visits").upper()}
    assert read(f"k STRING, `count` BIGINT, {KEY}", state_path=path, **uid) == [("ann", 2)]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("k STRING, `count` BIGINT", {}, "Could not find the primary key in the table schema"),
        (
            "k STRING, `count` BIGINT, PRIMARY KEY (k, `count`) NOT ENFORCED",
            {},
            "Only a single primary key must be defined in the table schema",
        ),
        (f"k STRING, `count` BIGINT, {KEY}", {"operator_uid": None}, "Either operator uid or operator uid hash must"),
        (f"k STRING, `count` BIGINT, {KEY}", {"operator_uid_hash": "00"}, "Either operator uid or operator uid hash"),
        (f"k STRING, `count` BIGINT, {KEY}", {"state_path": None}, "Missing required options are: state.path"),
        (f"k STRING, `count` BIGINT, {KEY}", {"colour": "red"}, "Unsupported options: colour"),
        (f"k STRING, `count` BIGINT, {KEY}", {"fields_d_state__name": "d"}, "Unsupported options: fields.d.state-name"),
        (f"k STRING, `count` BIGINT, {KEY}", {"fields_count_state__type": "set"}, "Expected one of"),
        (f"k STRING, `count` BIGINT, {KEY}", {"fields_count_state__type": "list"}, "is a value state"),
        (f"k STRING, pages ARRAY<STRING>, {KEY}", {"fields_pages_state__type": "value"}, "is a list state"),
        (f"k STRING, `count` BIGINT, {KEY}", {"fields_count_value__class": "com.Mine"}, "com.Mine is a class of Java"),
        (f"k STRING, `count` BIGINT METADATA, {KEY}", {}, "its connector reads no metadata"),
    ],
)
def test_tables_that_cannot_show_a_savepoint_are_refused(
    columns: str, options: dict[str, Any], message: str, path: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        read(columns, **{"state_path": path, **options})


def test_a_path_without_a_savepoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SavepointNotFoundError, match="is no savepoint"):
        read(f"k STRING, `count` BIGINT, {KEY}", state_path=str(tmp_path / "none"))


def test_a_savepoint_is_no_sink(path: str) -> None:
    env = environment(False)
    env.execute_sql(
        f"CREATE TABLE s (k STRING, `count` BIGINT, {KEY}) WITH ('connector' = 'savepoint', 'state.path' = '{path}', "
        "'operator.uid' = 'visits')"
    )
    with pytest.raises(ValidationError, match="'savepoint' can only be used as a source. It cannot be used as a sink"):
        env.execute_sql("INSERT INTO s VALUES ('a', 1)")


def test_operators_of_sql_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "t", "f", {"k": "a"})
    env = environment(False, **{"scurry.final-savepoint.dir": str(tmp_path / "kept")})
    files(env, "t", "k STRING", tmp_path / "t")
    env.execute_sql(f"CREATE TABLE p (k STRING, n BIGINT, {KEY}) WITH ('connector' = 'blackhole')")
    env.execute_sql("INSERT INTO p SELECT k, COUNT(*) FROM t GROUP BY k").wait()
    (kept,) = (tmp_path / "kept").iterdir()
    env.execute_sql("LOAD MODULE state")
    query = f"SELECT `operator-uid` FROM savepoint_metadata('{kept}') WHERE `operator-name` LIKE '%Aggregate%'"
    ((uid,),) = rows(environment_with_state(), query)
    with pytest.raises(UnsupportedError, match="is one of SQL, which keeps rows in its own arrangement"):
        read(f"k STRING, n BIGINT, {KEY}", state_path=str(kept), operator_uid=uid)


def environment_with_state() -> Any:
    env = environment(False)
    env.execute_sql("LOAD MODULE state")
    return env


@pytest.mark.skipif(os.name != "posix", reason="permissions of files")
def test_a_savepoint_that_others_could_have_written_needs_permission(path: str) -> None:
    os.chmod(path, 0o777)
    try:
        with pytest.raises(SavepointTrustError):
            read(f"k STRING, `count` BIGINT, {KEY}", state_path=path)
        allowed: Any = {"scurry_savepoint_allow__untrusted": "true"}
        assert read(f"k STRING, `count` BIGINT, {KEY}", state_path=path, **allowed) == [("ann", 2)]
    finally:
        os.chmod(path, 0o700)


def test_a_damaged_savepoint_gives_no_rows(tmp_path: Path) -> None:
    state = OperatorTransformation.keyed_state([("ann", {"count": 2})], [STATES[0]])
    path = SavepointWriter.new_savepoint().with_operator("visits", state).write(str(tmp_path / "s"))
    (file,) = Path(path, "entries", "kind=page").iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(SavepointFormatError, match="not what was written"):
        read(f"k STRING, `count` BIGINT, {KEY}", state_path=path)
