"""Settings of a program's execution, as methods over its configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from scurry.common.config_options import AUTO_WATERMARK_INTERVAL, GLOBAL_JOB_PARAMETERS, MAX_PARALLELISM, PARALLELISM
from scurry.common.configuration import Configuration
from scurry.common.time import TimeAmount, to_millis
from scurry.errors import ArgumentError

__all__ = ["ExecutionConfig"]

_LARGEST_MAX_PARALLELISM = 1 << 15


class ExecutionConfig:
    """Parallelism, watermark interval and parameters of a program; every `set_*` returns the config itself.

    Attributes:
        PARALLELISM_DEFAULT: Stands for "not set".
        PARALLELISM_UNKNOWN: Stands for "leave unchanged".
    """

    PARALLELISM_DEFAULT = -1
    PARALLELISM_UNKNOWN = -2

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Read and write the settings of a configuration.

        Args:
            configuration: The configuration of an environment; a new one if not given.
        """
        self._configuration = Configuration() if configuration is None else configuration
        self._global_job_parameters: dict[str, str] | None = None

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
        """Set the number of key groups, the most a job can be rescaled to.

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
        """Set parameters that functions find in their runtime context; values become text.

        They take the place of all that `pipeline.global-job-parameters` says, as in Flink.
        """
        self._global_job_parameters = {key: str(value) for key, value in global_job_parameters_dict.items()}
        return self

    def get_global_job_parameters(self) -> dict[str, str]:
        """Return the parameters.

        Raises:
            ConfigError: `pipeline.global-job-parameters` is no list of `key:value`.
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
