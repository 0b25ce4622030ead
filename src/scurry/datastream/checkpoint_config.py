"""CheckpointConfig: the settings of checkpoints, stored in the configuration of an environment."""

from __future__ import annotations

from typing import Any

from scurry.common._api import ApiObject
from scurry.common._config.fault_tolerance import (
    CHECKPOINT_TIMEOUT,
    CHECKPOINTING_MODE,
    MAX_CONCURRENT_CHECKPOINTS,
    MIN_PAUSE,
    RETENTION,
    TOLERABLE_FAILED_CHECKPOINTS,
)
from scurry.common._config.tuning import ALIGNED_CHECKPOINT_TIMEOUT, FORCE_UNALIGNED, UNALIGNED
from scurry.common._removed import CHECKPOINT_CONFIG
from scurry.common.config_options import CHECKPOINTING_DIR, CHECKPOINTING_INTERVAL, ConfigOption
from scurry.common.configuration import Configuration
from scurry.common.time import Duration, TimeAmount, to_millis
from scurry.datastream.checkpoint_storage import CheckpointStorage
from scurry.datastream.checkpointing_mode import CheckpointingMode
from scurry.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["CheckpointConfig"]

#: The shortest interval and timeout, in ms, as in Flink.
_SHORTEST = 10
_ANY_NUMBER = (1 << 31) - 1


