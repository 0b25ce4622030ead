"""The settings of an environment, stored in its configuration."""

from __future__ import annotations

import os
import warnings
from typing import ClassVar, TypeVar

from scurry.common._api import ApiObject
from scurry.common._config.fault_tolerance import RESTART_OPTIONS
from scurry.common._config.python import (
    PYTHON_ARCHIVES,
    PYTHON_EXECUTABLE,
    PYTHON_FILES,
    PYTHON_REQUIREMENTS,
    warn_about_jars,
)
from scurry.common._config.tuning import (
    BUFFER_TIMEOUT,
    BUFFER_TIMEOUT_ENABLED,
    CHAIN_DIFFERENT_MAX_PARALLELISM,
    STATE_CHANGELOG,
)
from scurry.common._config.validation import validate
from scurry.common._types import java_text
from scurry.common.config_options import (
    MAX_PARALLELISM,
    OPERATOR_CHAINING,
    PARALLELISM,
    RUNTIME_MODE,
    SAVEPOINTS_DIR,
)
from scurry.common.configuration import Configuration
from scurry.common.execution_config import ExecutionConfig
from scurry.common.restart_strategy import RestartStrategyConfiguration
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream.checkpoint_config import CheckpointConfig
from scurry.datastream.checkpointing_mode import CheckpointingMode
from scurry.datastream.execution_mode import RuntimeExecutionMode
from scurry.datastream.slot_sharing_group import SlotSharingGroup
from scurry.datastream.state_backend import StateBackend
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.errors.user_frames import user_stack_level

Self = TypeVar("Self", bound="ConfiguredEnvironment")


