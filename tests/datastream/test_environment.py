from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.common._process import launch
from scurry.connectors.collection import CollectionSource
from scurry.connectors.sink import DiscardSink
from scurry.datastream import (
    CheckpointConfig,
    CheckpointingMode,
    ExternalizedCheckpointRetention,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from scurry.errors import ArgumentError, ArgumentTypeError, ConfigError, TopologyError, UnknownConfigError
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan
from scurry.testing import job_plan_of


class Unbounded(CollectionSource):
    bounded = False


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[JobPlan]]:
    """Plans in the order they were submitted; nothing runs."""
    from scurry.datastream import _submission, stream_execution_environment

    plans: list[JobPlan] = []

    def submit(plan: JobPlan, configuration: Configuration) -> Any:
        plans.append(plan)
        return _submission._ExplainedJob()

    monkeypatch.setattr(stream_execution_environment, "submit_job", submit)
    yield plans


def plan_of(env: StreamExecutionEnvironment, source: CollectionSource | None = None) -> JobPlan:
    env.from_source(source or CollectionSource([1]), None, "numbers").print()
    return job_plan_of(env)


class TestConfiguration:
    def test_settings_come_from_the_configuration(self) -> None:
        conf = Configuration.from_dict(
            {
                "parallelism.default": "3",
                "pipeline.max-parallelism": "256",
                "pipeline.operator-chaining.enabled": "false",
                "pipeline.auto-watermark-interval": "50 ms",
                "pipeline.name": "named",
                "execution.checkpointing.interval": "10 s",
                "execution.checkpointing.dir": "/state",
                "scurry.runner": "local",
            }
        )
        env = StreamExecutionEnvironment.get_execution_environment(conf)
        assert (env.get_parallelism(), env.get_max_parallelism(), env.is_chaining_enabled()) == (3, 256, False)
        settings = plan_of(env).settings
        assert (settings.parallelism, settings.max_parallelism) == (3, 256)
        assert (settings.auto_watermark_interval_ms, settings.job_name, settings.runner) == (50, "named", "local")
        assert (settings.checkpoint_interval_ms, settings.checkpoint_dir) == (10_000, "/state")

    def test_the_command_line_wins_over_the_configuration(self) -> None:
        options = launch.LaunchOptions({"pipeline.name": "cli"}, mode="batch", parallelism=7, runner="local")
        with launch.activate(options):
            env = StreamExecutionEnvironment.get_execution_environment(
                Configuration.from_dict({"parallelism.default": "3", "pipeline.name": "program"})
            )
        settings = plan_of(env).settings
        assert (settings.parallelism, settings.job_name, settings.mode, settings.runner) == (7, "cli", "BATCH", "local")

    def test_setters_win_over_both(self) -> None:
        with launch.activate(launch.LaunchOptions(parallelism=7, mode="batch")):
            env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(2).set_max_parallelism(64).set_runtime_mode(RuntimeExecutionMode.STREAMING)
        settings = plan_of(env).settings
        assert (settings.parallelism, settings.max_parallelism, settings.mode) == (2, 64, "STREAMING")

    def test_later_changes_of_the_configuration_object_change_nothing(self) -> None:
        conf = Configuration()
        env = StreamExecutionEnvironment.get_execution_environment(conf)
        conf.set_string("parallelism.default", "9")
        env.set_parallelism(2)
        assert env.get_parallelism() == 2 and conf.get_string("parallelism.default", "") == "9"

    def test_unknown_keys_are_refused_where_they_come_in(self, env: StreamExecutionEnvironment) -> None:
        wrong = Configuration.from_dict({"parallelism.defautl": "3"})
        with pytest.raises(UnknownConfigError, match="parallelism.default"):
            StreamExecutionEnvironment.get_execution_environment(wrong)
        with pytest.raises(UnknownConfigError):
            env.configure(wrong)
        with pytest.raises(ConfigError):
            env.configure(Configuration.from_dict({"parallelism.default": "many"}))

    def test_configure_adds_settings(self, env: StreamExecutionEnvironment) -> None:
        env.configure(Configuration.from_dict({"parallelism.default": "5"}))
        assert env.get_parallelism() == 5

    def test_execution_config_is_a_view(self, env: StreamExecutionEnvironment) -> None:
        env.get_config().set_auto_watermark_interval(17).set_parallelism(4)
        assert (env.get_parallelism(), plan_of(env).settings.auto_watermark_interval_ms) == (4, 17)

    def test_key_groups_follow_the_parallelism_unless_set(self, env: StreamExecutionEnvironment) -> None:
        for parallelism, groups in [(1, 128), (85, 128), (86, 256), (200, 512), (30_000, 32_768)]:
            assert plan_of(env.set_parallelism(parallelism)).settings.max_parallelism == groups

    def test_own_settings_reach_the_runtime_as_plain_numbers(self, env: StreamExecutionEnvironment) -> None:
        env.configure(Configuration.from_dict({"scurry.batch.max-bytes": "1 kb", "scurry.tick-interval": "2 s"}))
        configuration = plan_of(env).settings.configuration
        assert (configuration["scurry.batch.max-bytes"], configuration["scurry.tick-interval"]) == ("1024", "2000")

    def test_job_parameters_reach_the_runtime(self, env: StreamExecutionEnvironment) -> None:
        env.get_config().set_global_job_parameters({"threshold": 3})
        assert plan_of(env).settings.job_parameters["threshold"] == "3"

    def test_python_dependencies_are_kept(self, env: StreamExecutionEnvironment) -> None:
        env.add_python_file("/a.py")
        env.add_python_file("/b.py")
        env.add_python_archive("/data.zip", "data")
        env.set_python_requirements("/requirements.txt", "/cache")
        env.set_python_executable("/usr/bin/python3")
        configuration = plan_of(env).settings.configuration
        assert {key: value for key, value in configuration.items() if key.startswith("python.")} == {
            "python.files": "/b.py,/a.py",
            "python.archives": "/data.zip#data",
            "python.requirements": "/requirements.txt#/cache",
            "python.executable": "/usr/bin/python3",
        }

    def test_buffer_timeout_and_savepoint_directory_are_kept(self, env: StreamExecutionEnvironment) -> None:
        assert (env.get_buffer_timeout(), env.get_default_savepoint_directory()) == (100, None)
        env.set_buffer_timeout(5).set_default_savepoint_directory("/savepoints")
        assert (env.get_buffer_timeout(), env.get_default_savepoint_directory()) == (5, "/savepoints")
        with pytest.raises(ArgumentError, match="non-negative or -1"):
            env.set_buffer_timeout(-2)

    def test_disabled_chaining_is_kept(self, env: StreamExecutionEnvironment) -> None:
        assert env.is_chaining_enabled()
        assert not env.disable_operator_chaining().is_chaining_enabled()


