"""The settings of tables: every one of Flink's is known, and docs say what it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scurry.common._config.tables import TABLE_SETTINGS
from scurry.common.configuration import Configuration
from scurry.errors import UnknownConfigError, UnsupportedError, ValidationError
from scurry.sql.statements.table_options import check_table_options
from support.docs.table_settings import PAGE, with_settings
from support.statements.tables import environment, files, write

#: Keys and defaults of ExecutionConfigOptions, OptimizerConfigOptions, TableConfigOptions, WindowEmitStrategy,
#: MaterializedTableConfigOptions and WorkflowSchedulerOptions of Flink 2.3.
FLINKS = json.loads((Path(__file__).parents[2] / "fixtures" / "flink_table_options.json").read_text())


def configured(key: str, value: str) -> Configuration:
    found = Configuration()
    found.set_string(key, value)
    return found


def test_the_settings_are_flinks() -> None:
    assert [option.key for option in TABLE_SETTINGS if option.key not in FLINKS] == []
    assert [key for key in FLINKS if key not in {option.key for option in TABLE_SETTINGS}] == []


def test_defaults_are_accepted() -> None:
    for option in TABLE_SETTINGS:
        if option.default:
            check_table_options(configured(option.key, option.default))


def test_the_page_lists_all_settings() -> None:
    page = PAGE.read_text()
    assert page == with_settings(page)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table.exec.mini-batch.enabled", "maybe"),
        ("table.optimizer.agg-phase-strategy", "X"),
        ("table.exec.state.ttl", "x"),
        ("table.exec.rank.topn-cache-size", "many"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_in_flinks_words(key: str, value: str) -> None:
    with pytest.raises(ValidationError, match=f"Could not parse value '{value}' for key '{key}'."):
        environment(**{key: value}).execute_sql("SELECT 1")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table.exec.legacy-cast-behaviour", "ENABLED"),
        ("table.exec.sink.type-length-enforcer", "TRIM_PAD"),
        ("table.optimizer.non-deterministic-update.strategy", "TRY_RESOLVE"),
        ("table.optimizer.delta-join.strategy", "FORCE"),
        ("table.exec.emit.early-fire.enabled", "true"),
        ("table.exec.emit.allow-lateness", "1 h"),
    ],
)
def test_a_setting_that_would_change_results_is_refused(key: str, value: str) -> None:
    with pytest.raises(UnsupportedError, match=f"'{key}' = '{value}' is not supported"):
        environment(**{key: value}).execute_sql("SELECT 1")


def test_a_misspelt_setting_names_the_one_that_is_meant() -> None:
    with pytest.raises(
        UnknownConfigError, match=r"table.exec.state.ttll is unknown: did you mean table.exec.state.ttl\?"
    ):
        environment(**{"table.exec.state.ttll": "1 h"}).execute_sql("SELECT 1")


def test_settings_of_other_versions_of_flink_stop_nothing() -> None:
    environment(**{"table.planner": "blink", "table.exec.shuffle-mode": "batch"}).execute_sql("SELECT 1")


def test_with_dml_sync_an_insertion_has_ended_when_its_statement_returns(tmp_path: Path) -> None:
    env = environment(**{"table.dml-sync": "true"})
    write(tmp_path / "in", "f", {"a": 1})
    files(env, "t", "a INT", tmp_path / "in")
    files(env, "written", "a INT", tmp_path / "out")
    env.execute_sql("INSERT INTO written SELECT a FROM t")
    assert [each.read_text() for each in (tmp_path / "out").rglob("part-*")] == ['{"a":1}\n']