class ConfiguredEnvironment(ApiObject):
    """The settings of a `StreamExecutionEnvironment`, all stored in one configuration."""

    _default_local_parallelism: ClassVar[int | None] = None

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Start with a copy of a configuration."""
        self._configuration = Configuration(configuration)
        if self._default_local_parallelism and self._configuration.get(PARALLELISM) is None:
            self._configuration.set_integer(PARALLELISM.key, self._default_local_parallelism)
        self._config = ExecutionConfig(self._configuration)

    def get_config(self) -> ExecutionConfig:
        """Return the execution settings, which can be changed through it."""
        return self._config

    def set_parallelism(self: Self, parallelism: int) -> Self:
        """Set the number of subtasks of operators that do not set their own."""
        self._config.set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        """Return the default parallelism, by default the number of CPUs."""
        return self._config.get_parallelism()

    def get_default_local_parallelism(self) -> int:
        """Return the parallelism of environments that are created from now on without another setting."""
        return self._default_local_parallelism or os.cpu_count() or 1

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set the parallelism of environments that are created from now on without another setting.

        Raises:
            ArgumentError: It is less than 1.
        """
        if parallelism < 1:
            raise ArgumentError(f"The parallelism must be at least 1, not {parallelism}")
        ConfiguredEnvironment._default_local_parallelism = parallelism

    def register_slot_sharing_group(self: Self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Accept the resources of Flink's slots; here `spark.executor.*` sets the resources of executors."""
        if not isinstance(slot_sharing_group, SlotSharingGroup):
            raise ArgumentTypeError(f"expected a SlotSharingGroup, got {slot_sharing_group!r}")
        return self

    def set_max_parallelism(self: Self, max_parallelism: int) -> Self:
        """Set the highest parallelism jobs can be rescaled to, which is the number of key groups, 1 to 32768."""
        self._config.set_max_parallelism(max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the highest parallelism jobs can be rescaled to, -1 if not set."""
        return self._configuration.get(MAX_PARALLELISM) or -1

    def set_runtime_mode(self: Self, execution_mode: RuntimeExecutionMode) -> Self:
        """Set how jobs are executed."""
        if not isinstance(execution_mode, RuntimeExecutionMode):
            raise ArgumentTypeError(f"expected a RuntimeExecutionMode, got {execution_mode!r}")
        self._configuration.set_string(RUNTIME_MODE.key, execution_mode.name)
        return self

    def set_buffer_timeout(self: Self, timeout_millis: TimeAmount) -> Self:
        """Set how long Flink holds back records to fill a network buffer; it has no effect here.

        Args:
            timeout_millis: The time (int: ms), or -1 to wait until the buffer is full.
        """
        millis = to_millis(timeout_millis)
        if millis < -1:
            raise ArgumentError(f"Timeout of buffer must be non-negative or -1, not {millis}")
        self._configuration.set_string(BUFFER_TIMEOUT.key, f"{millis} ms")
        return self

    def get_buffer_timeout(self) -> int:
        """Return the value of `set_buffer_timeout`, in ms, 100 by default; -1 if the timeout is disabled."""
        timeout = self._configuration.get(BUFFER_TIMEOUT) if self._configuration.get(BUFFER_TIMEOUT_ENABLED) else None
        return -1 if timeout is None else timeout

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """Return whether operators may share tasks although their max parallelism differs."""
        return self._configuration.get(CHAIN_DIFFERENT_MAX_PARALLELISM) is True

    def disable_operator_chaining(self: Self) -> Self:
        """Set that operators do not share tasks."""
        self._configuration.set_boolean(OPERATOR_CHAINING.key, False)
        return self

    def is_chaining_enabled(self) -> bool:
        """Return whether operators may share tasks."""
        return self._configuration.get(OPERATOR_CHAINING) is True

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the settings of checkpoints, which can be changed through it."""
        return CheckpointConfig(self._configuration)

    def enable_checkpointing(self: Self, interval: TimeAmount, mode: CheckpointingMode | None = None) -> Self:
        """Enable checkpoints.

        Args:
            interval: Time between them (int: ms), at least 10 ms.
            mode: The requested guarantee; both modes get EXACTLY_ONCE.
        """
        config = self.get_checkpoint_config().set_checkpoint_interval(interval)
        if mode is not None:
            config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the time between checkpoints in ms, -1 if they are not enabled."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the guarantee of checkpoints; as in Flink, AT_LEAST_ONCE if they are not enabled."""
        return self.get_checkpoint_config().get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """Return the guarantee of checkpoints."""
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return the value of `CheckpointConfig.enable_unaligned_checkpoints`."""
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return the value of `CheckpointConfig.set_force_unaligned_checkpoints`."""
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def enable_changelog_state_backend(self: Self, enabled: bool) -> Self:
        """Accept Flink's setting to log changes of state; here each micro-batch always saves only the changes."""
        self._configuration.set_boolean(STATE_CHANGELOG.key, enabled)
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """Return the value of `enable_changelog_state_backend`, None if nothing."""
        return self._configuration.get(STATE_CHANGELOG)

    def set_state_backend(self: Self, state_backend: StateBackend) -> Self:
        """Accept the state backend of a program for Flink 1; scurry has one, for state of any size."""
        if not isinstance(state_backend, StateBackend):
            raise ArgumentTypeError(f"expected a StateBackend, got {state_backend!r}")
        self._configuration.set_string("state.backend.type", state_backend._name)  # the job's log names it
        return self

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> None:
        """Set the restart strategy; for programs for Flink 1, see `restart-strategy.type`.

        Args:
            restart_strategy_configuration: A strategy made by `RestartStrategies`.
        """
        strategy = restart_strategy_configuration
        if not isinstance(strategy, RestartStrategyConfiguration):
            raise ArgumentTypeError(f"expected a strategy made by RestartStrategies, got {strategy!r}")
        for option in RESTART_OPTIONS:
            for key in (option.key, *option.aliases):
                self._configuration.remove_config(key)
        self._configuration.add_all(Configuration.from_dict(strategy.to_dict()))

    def set_default_savepoint_directory(self: Self, directory: str) -> Self:
        """Set the directory of savepoints for which no other one is given.

        Raises:
            ArgumentError: It is empty.
        """
        if not directory.strip():
            raise ArgumentError("the directory of savepoints must not be empty")
        self._configuration.set_string(SAVEPOINTS_DIR.key, directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return the default directory of savepoints, as Flink shows paths: `file:/savepoints`."""
        directory = self._configuration.get(SAVEPOINTS_DIR)
        return None if directory is None else java_text.path(directory)

    def configure(self, configuration: Configuration) -> None:
        """Copy all settings of a configuration.

        Raises:
            UnknownConfigError: A key is not known.
            ConfigError: A value cannot be used.
        """
        validate(configuration)
        for key, value in configuration.to_dict().items():
            self._configuration.set_string(key, value)

    # ------------------------------------------------------------------ what workers need

    def add_python_file(self, file_path: str) -> None:
        """Send a file or directory of Python code to workers, which can import from it."""
        before = self._configuration.get_string(PYTHON_FILES.key, "")
        # as in PyFlink, the file added last is searched first
        self._configuration.set_string(PYTHON_FILES.key, f"{file_path},{before}" if before else file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Set the packages workers need: a requirements.txt and optionally a directory with the packages."""
        parts = [requirements_file_path, *([requirements_cache_dir] if requirements_cache_dir else [])]
        self._configuration.set_string(PYTHON_REQUIREMENTS.key, "#".join(parts))

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Send an archive to workers, unpacked into `target_dir` of their working directory."""
        before = self._configuration.get_string(PYTHON_ARCHIVES.key, "")
        archive = f"{archive_path}#{target_dir}" if target_dir else archive_path
        self._configuration.set_string(PYTHON_ARCHIVES.key, f"{before},{archive}" if before else archive)

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python interpreter of the workers."""
        self._configuration.set_string(PYTHON_EXECUTABLE.key, python_exec)

    def add_jars(self, *jars_path: str) -> None:
        """Warn that jars are not loaded: connectors are built in, see `pipeline.jars`.

        Args:
            jars_path: URLs of jars; those whose connector or format is built in are not needed.
        """
        warn_about_jars(jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        """Warn that jars are not loaded; see `add_jars`."""
        warn_about_jars(classpaths)

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """Warn that functions cannot read the file; in PyFlink, too, it is for Java functions only."""
        warnings.warn(
            f"Python functions have no access to cached files such as {name}, in PyFlink neither: "
            "use add_python_archive or open the file by its path",
            stacklevel=user_stack_level(),
        )
