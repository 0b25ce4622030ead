"""Savepoints are not read in SQL: the errors name the state processor."""

from __future__ import annotations

import pytest

from scurry.errors import UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.table.catalog import Procedure


@pytest.mark.parametrize(
    "statements",
    [
        ["LOAD MODULE state"],
        ["CREATE TABLE s (k INT) WITH ('connector' = 'savepoint', 'state.path' = '/x')", "SELECT * FROM s"],
    ],
)
def test_savepoints_are_read_by_the_state_processor(statements: list[str]) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    with pytest.raises(ValidationError) as failure:
        for each in statements:
            env.execute_sql(each)
    assert "scurry.state.SavepointReader" in failure.value.describe()


@pytest.mark.parametrize("name", [Procedure])
def test_classes_of_catalogs_that_there_are_not_say_what_to_do(name: type) -> None:
    with pytest.raises(UnsupportedError, match="function of Python"):
        name()
