"""Settings of checkpoints, as methods over the configuration of an environment."""

from __future__ import annotations

from typing import Any

from scurry.common.checkpoint_options import (
    CHECKPOINT_TIMEOUT,
    CHECKPOINTING_MODE,
    MAX_CONCURRENT_CHECKPOINTS,
    MIN_PAUSE,
    RETENTION,
    TOLERABLE_FAILED_CHECKPOINTS,
)
from scurry.common.config_options import CHECKPOINTING_INTERVAL, ConfigOption
from scurry.common.configuration import Configuration
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream.checkpointing_mode import CheckpointingMode
from scurry.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["CheckpointConfig"]

#: The shortest interval and timeout, in ms, as in Flink.
_SHORTEST = 10


class CheckpointConfig:
    """When and how checkpoints are taken (Flink's `CheckpointConfig`); every `set_*` returns the config itself.

    Notes:
        A checkpoint is the end of a micro-batch: state, source positions and sinks are committed together. So

        - the *interval* is that of the micro-batches; without one, they follow each other as fast as they can;
        - the *pause* is the time between the end of a micro-batch and the start of the next;
        - *retention* decides whether `JobClient.cancel()` deletes the checkpoint directory's content. Unlike in Flink
          it is kept if nothing is set. Failures and Ctrl-C never delete anything;
        - there is no *timeout*: a micro-batch that takes long is the job being slow, and nothing runs beside it that
          could give up;
        - *concurrency* is always 1, whatever is set: a micro-batch begins when the one before is committed;
        - no failed checkpoint is *tolerated*: a micro-batch that cannot be committed fails the job, and the restart
          strategy decides what then happens;
        - the *mode* is always exactly once, which is what AT_LEAST_ONCE asks for and more.
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
        return CheckpointingMode[self._read(CHECKPOINTING_MODE)]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Set what checkpoints promise; AT_LEAST_ONCE gets more than it asks for."""
        if not isinstance(checkpointing_mode, CheckpointingMode):
            raise ArgumentTypeError(f"expected a CheckpointingMode, got {checkpointing_mode!r}")
        self._configuration.set_string(CHECKPOINTING_MODE.key, checkpointing_mode.name)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the time between checkpoints in ms, -1 if they are not enabled."""
        interval = self._read(CHECKPOINTING_INTERVAL)
        return -1 if interval is None else interval

    def set_checkpoint_interval(self, checkpoint_interval: TimeAmount) -> CheckpointConfig:
        """Set the time between checkpoints (int: ms), at least 10 ms."""
        return self._set_time(CHECKPOINTING_INTERVAL, checkpoint_interval, _SHORTEST, "Checkpoint interval")

    def get_checkpoint_timeout(self) -> int:
        """Return what was set as the longest time of a checkpoint, in ms; nothing ends one here."""
        return self._read(CHECKPOINT_TIMEOUT)  # type: ignore[no-any-return]

    def set_checkpoint_timeout(self, checkpoint_timeout: TimeAmount) -> CheckpointConfig:
        """Accept the longest time a checkpoint may take (int: ms), at least 10 ms; nothing ends one here."""
        return self._set_time(CHECKPOINT_TIMEOUT, checkpoint_timeout, _SHORTEST, "Checkpoint timeout")

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the shortest time between the end of a micro-batch and the start of the next, in ms."""
        return self._read(MIN_PAUSE)  # type: ignore[no-any-return]

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: TimeAmount) -> CheckpointConfig:
        """Set the shortest time between the end of a micro-batch and the start of the next (int: ms)."""
        return self._set_time(MIN_PAUSE, min_pause_between_checkpoints, 0, "Pause between checkpoints")

    def get_max_concurrent_checkpoints(self) -> int:
        """Return how many checkpoints may be under way at the same time."""
        return self._read(MAX_CONCURRENT_CHECKPOINTS)  # type: ignore[no-any-return]

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Accept how many checkpoints may be under way at the same time, at least 1; here there is one at a time."""
        if max_concurrent_checkpoints < 1:
            raise ArgumentError(f"at least 1 checkpoint must be possible at a time, not {max_concurrent_checkpoints}")
        self._configuration.set_integer(MAX_CONCURRENT_CHECKPOINTS.key, max_concurrent_checkpoints)
        return self

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return how many checkpoints may fail in a row before the job does."""
        return self._read(TOLERABLE_FAILED_CHECKPOINTS)  # type: ignore[no-any-return]

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        """Accept how many checkpoints may fail in a row; here the first that fails goes to the restart strategy."""
        if tolerable_checkpoint_failure_number < 0:
            raise ArgumentError(
                f"the tolerable number of failures must not be negative: {tolerable_checkpoint_failure_number}"
            )
        self._configuration.set_integer(TOLERABLE_FAILED_CHECKPOINTS.key, tolerable_checkpoint_failure_number)
        return self

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set whether `JobClient.cancel()` deletes the content of the checkpoint directory.

        Args:
            retention_mode: DELETE_ON_CANCELLATION and NO_EXTERNALIZED_CHECKPOINTS delete it, RETAIN_ON_CANCELLATION
                keeps it, as does not calling this at all.
        """
        if not isinstance(retention_mode, ExternalizedCheckpointRetention):
            raise ArgumentTypeError(f"expected an ExternalizedCheckpointRetention, got {retention_mode!r}")
        self._configuration.set_string(RETENTION.key, retention_mode.name)
        return self

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints are meant to be found after the job."""
        return (
            self.get_externalized_checkpoint_retention()
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        )

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """Return what becomes of checkpoints when the job is cancelled; Flink's default if nothing is set."""
        name = self._read(RETENTION)
        kinds = ExternalizedCheckpointRetention
        return kinds.NO_EXTERNALIZED_CHECKPOINTS if name is None else kinds[name]

    def _set_time(self, option: ConfigOption[Any], amount: TimeAmount, least: int, what: str) -> CheckpointConfig:
        millis = to_millis(amount)
        if millis < least:
            raise ArgumentError(f"{what} must be larger than or equal to {least} ms, not {millis} ms")
        self._configuration.set_string(option.key, f"{millis} ms")
        return self
