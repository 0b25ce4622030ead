"""BATCH on Spark: tasks follow the volume of data, as with Flink's adaptive batch scheduler."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from scurry.errors import ConfigError
from scurry.spark.session.adaptive_execution import adaptive_settings

AUTO = "execution.batch.adaptive.auto-parallelism"
COALESCING = "spark.sql.adaptive.coalescePartitions"
SUBTASKS = 4


class WhereKeysAre(KeyedProcessFunction):
    """Emit the subtask and the task of Spark that see a key."""

    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def process_element(self, value: Any, ctx: Any) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield self.subtask, context.partitionId()


def keyed(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection(list(range(1000)), Types.LONG()).key_by(lambda each: each, Types.LONG())


def places(program: Any, **settings: str) -> tuple[set[int], set[int]]:
    """Return the subtasks and the tasks of Spark that the keys of a job were in."""
    configuration = Configuration().set_string("scurry.runner", "spark").set_string("execution.runtime-mode", "BATCH")
    for key, value in settings.items():
        configuration.set_string(f"{AUTO}.{key.replace('_', '-')}", value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(SUBTASKS)
    found: list[tuple[int, int]] = []
    stream: DataStream = program(env)
    stream._sink(CollectSink(found.extend), "places")
    env.execute("places")
    assert len(found) == 1000
    subtasks, tasks = zip(*found, strict=True)
    return set(subtasks), set(tasks)


@pytest.mark.spark
def test_subtasks_with_little_input_share_a_task() -> None:
    subtasks, tasks = places(lambda env: keyed(env).process(WhereKeysAre()))
    assert (len(subtasks), len(tasks)) == (SUBTASKS, 1)


@pytest.mark.spark
def test_each_subtask_has_a_task_if_the_program_says_how_many_there_are() -> None:
    _, tasks = places(lambda env: keyed(env).process(WhereKeysAre()).set_parallelism(SUBTASKS))
    assert len(tasks) == SUBTASKS


@pytest.mark.spark
def test_each_subtask_has_a_task_without_auto_parallelism() -> None:
    _, tasks = places(lambda env: keyed(env).process(WhereKeysAre()), enabled="false")
    assert len(tasks) == SUBTASKS


@pytest.mark.spark
def test_there_are_no_more_subtasks_than_the_maximum() -> None:
    subtasks, _ = places(lambda env: keyed(env).process(WhereKeysAre()), max_parallelism="3")
    assert subtasks == {0, 1, 2}


def test_by_default_tasks_follow_the_volume_as_spark_decides() -> None:
    assert adaptive_settings({}) == {"spark.sql.adaptive.enabled": "true", f"{COALESCING}.enabled": "true"}


@pytest.mark.parametrize("configuration", [{f"{AUTO}.enabled": "false"}, {"jobmanager.scheduler": "Default"}])
def test_flinks_settings_leave_each_subtask_its_task(configuration: dict[str, str]) -> None:
    assert adaptive_settings(configuration)[f"{COALESCING}.enabled"] == "false"


@pytest.mark.parametrize("prefix", [AUTO, "jobmanager.adaptive-batch-scheduler"])
def test_a_volume_per_task_is_what_tasks_get_even_if_slots_stay_free(prefix: str) -> None:
    settings = adaptive_settings({f"{prefix}.avg-data-volume-per-task": "16 mb", f"{prefix}.min-parallelism": "2"})
    assert settings["spark.sql.adaptive.advisoryPartitionSizeInBytes"] == str(16 << 20)
    assert settings[f"{COALESCING}.parallelismFirst"] == "false"
    assert settings[f"{COALESCING}.minPartitionNum"] == "2"


def test_a_volume_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected a size"):
        adaptive_settings({f"{AUTO}.avg-data-volume-per-task": "much"})