class CheckpointConfig(ApiObject):
    """Settings of checkpoints (Flink's `CheckpointConfig`); every `set_*` returns the config itself.

    Notes:
        A checkpoint is the end of a micro-batch: state, source positions and sinks are committed together. So

        - the *interval* is that of the micro-batches; without one, each starts when the one before has ended;
        - the *pause* is the time between the end of a micro-batch and the start of the next;
        - *retention* decides whether `JobClient.cancel()` deletes the checkpoint directory's content. Unlike in Flink
          it is kept if nothing is set. Failures and Ctrl-C never delete anything;
        - there is no *timeout*: a slow micro-batch is not aborted;
        - *concurrency* is always 1: a micro-batch begins when the one before is committed;
        - no failed checkpoint is *tolerated*: a micro-batch that cannot be committed fails the job, and the restart
          strategy decides whether it restarts;
        - the *mode* is always EXACTLY_ONCE, which includes AT_LEAST_ONCE;
        - there are no barriers, so *alignment* has no effect.
    """

    _instead = CHECKPOINT_CONFIG

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Read and write the settings of a configuration, a new one if not given."""
        self._configuration = Configuration() if configuration is None else configuration

    def _read(self, option: ConfigOption[Any]) -> Any:
        return self._configuration.get(option)

    def is_checkpointing_enabled(self) -> bool:
        """Return whether an interval is set."""
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return the guarantee of checkpoints; as in Flink, AT_LEAST_ONCE if they are not enabled."""
        enabled = self.is_checkpointing_enabled()
        return CheckpointingMode[self._read(CHECKPOINTING_MODE)] if enabled else CheckpointingMode.AT_LEAST_ONCE

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Set the guarantee of checkpoints; AT_LEAST_ONCE gets EXACTLY_ONCE, too."""
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
        """Return the configured timeout of a checkpoint, in ms; it has no effect here."""
        return self._read(CHECKPOINT_TIMEOUT)  # type: ignore[no-any-return]

    def set_checkpoint_timeout(self, checkpoint_timeout: TimeAmount) -> CheckpointConfig:
        """Accept the timeout of a checkpoint (int: ms), at least 10 ms; it has no effect here."""
        return self._set_time(CHECKPOINT_TIMEOUT, checkpoint_timeout, _SHORTEST, "Checkpoint timeout")

    def get_min_pause_between_checkpoints(self) -> int:
        """Return the shortest time between the end of a micro-batch and the start of the next, in ms."""
        return self._read(MIN_PAUSE)  # type: ignore[no-any-return]

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: TimeAmount) -> CheckpointConfig:
        """Set the shortest time between the end of a micro-batch and the start of the next (int: ms)."""
        return self._set_time(MIN_PAUSE, min_pause_between_checkpoints, 0, "Pause between checkpoints")

    def get_max_concurrent_checkpoints(self) -> int:
        """Return how many checkpoints may run at the same time."""
        return self._read(MAX_CONCURRENT_CHECKPOINTS)  # type: ignore[no-any-return]

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Accept how many checkpoints may run at the same time, at least 1; here it is always one."""
        if max_concurrent_checkpoints < 1:
            raise ArgumentError(f"at least 1 checkpoint must be possible at a time, not {max_concurrent_checkpoints}")
        self._configuration.set_integer(MAX_CONCURRENT_CHECKPOINTS.key, max_concurrent_checkpoints)
        return self

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """Return how many checkpoints may fail in a row before the job does."""
        return self._read(TOLERABLE_FAILED_CHECKPOINTS)  # type: ignore[no-any-return]

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        """Accept how many checkpoints may fail in a row; here the first failure goes to the restart strategy."""
        if tolerable_checkpoint_failure_number < 0:
            raise ArgumentError(
                f"the tolerable number of failures must not be negative: {tolerable_checkpoint_failure_number}"
            )
        self._configuration.set_integer(TOLERABLE_FAILED_CHECKPOINTS.key, tolerable_checkpoint_failure_number)
        return self

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> CheckpointConfig:
        """Accept whether no checkpoint may fail, or any number; see `set_tolerable_checkpoint_failure_number`."""
        return self.set_tolerable_checkpoint_failure_number(0 if fail_on_checkpointing_errors else _ANY_NUMBER)

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Return whether no checkpoint may fail."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> CheckpointConfig:
        """Set the storage of checkpoints; for programs for Flink 1, see `execution.checkpointing.dir`.

        Args:
            storage: The storage; one without a path is a temporary directory.
        """
        if not isinstance(storage, CheckpointStorage):
            raise ArgumentTypeError(f"expected a CheckpointStorage, got {storage!r}")
        for key in (CHECKPOINTING_DIR.key, *CHECKPOINTING_DIR.aliases):
            self._configuration.remove_config(key)
        path = storage._checkpoint_path
        return self if path is None else self.set_checkpoint_storage_dir(path)

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        """Set the directory or URI of checkpoints; for programs for Flink 1, see `execution.checkpointing.dir`."""
        self._configuration.set_string(CHECKPOINTING_DIR.key, checkpoint_path)
        return self

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """Accept Flink's setting that barriers may overtake records; it has no effect here."""
        self._configuration.set_boolean(UNALIGNED.key, enabled)
        return self

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        """Accept Flink's setting that barriers may not overtake records; it has no effect here."""
        return self.enable_unaligned_checkpoints(False)

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Return whether Flink's barriers may overtake records: only if checkpoints are enabled and EXACTLY_ONCE."""
        exactly_once = self.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
        return self._read(UNALIGNED) is True and exactly_once and self.is_checkpointing_enabled()

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> CheckpointConfig:
        """Accept Flink's setting that barriers may overtake records even where Flink advises against it."""
        self._configuration.set_boolean(FORCE_UNALIGNED.key, force_unaligned_checkpoints)
        return self

    def is_force_unaligned_checkpoints(self) -> bool:
        """Return the value of `set_force_unaligned_checkpoints`."""
        return self._read(FORCE_UNALIGNED) is True

    def set_aligned_checkpoint_timeout(self, alignment_timeout: TimeAmount) -> CheckpointConfig:
        """Accept the time (int: ms) after which Flink's barriers begin to overtake records."""
        return self._set_time(ALIGNED_CHECKPOINT_TIMEOUT, alignment_timeout, 0, "Aligned checkpoint timeout")

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """Return the value of `set_aligned_checkpoint_timeout`."""
        return Duration.of_millis(self._read(ALIGNED_CHECKPOINT_TIMEOUT))

    set_alignment_timeout = set_aligned_checkpoint_timeout
    get_alignment_timeout = get_aligned_checkpoint_timeout

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set whether `JobClient.cancel()` deletes the content of the checkpoint directory.

        Args:
            retention_mode: DELETE_ON_CANCELLATION and NO_EXTERNALIZED_CHECKPOINTS delete it, RETAIN_ON_CANCELLATION
                keeps it. If nothing is set, it is kept.
        """
        if not isinstance(retention_mode, ExternalizedCheckpointRetention):
            raise ArgumentTypeError(f"expected an ExternalizedCheckpointRetention, got {retention_mode!r}")
        self._configuration.set_string(RETENTION.key, retention_mode.name)
        return self

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Return whether a retention other than NO_EXTERNALIZED_CHECKPOINTS is set."""
        return (
            self.get_externalized_checkpoint_retention()
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        )

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """Return the retention of checkpoints when the job is cancelled; Flink's default if nothing is set."""
        name = self._read(RETENTION)
        kinds = ExternalizedCheckpointRetention
        return kinds.NO_EXTERNALIZED_CHECKPOINTS if name is None else kinds[name]

    def _set_time(self, option: ConfigOption[Any], amount: TimeAmount, least: int, what: str) -> CheckpointConfig:
        millis = to_millis(amount)
        if millis < least:
            raise ArgumentError(f"{what} must be larger than or equal to {least} ms, not {millis} ms")
        self._configuration.set_string(option.key, f"{millis} ms")
        return self
