"""Keys that are accepted without effect say so once in the log of a job; all others are read."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import scurry
from scurry.common import Configuration, _config, config_options
from scurry.common._config import validation
from scurry.common._config.option import ConfigOption
from scurry.datastream import CheckpointingMode, StreamExecutionEnvironment
from scurry.datastream.state_backend import EmbeddedRocksDBStateBackend, HashMapStateBackend, StateBackend
from scurry.runtime.driver.job import JobExecution
from scurry.testing import job_plan_of

OPTIONS = {option.key: option for option in validation.known_options()}
UNUSED = {key: option for key, option in OPTIONS.items() if option.instead}

#: Where options are declared, set and shown again, which gives them no effect.
_PASSED_ON = (
    "common/_config/",
    "common/config_options.py",
    "common/execution_config.py",
    "common/_removed.py",
    "datastream/checkpoint_config.py",
    "datastream/_environment_settings.py",
)


def names(option: ConfigOption[Any]) -> set[str]:
    """What code calls an option: its constants, and its key in quotes."""
    modules = [import_module(f"scurry.common._config.{each.name}") for each in iter_modules(_config.__path__)]
    declared = [item for module in (config_options, *modules) for item in vars(module).items()]
    return {*(name for name, value in declared if value is option), f'"{option.key}"'}


def is_read(option: ConfigOption[Any]) -> bool:
    called = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names(option)))
    return called.search(code()) is not None


@cache
def code() -> str:
    """The sources that can give an option an effect."""
    root = Path(scurry.__file__).parent
    paths = (path for path in root.rglob("*.py") if not str(path.relative_to(root)).startswith(_PASSED_ON))
    return "\n".join(path.read_text() for path in paths)


def other_value(option: ConfigOption[Any]) -> str:
    """A value that is not the default."""
    for text in ("true", "false", "7 min", "7", "NONE", "AT_LEAST_ONCE"):
        try:
            if (option.type(text) or None) != (option.default or None):
                return text
        except ValueError:
            pass
    raise AssertionError(option.key)


def notes(configuration: Configuration) -> list[str]:
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.from_collection([1]).print()
    log = JobExecution(job_plan_of(env, "job")).log
    return [note for note in log.notes if note.startswith("configuration without effect")]


@pytest.mark.parametrize("runner", ["local", "spark"])
@pytest.mark.parametrize("key", sorted(UNUSED))
def test_a_key_without_effect_is_noted_once_with_what_to_do_instead(key: str, runner: str) -> None:
    settings = {"scurry.runner": runner, key: other_value(UNUSED[key])}
    assert notes(Configuration.from_dict(settings)) == [f"configuration without effect: {key} ({UNUSED[key].instead})"]


@pytest.mark.parametrize("key", sorted(UNUSED))
def test_the_default_is_not_noted(key: str) -> None:
    default: Any = UNUSED[key].default
    text = "false" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
    assert notes(Configuration.from_dict({"scurry.runner": "local", key: text})) == []


@pytest.mark.parametrize("key", sorted(OPTIONS.keys() - UNUSED.keys()))
def test_every_other_key_is_read_somewhere(key: str) -> None:
    assert is_read(OPTIONS[key]), f"nothing reads {key}: let it have an effect, or declare what to do instead"


def test_methods_and_older_names_are_noted_and_keys_of_flinks_own_processes_too() -> None:
    configuration = Configuration.from_dict({"scurry.runner": "local", "execution.checkpointing.unaligned": "true"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.enable_checkpointing(1000, CheckpointingMode.AT_LEAST_ONCE).set_buffer_timeout(1)
    env.get_checkpoint_config().set_checkpoint_timeout(5000).set_tolerable_checkpoint_failure_number(3)
    env.configure(Configuration.from_dict({"taskmanager.numberOfTaskSlots": "4"}))
    env.from_collection([1]).print()
    [note] = [note for note in JobExecution(job_plan_of(env, "job")).log.notes if "without effect" in note]
    assert re.findall(r"(\S+) \(", note) == [
        "execution.checkpointing.unaligned",
        "execution.checkpointing.mode",
        "execution.buffer-timeout.interval",
        "execution.checkpointing.timeout",
        "execution.checkpointing.tolerable-failed-checkpoints",
        "taskmanager.numberOfTaskSlots",
    ]


@pytest.mark.parametrize(
    ("backend", "name"), [(HashMapStateBackend(), "hashmap"), (EmbeddedRocksDBStateBackend(), "rocksdb")]
)
def test_a_state_backend_is_noted_once(backend: StateBackend, name: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    env.set_state_backend(backend).set_state_backend(backend)
    env.from_collection([1]).print()
    plan = job_plan_of(env, "job")
    [note] = [note for note in JobExecution(plan).log.notes if "without effect" in note]
    assert note.count("state.backend.type (") == 1
    assert plan.settings.configuration["state.backend.type"] == name


@pytest.mark.parametrize(
    ("method", "arguments"),
    [("set_buffer_timeout", (5,)), ("start_new_chain", ()), ("disable_chaining", ()), ("slot_sharing_group", ("g",))],
)
def test_settings_of_streams_without_effect_are_noted_once(method: str, arguments: tuple[Any, ...]) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    doubled = env.from_collection([1]).map(lambda n: n * 2)
    getattr(doubled, method)(*arguments)
    tripled = doubled.map(lambda n: n * 3)
    getattr(tripled, method)(*arguments)
    tripled.print()
    [note] = [note for note in JobExecution(job_plan_of(env, "job")).log.notes if "without effect" in note]
    assert note.startswith(f"configuration without effect: {method} (")
    assert note.count(method) == 1


def test_the_default_buffer_timeout_of_a_stream_is_not_noted() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    env.from_collection([1]).map(lambda n: n * 2).set_buffer_timeout(-1).print()
    assert JobExecution(job_plan_of(env, "job")).log.notes == []
