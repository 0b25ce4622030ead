"""Settings of checkpoints, as methods over the configuration of an environment."""

from __future__ import annotations

from typing import Any

from scurry.common.config_options import CHECKPOINTING_INTERVAL, ConfigOption, parse_duration
from scurry.common.configuration import Configuration
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream.checkpointing_mode import CheckpointingMode
from scurry.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["CheckpointConfig"]

#: The shortest interval and timeout, in ms, as in Flink.
_SHORTEST = 10

_PREFIX = "execution.checkpointing."
_MODE = ConfigOption(_PREFIX + "mode", lambda text: CheckpointingMode[text.upper().replace("-", "_")],
                     CheckpointingMode.EXACTLY_ONCE, "What a checkpoint promises.")  # fmt: skip
_TIMEOUT = ConfigOption(_PREFIX + "timeout", parse_duration, 600_000, "Longest time a checkpoint may take, in ms.")
_MIN_PAUSE = ConfigOption(_PREFIX + "min-pause", parse_duration, 0, "Shortest time between checkpoints, in ms.")
_MAX_CONCURRENT = ConfigOption(_PREFIX + "max-concurrent-checkpoints", int, 1, "Checkpoints at the same time.")
_TOLERABLE = ConfigOption(_PREFIX + "tolerable-failed-checkpoints", int, 0, "Failures in a row that fail the job.")
_RETENTION = ConfigOption(
    _PREFIX + "externalized-checkpoint-retention",
    lambda text: ExternalizedCheckpointRetention[text.upper().replace("-", "_")],
    ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS,
    "What becomes of checkpoints when the job is cancelled.",
)


class CheckpointConfig:
    """When and how checkpoints are taken (Flink's `CheckpointConfig`); every `set_*` returns the config itself.

    Notes:
        A checkpoint is the end of a Spark micro-batch, committed exactly once. Interval and directory matter; timeout,
        pause, concurrency and tolerance describe Flink's mechanism and change nothing here.
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Read and write the settings of a configuration, a new one if not given."""
        self._configuration = Configuration() if configuration is None else configuration

    def _read(self, option: ConfigOption[Any]) -> Any:
        return self._configuration.get(option)

    def is_checkpointing_enabled(self) -> bool:
        """Return whether an interval is set."""
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return what checkpoints promise."""
        return self._read(_MODE)  # type: ignore[no-any-return]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Set what checkpoints promise; AT_LEAST_ONCE gets more than it asks for."""
        if not isinstance(checkpointing_mode, CheckpointingMode):
            raise ArgumentTypeError(f"expected a CheckpointingMode, got {checkpointing_mode!r}")
        self._configuration.set_string(_MODE.key, checkpointing_mode.name)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the time between checkpoints in ms, -1 if they are not enabled."""
        interval = self._read(CHECKPOINTING_INTERVAL)
        return -1 if interval is None else interval

    def set_checkpoint_interval(self, checkpoint_interval: TimeAmount) -> CheckpointConfig:
        """Set the time between checkpoints (int: ms), at least 10 ms."""
        return self._set_time(CHECKPOINTING_INTERVAL, checkpoint_interval, _SHORTEST, "Checkpoint interval")

    def get_checkpoint_timeout(self) -> int:
        """Return the longest time a checkpoint may take, in ms."""
        return self._read(_TIMEOUT)  # type: ignore[no-any-return]

    def set_checkpoint_timeout(self, checkpoint_timeout: TimeAmount) -> CheckpointConfig:
        """Set the longest time a checkpoint may take (int: ms), at least 10 ms."""
        return self._set_time(_TIMEOUT, checkpoint_timeout, _SHORTEST, "Checkpoint timeout")

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the shortest time between checkpoints, in ms."""
        return self._read(_MIN_PAUSE)  # type: ignore[no-any-return]

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: TimeAmount) -> CheckpointConfig:
        """Set the shortest time between checkpoints (int: ms)."""
        return self._set_time(_MIN_PAUSE, min_pause_between_checkpoints, 0, "Pause between checkpoints")

    def get_max_concurrent_checkpoints(self) -> int:
        """Return how many checkpoints may be under way at the same time."""
        return self._read(_MAX_CONCURRENT)  # type: ignore[no-any-return]

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Set how many checkpoints may be under way at the same time, at least 1."""
        if max_concurrent_checkpoints < 1:
            raise ArgumentError(f"at least 1 checkpoint must be possible at a time, not {max_concurrent_checkpoints}")
        self._configuration.set_integer(_MAX_CONCURRENT.key, max_concurrent_checkpoints)
        return self

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return how many checkpoints may fail in a row before the job does."""
        return self._read(_TOLERABLE)  # type: ignore[no-any-return]

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        """Set how many checkpoints may fail in a row before the job does."""
        if tolerable_checkpoint_failure_number < 0:
            raise ArgumentError(
                f"the tolerable number of failures must not be negative: {tolerable_checkpoint_failure_number}"
            )
        self._configuration.set_integer(_TOLERABLE.key, tolerable_checkpoint_failure_number)
        return self

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set what becomes of checkpoints when the job is cancelled."""
        if not isinstance(retention_mode, ExternalizedCheckpointRetention):
            raise ArgumentTypeError(f"expected an ExternalizedCheckpointRetention, got {retention_mode!r}")
        self._configuration.set_string(_RETENTION.key, retention_mode.name)
        return self

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are meant to be found after the job."""
        return (
            self.get_externalized_checkpoint_retention()
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        )

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """Return what becomes of checkpoints when the job is cancelled."""
        return self._read(_RETENTION)  # type: ignore[no-any-return]

    def _set_time(self, option: ConfigOption[Any], amount: TimeAmount, least: int, what: str) -> CheckpointConfig:
        millis = to_millis(amount)
        if millis < least:
            raise ArgumentError(f"{what} must be larger than or equal to {least} ms, not {millis} ms")
        self._configuration.set_string(option.key, f"{millis} ms")
        return self
