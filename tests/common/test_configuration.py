from __future__ import annotations

import copy
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.common import Configuration, Duration, ExecutionConfig
from scurry.common._config.fault_tolerance import CHECKPOINT_OPTIONS, RESTART_OPTIONS
from scurry.common._config.validation import validate
from scurry.common.config_options import (
    AUTO_WATERMARK_INTERVAL,
    BATCH_MAX_BYTES,
    CHECKPOINTING_DIR,
    OPTIONS,
    RUNTIME_MODE,
    parse_bytes,
    parse_duration,
)
from scurry.errors import ConfigError, UnknownConfigError


def test_values_are_text_as_in_flink() -> None:
    configuration = Configuration().set_string("s", "x").set_integer("i", 5).set_boolean("b", True).set_float("f", 1e10)
    assert configuration.to_dict() == {"s": "x", "i": "5", "b": "true", "f": "1.0E10"}
    assert str(configuration) == "{b=true, s=x, f=1.0E10, i=5}"


def test_reads_values_of_the_kind_asked_for() -> None:
    configuration = Configuration.from_dict({"i": "5", "b": "TRUE", "f": "1.5"})
    assert configuration.get_integer("i", 0) == 5
    assert configuration.get_float("i", 0) == 5.0
    assert configuration.get_boolean("b", False) is True
    assert configuration.get_string("f", "") == "1.5"


def test_missing_values_give_the_default() -> None:
    configuration = Configuration()
    assert configuration.get_integer("i", 7) == 7
    assert repr(configuration.get_float("f", 7)) == "7.0"
    assert configuration.get_boolean("b", True) is True
    assert configuration.get_string("s", "x") == "x"


def test_unreadable_values_name_the_key() -> None:
    configuration = Configuration.from_dict({"a": "x"})
    for read in (configuration.get_integer, configuration.get_boolean, configuration.get_float):
        with pytest.raises(ConfigError, match="configuration a = 'x'"):
            read("a", False)


def test_scheduler_modes_that_flink_does_not_have_are_refused() -> None:
    validate({"jobmanager.scheduler": "adaptive", "scheduler-mode": "reactive"})
    with pytest.raises(ConfigError, match="scheduler-mode = 'eager' cannot be used: expected one of REACTIVE"):
        validate({"scheduler-mode": "eager"})
    with pytest.raises(ConfigError, match="jobmanager.scheduler = 'eager'"):
        validate({"jobmanager.scheduler": "eager"})


def test_only_text_is_a_string_value() -> None:
    with pytest.raises(TypeError, match="set_integer"):
        Configuration().set_string("a", 5)  # type: ignore[arg-type]


def test_removes_and_lists_keys() -> None:
    configuration = Configuration.from_dict({"a": "1", "b": ""})
    assert configuration.remove_config("b") is True
    assert configuration.remove_config("b") is False
    assert configuration.key_set() == {"a"} and configuration.contains_key("a")


def test_copies_are_independent() -> None:
    original = Configuration.from_dict({"a": "1"})
    for twin in (Configuration(original), copy.deepcopy(original)):
        assert twin == original
        twin.set_string("a", "2")
        assert twin != original


def test_options_are_read_with_their_type_default_and_aliases() -> None:
    configuration = Configuration.from_dict(
        {"pipeline.auto-watermark-interval": "1 s", "state.checkpoints.dir": "/tmp/x"}
    )
    assert configuration.get(AUTO_WATERMARK_INTERVAL) == 1000
    assert configuration.get(BATCH_MAX_BYTES) == 1024**3
    assert configuration.get(CHECKPOINTING_DIR) == "/tmp/x"
    assert Configuration.from_dict({"execution.runtime-mode": "batch"}).get(RUNTIME_MODE) == "BATCH"


@pytest.mark.parametrize(
    ("text", "millis"),
    [("200 ms", 200), ("200", 200), ("10s", 10_000), ("10 s", 10_000), ("5 min", 300_000), ("1 d", 86_400_000),
     ("2 hours", 7_200_000), ("1500 µs", 1), ("PT10S", 10_000), ("PT1M30.5S", 90_500), ("P1DT1H", 90_000_000)],
)  # fmt: skip
def test_durations_are_written_as_in_flink(text: str, millis: int) -> None:
    assert parse_duration(text) == millis


