"""The environment of DataFrames, its configuration, and statement sets."""

from __future__ import annotations

from typing import Any

import pytest

import scurry.dataframe as pf
from scurry.table import EnvironmentSettings, StatementSet, StreamTableEnvironment, TableEnvironment


def test_the_environment_is_created_once() -> None:
    assert pf.get_table_environment() is None
    made = pf.get_or_create_table_environment()
    assert isinstance(made, StreamTableEnvironment)
    assert pf.get_or_create_table_environment() is made is pf.get_table_environment()
    pf.set_table_environment(None)
    assert pf.get_table_environment() is None


def test_jobs_run_in_this_process_unless_set() -> None:
    assert pf.config.get("scurry.runner") is None
    pf.get_or_create_table_environment()
    assert pf.config.get("scurry.runner") == "local"
    pf.set_table_environment(None)
    pf.config.set("scurry.runner", "spark")
    pf.get_or_create_table_environment()
    assert pf.config.get("scurry.runner") == "spark"


def test_an_environment_of_the_program() -> None:
    given = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    pf.set_table_environment(given)
    assert pf.from_dict({"a": [1]}).to_table()._environment is given
    with pytest.raises(TypeError, match="t_env must be a TableEnvironment or None"):
        pf.set_table_environment(1)  # type: ignore[arg-type]
    assert pf.get_table_environment() is given


def test_values_are_buffered_for_the_environment_that_is_created() -> None:
    assert pf.config.set("table.local-time-zone", "Asia/Tokyo").set("execution.runtime-mode", "BATCH") is pf.config
    assert pf.config.get("table.local-time-zone") == "Asia/Tokyo"
    pf.set_table_environment(None)
    made = pf.get_or_create_table_environment()
    assert made.get_config().get_local_timezone() == "Asia/Tokyo"
    assert not made._session.is_streaming
    assert pf.config.get("table.local-time-zone") == "Asia/Tokyo"
    assert pf.config.get("none") is None and pf.config.get("none", "x") == "x"


def test_values_are_not_set_too_late() -> None:
    pf.config.set("table.local-time-zone", "Asia/Tokyo")
    with pytest.raises(RuntimeError, match=r"^pf.config holds buffered values that only apply to an environment"):
        pf.set_table_environment(TableEnvironment.create(EnvironmentSettings.in_batch_mode()))
    pf.get_or_create_table_environment()
    with pytest.raises(RuntimeError, match=r"^DataFrame configuration must be set before the table"):
        pf.config.set("a", "b")


@pytest.mark.parametrize(("key", "value", "name"), [(1, "a", "key"), ("a", 1, "value")])
def test_keys_and_values_are_texts(key: Any, value: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} must be a string"):
        pf.config.set(key, value)
    assert pf.config.get("a") is None


def test_what_is_asked_for_is_a_text() -> None:
    with pytest.raises(TypeError, match="key must be a string"):
        pf.config.get(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="default must be a string or None"):
        pf.config.get("a", 1)  # type: ignore[arg-type]


def test_statement_sets_are_new_and_of_the_environment() -> None:
    first, second = pf.create_statement_set(), pf.create_statement_set()
    assert first is not second
    assert isinstance(first, StatementSet)
    assert first._environment is pf.get_table_environment()


def test_each_program_of_a_process_has_its_own_environment() -> None:
    from scurry.common._process import launch

    pf.config.set("table.local-time-zone", "Asia/Tokyo")
    first = pf.get_or_create_table_environment()
    with launch.activate(launch.LaunchOptions()):
        assert pf.get_table_environment() is None
        assert pf.config.get("table.local-time-zone") is None
        assert pf.get_or_create_table_environment() is not first