class TestMode:
    def test_streaming_is_the_default(self, env: StreamExecutionEnvironment) -> None:
        assert plan_of(env).settings.mode == "STREAMING"

    def test_automatic_is_batch_if_all_sources_are_bounded(self, env: StreamExecutionEnvironment) -> None:
        env.set_runtime_mode(RuntimeExecutionMode.AUTOMATIC)
        assert plan_of(env).settings.mode == "BATCH"
        assert plan_of(env, Unbounded([1])).settings.mode == "STREAMING"

    def test_batch_refuses_unbounded_sources(self, env: StreamExecutionEnvironment) -> None:
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        with pytest.raises(TopologyError, match="'numbers' .*test_environment.py:.* is unbounded"):
            plan_of(env, Unbounded([1]))

    def test_batch_takes_no_checkpoints(self, env: StreamExecutionEnvironment) -> None:
        env.set_runtime_mode(RuntimeExecutionMode.BATCH).enable_checkpointing(1000)
        assert plan_of(env).settings.checkpoint_interval_ms is None

    def test_a_mode_is_a_mode(self, env: StreamExecutionEnvironment) -> None:
        with pytest.raises(ArgumentTypeError, match="RuntimeExecutionMode"):
            env.set_runtime_mode("BATCH")  # type: ignore[arg-type]


