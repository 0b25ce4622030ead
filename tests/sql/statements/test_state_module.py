"""The module `state`: statements on modules, and its function `savepoint_metadata`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.common.typeinfo import Types
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import ScurryError, ValidationError
from scurry.runtime.savepoint.format import SourceState
from scurry.runtime.savepoint.reading import open_savepoint
from scurry.sql.savepoints.uid_hash import uid_hash
from scurry.state import OperatorTransformation, SavepointWriter
from scurry.table.module import Module, ModuleEntry
from scurry.testing import TestHarness
from support.state.harness_savepoints import save
from support.statements.tables import environment, rows


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> Any:
    return environment(request.param == "streaming")


@pytest.fixture
def path(tmp_path: Path) -> str:
    state = OperatorTransformation.keyed_state(
        [("a", {"n": 1}), ("b", {"n": 2})], [ValueStateDescriptor("n", Types.INT())]
    )
    return SavepointWriter.new_savepoint(16).with_operator("visits", state).write(str(tmp_path / "s"))


@pytest.mark.parametrize(
    ("uid", "hashed"),
    [
        # as Flink's savepoint_metadata shows them
        ("u", "18ee88c14cc4b81e796fad3220cd8db9"),
        ("2_calc", "80d5a788fcf41d1608d5ea6cc404a286"),
        ("1_source", "d3f21cabc6fe0fdf76c8be915bdb22a2"),
        ("4_group-aggregate", "23eaad2bb152dd975bbc63554c2ca61f"),
        ("4_group-aggregatex", "845e45db73daaa6d03a8f0da6d1cec14"),
    ],
)
def test_the_hash_of_a_uid_is_that_of_flink(uid: str, hashed: str) -> None:
    assert uid_hash(uid) == hashed


def test_the_function_has_a_row_for_each_operator(env: Any, path: str) -> None:
    env.execute_sql("LOAD MODULE state")
    size = open_savepoint(path).operators["visits"].bytes
    ((*row,),) = rows(env, f"SELECT * FROM savepoint_metadata('{path}')")
    assert row[1:] == ["visits", "visits", uid_hash("visits"), row[4], 16, row[6], 0, size]


def test_the_columns_are_those_of_flink(env: Any, capsys: pytest.CaptureFixture[str]) -> None:
    env.execute_sql("LOAD MODULE state")
    env.sql_query("SELECT * FROM savepoint_metadata('/x')").print_schema()
    assert (
        capsys.readouterr().out
        == """(
  `checkpoint-id` BIGINT NOT NULL,
  `operator-name` STRING,
  `operator-uid` STRING,
  `operator-uid-hash` STRING NOT NULL,
  `operator-parallelism` INT NOT NULL,
  `operator-max-parallelism` INT NOT NULL,
  `operator-subtask-state-count` INT NOT NULL,
  `operator-coordinator-state-size-in-bytes` BIGINT NOT NULL,
  `operator-total-size-in-bytes` BIGINT NOT NULL
)
"""
    )


def test_the_function_is_joined_with_a_table_of_paths(env: Any, path: str) -> None:
    env.execute_sql("LOAD MODULE state")
    query = f"""SELECT `operator-uid` FROM (VALUES ('{path}'), (CAST(NULL AS STRING))) AS t(p),
        LATERAL TABLE(savepoint_metadata(p))"""
    assert rows(env, query) == [("visits",)]


def test_sources_have_rows_with_the_size_of_their_position(tmp_path: Path) -> None:
    source = SourceState("words", 0, "FileSource", 3, {"files": ["a", "b"]})

    def totals(pairs: Any) -> Any:
        return pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: b).uid("totals").name("Totals")

    with TestHarness.of(totals, parallelism=2) as harness:
        harness.process(("a", 1))
        path = save(harness, tmp_path / "s", {"read": source})
    env = environment(False)
    env.execute_sql("LOAD MODULE state")
    totals_row, words = rows(env, f"SELECT * FROM savepoint_metadata('{path}')")
    size = len('[{"files": ["a", "b"]}, []]')
    assert words == (7, "words", "read", uid_hash("read"), 3, 128, 0, size, size)
    assert totals_row[:8] == (7, "Totals", "totals", uid_hash("totals"), 2, 128, 2, 0)
    assert totals_row[8] == open_savepoint(path).operators["totals"].bytes > 0


def test_a_path_without_a_savepoint_fails_the_query(env: Any, tmp_path: Path) -> None:
    env.execute_sql("LOAD MODULE state")
    with pytest.raises(ScurryError, match="is no savepoint"):
        rows(env, f"SELECT * FROM savepoint_metadata('{tmp_path}/none')")


def test_the_function_is_not_found_without_its_module(env: Any) -> None:
    query = "SELECT * FROM savepoint_metadata('/x')"
    with pytest.raises(ValidationError, match="No match found for function signature savepoint_metadata"):
        env.sql_query(query)
    env.execute_sql("LOAD MODULE state")
    env.sql_query(query)
    env.execute_sql("USE MODULES core")
    with pytest.raises(ValidationError, match="No match found for function signature savepoint_metadata"):
        env.sql_query(query)


def test_the_table_api_loads_the_module(env: Any, path: str) -> None:
    env.load_module("state", Module())
    assert env.list_modules() == ["core", "state"]
    assert env.list_full_modules() == [ModuleEntry("core", True), ModuleEntry("state", True)]
    assert len(rows(env, f"SELECT * FROM savepoint_metadata('{path}')")) == 1
    env.use_modules("core")
    assert env.list_full_modules() == [ModuleEntry("core", True), ModuleEntry("state", False)]
    env.unload_module("state")
    assert env.list_modules() == ["core"]
    with pytest.raises(ValidationError, match="No module with name 'state' exists"):
        env.use_modules("state")


def test_a_view_calls_the_function(env: Any, path: str) -> None:
    env.execute_sql("LOAD MODULE state")
    env.execute_sql(f"CREATE VIEW w AS SELECT `operator-uid` AS u FROM savepoint_metadata('{path}')")
    assert rows(env, "SELECT u FROM w") == [("visits",)]
