"""`python.logging.*`: levels of loggers where functions run."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from scurry.common import Configuration, Types
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ConfigError

SETTINGS = {"python.logging.default.level": "warn", "python.logging.level.overrides": "mine.quiet:ERROR,mine:DEBUG"}


def levels(_: int) -> list[str]:
    names = (None, "mine", "mine.quiet")
    return [logging.getLevelName(logging.getLogger(name).getEffectiveLevel()) for name in names]


@pytest.fixture
def own_levels() -> Iterator[None]:
    """In process, the loggers of this process change."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.mark.usefixtures("own_levels")
@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])])
def test_loggers_have_the_levels_that_the_job_configures(runner: str) -> None:
    configuration = Configuration.from_dict({**SETTINGS, "scurry.runner": runner})
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    found: list[list[str]] = []
    env.from_collection([1], Types.INT()).map(levels)._sink(CollectSink(found.extend), "levels")
    env.execute()
    assert found == [["WARNING", "DEBUG", "ERROR"]]


@pytest.mark.parametrize("key", SETTINGS)
def test_levels_that_do_not_exist_are_refused(key: str) -> None:
    with pytest.raises(ConfigError, match="expected one of CRITICAL"):
        StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({key: "mine:LOUD"}))
