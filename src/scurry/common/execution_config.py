"""ExecutionConfig: the execution settings of a program, stored in its configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from scurry.common._api import ApiObject
from scurry.common._config import tuning
from scurry.common._removed import EXECUTION_CONFIG
from scurry.common.config_options import (
    AUTO_GENERATE_UIDS,
    AUTO_WATERMARK_INTERVAL,
    GLOBAL_JOB_PARAMETERS,
    MAX_PARALLELISM,
    PARALLELISM,
    ConfigOption,
)
from scurry.common.configuration import Configuration
from scurry.common.time import TimeAmount, to_millis
from scurry.errors import ArgumentError

__all__ = ["ExecutionConfig"]

_LARGEST_MAX_PARALLELISM = 1 << 15

_Switch = Callable[["ExecutionConfig"], "ExecutionConfig"]
_Query = Callable[["ExecutionConfig"], bool]


def _switch(option: ConfigOption[Any], on: str = "true", off: str = "false") -> tuple[_Switch, _Switch, _Query]:
    """Return the methods that set an option to `on`, set it to `off`, and return whether it is not `off`."""

    def enable(self: ExecutionConfig) -> ExecutionConfig:
        self._configuration.set_string(option.key, on)
        return self

    def disable(self: ExecutionConfig) -> ExecutionConfig:
        self._configuration.set_string(option.key, off)
        return self

    def is_enabled(self: ExecutionConfig) -> bool:
        return bool(self._configuration.get(option) != option.parse(off))

    enable.__doc__ = f"Set `{option.key}` to {on}. {option.description}"
    disable.__doc__ = f"Set `{option.key}` to {off}. {option.description}"
    is_enabled.__doc__ = f"Return whether `{option.key}` is not {off}. {option.description}"
    return enable, disable, is_enabled


class ExecutionConfig(ApiObject):
    """Parallelism, watermark interval, parameters etc. of a program; every `set_*` returns the config itself.

    Attributes:
        PARALLELISM_DEFAULT: Stands for "not set".
        PARALLELISM_UNKNOWN: Stands for "leave unchanged".
    """

    PARALLELISM_DEFAULT = -1
    PARALLELISM_UNKNOWN = -2

    _instead = EXECUTION_CONFIG

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Read and write the settings of a configuration.

        Args:
            configuration: The configuration of an environment; a new one if not given.
        """
        self._configuration = Configuration() if configuration is None else configuration
        self._global_job_parameters: dict[str, str] | None = None

    #: If they are disabled, a job starts only if all its operators have a uid.
    enable_auto_generated_uids, disable_auto_generated_uids, has_auto_generated_uids_enabled = _switch(
        AUTO_GENERATE_UIDS
    )

    enable_object_reuse, disable_object_reuse, is_object_reuse_enabled = _switch(tuning.OBJECT_REUSE)

    # The following settings concern Java only: they are stored and returned by their getters.
    enable_closure_cleaner, disable_closure_cleaner, is_closure_cleaner_enabled = _switch(
        tuning.CLOSURE_CLEANER_LEVEL, "RECURSIVE", "NONE"
    )
    enable_force_avro, disable_force_avro, is_force_avro_enabled = _switch(tuning.FORCE_AVRO)
    enable_force_kryo, disable_force_kryo, is_force_kryo_enabled = _switch(tuning.FORCE_KRYO)
    enable_generic_types, disable_generic_types, _has_generic_types = _switch(tuning.GENERIC_TYPES)

    def has_generic_types_disabled(self) -> bool:
        """Return whether `disable_generic_types` was called."""
        return not self._has_generic_types()

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Accept Flink's setting for compressed snapshots; it has no effect here."""
        self._configuration.set_boolean(tuning.SNAPSHOT_COMPRESSION.key, use_snapshot_compression)
        return self

    def is_use_snapshot_compression(self) -> bool:
        """Return the value of `set_use_snapshot_compression`."""
        return self._configuration.get(tuning.SNAPSHOT_COMPRESSION) is True

    def set_latency_tracking_interval(self, interval: TimeAmount) -> ExecutionConfig:
        """Accept the interval of Flink's latency markers (int: ms), 0 or negative for none; it has no effect here."""
        return self._set_millis(tuning.LATENCY_INTERVAL, max(to_millis(interval), 0))

    def get_latency_tracking_interval(self) -> int:
        """Return the value of `set_latency_tracking_interval`, in ms."""
        return self._configuration.get(tuning.LATENCY_INTERVAL) or 0

    def set_task_cancellation_interval(self, interval: TimeAmount) -> ExecutionConfig:
        """Accept the time between Flink's attempts to cancel a task (int: ms); it has no effect here."""
        return self._set_millis(tuning.TASK_CANCELLATION_INTERVAL, interval)

    def get_task_cancellation_interval(self) -> int:
        """Return the value of `set_task_cancellation_interval`, in ms."""
        return self._configuration.get(tuning.TASK_CANCELLATION_INTERVAL) or 0

    def set_task_cancellation_timeout(self, timeout: TimeAmount) -> ExecutionConfig:
        """Accept the time after which Flink kills the process of a task that does not stop (int: ms)."""
        return self._set_millis(tuning.TASK_CANCELLATION_TIMEOUT, timeout)

    def get_task_cancellation_timeout(self) -> int:
        """Return the value of `set_task_cancellation_timeout`, in ms."""
        return self._configuration.get(tuning.TASK_CANCELLATION_TIMEOUT) or 0

    def _set_millis(self, option: ConfigOption[int], amount: TimeAmount) -> ExecutionConfig:
        millis = to_millis(amount)
        if millis < 0:
            raise ArgumentError(f"{option.key} must not be negative: {millis} ms")
        self._configuration.set_string(option.key, f"{millis} ms")
        return self

    def set_auto_watermark_interval(self, interval: TimeAmount) -> ExecutionConfig:
        """Set the time between watermarks.

        Args:
            interval: An int in milliseconds, timedelta, Time or Duration; 0 emits no periodic watermarks.

        Raises:
            ArgumentError: It is negative.
        """
        millis = to_millis(interval)
        if millis < 0:
            raise ArgumentError(f"the auto watermark interval must not be negative: {millis} ms")
        self._configuration.set_string(AUTO_WATERMARK_INTERVAL.key, f"{millis} ms")
        return self

    def get_auto_watermark_interval(self) -> int:
        """Return the time between watermarks in milliseconds, 200 if not set."""
        return self._configuration.get(AUTO_WATERMARK_INTERVAL) or 0

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """Set the number of subtasks of operators that do not set their own.

        Raises:
            ArgumentError: It is below 1 and not `PARALLELISM_DEFAULT`.
        """
        if parallelism == self.PARALLELISM_DEFAULT:
            self._configuration.remove_config(PARALLELISM.key)
        elif parallelism < 1:
            raise ArgumentError(f"the parallelism must be at least 1, or -1 for the default: {parallelism}")
        else:
            self._configuration.set_integer(PARALLELISM.key, parallelism)
        return self

    def get_parallelism(self) -> int:
        """Return the number of subtasks, by default the number of CPUs."""
        return self._configuration.get(PARALLELISM) or os.cpu_count() or 1

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Set the number of key groups, which is the highest parallelism a job can be rescaled to.

        Raises:
            ArgumentError: It is not from 1 to 32768.
        """
        if not 1 <= max_parallelism <= _LARGEST_MAX_PARALLELISM:
            raise ArgumentError(
                f"the maximum parallelism must be from 1 to {_LARGEST_MAX_PARALLELISM}: {max_parallelism}"
            )
        self._configuration.set_integer(MAX_PARALLELISM.key, max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups, -1 if not set."""
        return self._configuration.get(MAX_PARALLELISM) or -1

    def set_global_job_parameters(self, global_job_parameters_dict: Mapping[str, Any]) -> ExecutionConfig:
        """Set parameters that functions read from their runtime context; values become text.

        They replace the value of `pipeline.global-job-parameters`, as in Flink.
        """
        self._global_job_parameters = {key: str(value) for key, value in global_job_parameters_dict.items()}
        return self

    def get_global_job_parameters(self) -> dict[str, str]:
        """Return the parameters.

        Raises:
            ConfigError: `pipeline.global-job-parameters` is not a list of `key:value`.
        """
        if self._global_job_parameters is None:
            return self._configuration.get(GLOBAL_JOB_PARAMETERS) or {}
        return dict(self._global_job_parameters)

    def __eq__(self, other: object) -> bool:
        """Compare all settings."""
        return (
            isinstance(other, ExecutionConfig)
            and self._configuration == other._configuration
            and self._global_job_parameters == other._global_job_parameters
        )

    def __hash__(self) -> int:
        """Hash the configuration."""
        return hash(self._configuration)