class TestCheckpoints:
    def test_are_not_enabled_by_default(self, env: StreamExecutionEnvironment) -> None:
        config = env.get_checkpoint_config()
        assert not config.is_checkpointing_enabled()
        assert (env.get_checkpoint_interval(), env.get_checkpointing_mode()) == (-1, CheckpointingMode.AT_LEAST_ONCE)

    def test_enabling_sets_interval_and_mode(self, env: StreamExecutionEnvironment) -> None:
        env.enable_checkpointing(datetime.timedelta(seconds=1), CheckpointingMode.AT_LEAST_ONCE)
        assert env.get_checkpoint_config().is_checkpointing_enabled()
        assert (env.get_checkpoint_interval(), env.get_checkpointing_mode()) == (1000, CheckpointingMode.AT_LEAST_ONCE)

    def test_settings_are_kept_with_flinks_defaults(self) -> None:
        config = CheckpointConfig()
        defaults = (
            config.get_checkpoint_timeout(),
            config.get_min_pause_between_checkpoints(),
            config.get_max_concurrent_checkpoints(),
            config.get_tolerable_checkpoint_failure_number(),
            config.is_externalized_checkpoints_enabled(),
        )
        assert defaults == (600_000, 0, 1, 0, False)
        config.set_checkpoint_timeout(20).set_min_pause_between_checkpoints(30).set_max_concurrent_checkpoints(2)
        config.set_tolerable_checkpoint_failure_number(4)
        config.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
        assert (config.get_checkpoint_timeout(), config.get_min_pause_between_checkpoints()) == (20, 30)
        assert (config.get_max_concurrent_checkpoints(), config.get_tolerable_checkpoint_failure_number()) == (2, 4)
        assert config.is_externalized_checkpoints_enabled()

    def test_settings_can_come_from_the_configuration(self) -> None:
        conf = {"execution.checkpointing.interval": "1 min", "execution.checkpointing.mode": "AT_LEAST_ONCE"}
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(conf))
        assert (env.get_checkpoint_interval(), env.get_checkpointing_mode().name) == (60_000, "AT_LEAST_ONCE")

    def test_limits(self) -> None:
        config = CheckpointConfig()
        for setter, too_low in [
            (config.set_checkpoint_interval, 9),
            (config.set_checkpoint_timeout, 9),
            (config.set_min_pause_between_checkpoints, -1),
            (config.set_max_concurrent_checkpoints, 0),
            (config.set_tolerable_checkpoint_failure_number, -1),
        ]:
            with pytest.raises(ArgumentError):
                setter(too_low)


class TestExecution:
    def test_nothing_to_execute_is_an_error(self, env: StreamExecutionEnvironment) -> None:
        env.from_collection([1])
        for run in (env.execute, env.execute_async, env.get_execution_plan):
            with pytest.raises(TopologyError, match="No operators defined in streaming topology. Cannot execute."):
                run()

    def test_each_execution_takes_what_was_built_since_the_last(
        self, env: StreamExecutionEnvironment, submitted: list[JobPlan]
    ) -> None:
        numbers = env.from_collection([1], type_info=Types.INT())
        numbers.print()
        env.execute("first")
        numbers.map(str).print()
        env.execute("second")
        assert [plan.settings.job_name for plan in submitted] == ["first", "second"]
        assert [len(plan.operators) for plan in submitted] == [1, 2]
        with pytest.raises(TopologyError):
            env.execute()

    def test_operators_that_nothing_follows_run_too(
        self, env: StreamExecutionEnvironment, submitted: list[JobPlan]
    ) -> None:
        mapped = env.from_collection([1]).map(print)
        mapped.filter(bool)
        env.execute()
        (plan,) = submitted
        operators = [op.operator for op in plan.operators.values()]
        assert [type(op) for op in operators] == [ops.Map, ops.Filter, ops.Sink]
        assert isinstance(operators[-1].function, DiscardSink)

    def test_what_leads_to_a_sink_gets_no_second_end(
        self, env: StreamExecutionEnvironment, submitted: list[JobPlan]
    ) -> None:
        numbers = env.from_collection([1])
        numbers.map(print).union(numbers).rebalance().print()  # type: ignore[arg-type]
        env.execute()
        assert [type(op.operator) for op in submitted[0].operators.values()] == [ops.Map, ops.Sink]

    def test_the_plan_is_json_and_keeps_what_was_built(self, env: StreamExecutionEnvironment) -> None:
        env.from_collection([1]).print()
        assert json.loads(env.get_execution_plan()) == json.loads(env.get_execution_plan())

    def test_closing_forgets_what_was_built(self, env: StreamExecutionEnvironment) -> None:
        env.from_collection([1]).print()
        env.close()
        with pytest.raises(TopologyError):
            env.execute()

    def test_explaining_prints_the_plan_instead(
        self, env: StreamExecutionEnvironment, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with launch.activate(launch.LaunchOptions(explain_only=True)):
            env.from_collection([1]).map(str).print()
            assert env.execute("explained").get_net_runtime() == 0
            with env.from_collection([1]).execute_and_collect() as records:
                assert list(records) == []
        assert "explained: STREAMING" in capsys.readouterr().out
