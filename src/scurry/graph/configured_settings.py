"""The settings of a job as a configuration has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from scurry.common import config_options as options
from scurry.common._config.fault_tolerance import MIN_PAUSE, RETENTION
from scurry.common._config.rest import REST_TOKEN
from scurry.common._config.scheduler import MOST_PARALLELISM
from scurry.common.configuration import Configuration
from scurry.errors import TopologyError
from scurry.graph.settings import JobSettings

_FEWEST_KEY_GROUPS, _MOST_KEY_GROUPS = 128, 1 << 15


def configured_settings(
    configuration: Configuration,
    mode: Literal["STREAMING", "BATCH"],
    parallelism: int,
    job_name: str,
    parameters: Mapping[str, str],
) -> JobSettings:
    """Return the settings of a job.

    Args:
        configuration: The settings of its environment.
        mode: The resolved mode.
        parallelism: The parallelism of operators that do not set their own.
        parameters: Global job parameters.
    """
    if mode == "BATCH":
        parallelism = min(parallelism, configuration.get(MOST_PARALLELISM) or parallelism)
    interval = configuration.get(options.CHECKPOINTING_INTERVAL) if mode == "STREAMING" else None
    return JobSettings(
        job_name=job_name,
        parallelism=parallelism,
        max_parallelism=_key_groups(configuration, parallelism),
        mode=mode,
        auto_watermark_interval_ms=configuration.get(options.AUTO_WATERMARK_INTERVAL) or 0,
        checkpoint_interval_ms=interval or None,
        checkpoint_dir=configuration.get(options.CHECKPOINTING_DIR),
        checkpoint_pause_ms=configuration.get(MIN_PAUSE) or 0,
        delete_on_cancel=configuration.get(RETENTION) not in (None, "RETAIN_ON_CANCELLATION"),
        runner="local" if configuration.get(options.RUNNER) == "local" else "spark",
        configuration={**_by_key(configuration), **_plain_numbers(configuration)},
        job_parameters=dict(parameters),
    )


def check_parallelism(what: str, parallelism: int, most: int, where: str) -> None:
    """Check the parallelism of something.

    Args:
        what: What has it, for the error.
        most: The maximum parallelism.
        where: What sets the maximum.

    Raises:
        TopologyError: It is above the maximum.
    """
    if parallelism > most:
        raise TopologyError(
            f"{what} has parallelism {parallelism}, and its maximum parallelism is {most}: lower the parallelism, or "
            f"raise the maximum ({where})"
        )


def _key_groups(configuration: Configuration, parallelism: int) -> int:
    """Return the configured number, or Flink's default: 1.5 times the parallelism, rounded up to a power of two."""
    configured = configuration.get(options.MAX_PARALLELISM)
    if configured is not None and configured > 0:
        return configured
    power_of_two = 1 << (parallelism + parallelism // 2 - 1).bit_length()
    return min(max(power_of_two, _FEWEST_KEY_GROUPS), _MOST_KEY_GROUPS)


def _by_key(configuration: Configuration) -> dict[str, str]:
    """Return all settings that tasks and functions may read, those set by an alias also under their key."""
    values = configuration.to_dict()
    values.pop(REST_TOKEN.key, None)
    for option in options.OPTIONS:
        named = next((alias for alias in option.aliases if alias in values), None)
        if named is not None:
            values.setdefault(option.key, values[named])
    return values


def _plain_numbers(configuration: Configuration) -> dict[str, str]:
    """Return scurry's own settings that have units as plain numbers, which the runtime reads."""
    own = (
        options.BATCH_MAX_BYTES,
        options.BATCH_MAX_RECORDS,
        options.RECORD_MAX_BYTES,
        options.STATE_MEMORY,
        options.BATCH_TARGET_DURATION,
        options.BATCH_CATCH_UP_DURATION,
        options.TICK_INTERVAL,
    )
    return {option.key: str(configuration.get(option)) for option in own if configuration.contains_key(option.key)}