@pytest.mark.parametrize("text", ["", "ms", "5 fortnights", "P", "PT", "-5 s", "1.5 s"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        parse_duration(text)


@given(st.integers(0, 2**60))
def test_bare_numbers_are_milliseconds_and_bytes(number: int) -> None:
    assert parse_duration(str(number)) == number and parse_bytes(str(number)) == number


def test_sizes_are_written_as_in_flink() -> None:
    assert [parse_bytes(text) for text in ("1k", "512 mb", "1 gb", "7 bytes")] == [1024, 536870912, 1073741824, 7]
    with pytest.raises(ValueError, match="expected a size"):
        parse_bytes("1 brick")


def test_options_have_descriptions_and_distinct_keys() -> None:
    options = [*OPTIONS, *CHECKPOINT_OPTIONS, *RESTART_OPTIONS]
    keys = [key for option in options for key in (option.key, *option.aliases)]
    assert len(set(keys)) == len(keys)
    assert all(option.description.endswith(".") for option in options)


@pytest.mark.parametrize(
    "key",
    ["python.execution-mode", "python.fn-execution.bundle.size", "spark.sql.shuffle.partitions", "web.port",
     "taskmanager.numberOfTaskSlots", "table.local-time-zone", "execution.checkpointing.write-buffer-size",
     "state.backend.type", "python.operator-chaining.enabled", "classloader.resolve-order", "jmx.server.port",
     "task.cancellation.timers.timeout", "state.changelog.storage", "dstl.dfs.base-path", "process.working-dir"],
)  # fmt: skip
def test_keys_that_do_no_harm_pass_silently(key: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        validate(Configuration.from_dict({key: "5"}))


def test_keys_a_user_would_miss_are_warned_about_once() -> None:
    with pytest.warns(UserWarning, match="pipeline.watermark-alignment.*metrics.scope.task") as caught:
        validate({"pipeline.watermark-alignment.allow-unaligned-source-splits": "true", "metrics.scope.task": "x"})
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("paralelism.default", "parallelism.default"),
        ("parallelism.defualt", "parallelism.default"),
        ("execution.checkpointing.intervall", "execution.checkpointing.interval"),
        ("pipeline.auto-watermark-intervall", "pipeline.auto-watermark-interval"),
        ("scurry.tick-intervall", "scurry.tick-interval"),
        ("python.fiels", "python.files"),
    ],
)
def test_misspelt_keys_get_a_hint(key: str, meant: str) -> None:
    with pytest.raises(UnknownConfigError, match=f"did you mean {meant}") as error:
        validate({key: "1"})
    assert isinstance(error.value, KeyError)


def test_a_key_of_the_program_itself_is_warned_about() -> None:
    with pytest.warns(UserWarning, match=r"without effect: my\.limit \(neither Flink nor scurry has it\)"):
        validate({"my.limit": "1"})


def test_a_key_of_scurry_that_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownConfigError, match=r"configuration scurry\.x is unknown"):
        validate({"scurry.x": "1"})


def test_keys_spark_cannot_honour_say_what_to_do() -> None:
    with pytest.warns(UserWarning, match=r"kubernetes\.cluster-id \(set spark\.master and spark\.kubernetes"):
        validate({"kubernetes.cluster-id": "x"})


@pytest.mark.parametrize(
    ("key", "value"),
    [("parallelism.default", "0"), ("parallelism.default", "x"), ("pipeline.max-parallelism", "32769"),
     ("execution.runtime-mode", "FAST"), ("execution.checkpointing.interval", "soon"),
     ("scurry.batch.max-bytes", "all")],
)  # fmt: skip
def test_unusable_values_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key):
        validate({key: value})


def test_execution_config_writes_the_configuration() -> None:
    configuration = Configuration()
    config = ExecutionConfig(configuration)
    config.set_parallelism(3).set_max_parallelism(64).set_auto_watermark_interval(Duration.of_seconds(1))
    assert (config.get_parallelism(), config.get_max_parallelism(), config.get_auto_watermark_interval()) == (
        3,
        64,
        1000,
    )
    assert configuration.get_integer("parallelism.default", 0) == 3
    validate(configuration)


def test_execution_config_defaults_are_flinks() -> None:
    config = ExecutionConfig()
    assert (config.get_auto_watermark_interval(), config.get_max_parallelism()) == (200, -1)
    assert config.get_parallelism() >= 1
    assert config.set_parallelism(5).set_parallelism(-1).get_parallelism() == ExecutionConfig().get_parallelism()
    assert config.set_auto_watermark_interval(0).get_auto_watermark_interval() == 0


def test_execution_config_refuses_impossible_settings() -> None:
    config = ExecutionConfig()
    with pytest.raises(ValueError, match="must be at least 1"):
        config.set_parallelism(0)
    with pytest.raises(ValueError, match="must be from 1"):
        config.set_max_parallelism(0)
    with pytest.raises(ValueError, match="must not be negative"):
        config.set_auto_watermark_interval(-1)


def test_global_job_parameters_can_be_configured() -> None:
    configuration = Configuration.from_dict({"pipeline.global-job-parameters": "color:red, size : 7"})
    config = ExecutionConfig(configuration)
    assert config.get_global_job_parameters() == {"color": "red", "size": "7"}
    assert config.set_global_job_parameters({"size": 8}).get_global_job_parameters() == {"size": "8"}  # as in Flink


@pytest.mark.parametrize("text", ["color", "color:", ":red", "color:red:blue", "a:1,,b:2"])
def test_global_job_parameters_that_cannot_be_read_say_how_to_write_them(text: str) -> None:
    with pytest.raises(ConfigError, match="expected key:value,key:value"):
        validate({"pipeline.global-job-parameters": text})


def test_global_job_parameters_become_text() -> None:
    assert ExecutionConfig().set_global_job_parameters({"a": 1}).get_global_job_parameters() == {"a": "1"}


def test_state_of_spark_has_the_format_whose_files_a_killed_batch_leaves() -> None:
    key = "spark.sql.streaming.stateStore.checkpointFormatVersion"
    validate({key: "1"})
    with pytest.raises(ConfigError, match=rf"{key} = '2' must be 1: .*; leave it out"):
        validate({key: "2"})
