"""Time to live of state."""

from __future__ import annotations

from enum import Enum

from scurry.common._api import ApiObject
from scurry.common.time import Duration, Time, TimeAmount, to_millis
from scurry.datastream.state_ttl_cleanup import CleanupStrategies as _CleanupStrategies
from scurry.errors import ArgumentError

__all__ = ["StateTtlConfig"]


class StateTtlConfig(ApiObject):
    """Time to live of state, and visibility of expired values (Flink's `StateTtlConfig`).

    Made by `StateTtlConfig.new_builder(ttl)`; given to `StateDescriptor.enable_time_to_live`.

    Attributes:
        ttl_ms: The time to live in milliseconds.
        update_type: What renews it.
        state_visibility: Whether expired values are still visible.
        cleanup_strategies: When expired values are removed that no function accesses.
    """

    CleanupStrategies = _CleanupStrategies

    class UpdateType(Enum):
        """Accesses that renew the time to live."""

        Disabled = 0
        OnCreateAndWrite = 1
        OnReadAndWrite = 2

    class StateVisibility(Enum):
        """Visibility of a value that has expired but was not removed yet."""

        ReturnExpiredIfNotCleanedUp = 0
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(Enum):
        """The clock by which state expires."""

        ProcessingTime = 0

    def __init__(
        self,
        update_type: StateTtlConfig.UpdateType,
        state_visibility: StateTtlConfig.StateVisibility,
        ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic,
        ttl: TimeAmount,
        cleanup_strategies: _CleanupStrategies,
    ) -> None:
        """Create a configuration; prefer `new_builder`.

        Raises:
            ArgumentError: The time to live is not positive.
        """
        self.update_type = update_type
        self.state_visibility = state_visibility
        self.ttl_time_characteristic = ttl_time_characteristic
        self.ttl_ms = to_millis(ttl)
        self.cleanup_strategies = cleanup_strategies
        if self.is_enabled() and self.ttl_ms <= 0:
            raise ArgumentError(f"TTL is expected to be positive, not {self.ttl_ms} ms")

    @staticmethod
    def new_builder(ttl: TimeAmount) -> StateTtlConfig.Builder:
        """Return a builder for a time to live of `ttl` (int: ms)."""
        return StateTtlConfig.Builder(ttl)

    def get_update_type(self) -> StateTtlConfig.UpdateType:
        """Return the update type of the time to live."""
        return self.update_type

    def get_state_visibility(self) -> StateTtlConfig.StateVisibility:
        """Return whether expired values are still visible."""
        return self.state_visibility

    def get_ttl(self) -> Time:
        """Return the time to live."""
        return Time.milliseconds(self.ttl_ms)

    def get_ttl_time_characteristic(self) -> StateTtlConfig.TtlTimeCharacteristic:
        """Return the clock by which state expires."""
        return self.ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Return whether state expires at all."""
        return self.update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> _CleanupStrategies:
        """Return when expired values are removed that no function accesses."""
        return self.cleanup_strategies

    def __repr__(self) -> str:
        """Return all settings but the cleanup, as PyFlink shows them."""
        return (
            f"StateTtlConfig<update_type={self.update_type}, state_visibility={self.state_visibility},"
            f"ttl_time_characteristic ={self.ttl_time_characteristic},ttl={self.get_ttl()}>"
        )

    class Builder(ApiObject):
        """Builder of a `StateTtlConfig`; by default, writes renew the time to live and expired values are hidden."""

        def __init__(self, ttl: TimeAmount) -> None:
            """Start with a time to live of `ttl` (int: ms)."""
            self._ttl = ttl
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._strategies: dict[_CleanupStrategies.Strategies, _CleanupStrategies.CleanupStrategy] = {}
            self._cleanup_in_background = True

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> StateTtlConfig.Builder:
            """Set the accesses that renew the time to live."""
            self._update_type = update_type
            return self

        def update_ttl_on_create_and_write(self) -> StateTtlConfig.Builder:
            """Let writes renew the time to live."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> StateTtlConfig.Builder:
            """Let reads and writes renew the time to live."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(self, state_visibility: StateTtlConfig.StateVisibility) -> StateTtlConfig.Builder:
            """Set whether expired values are still visible."""
            self._visibility = state_visibility
            return self

        def return_expired_if_not_cleaned_up(self) -> StateTtlConfig.Builder:
            """Make expired values visible until they are removed."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)

        def never_return_expired(self) -> StateTtlConfig.Builder:
            """Never make expired values visible."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(
            self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic
        ) -> StateTtlConfig.Builder:
            """Set the clock; there is only processing time."""
            self._characteristic = ttl_time_characteristic
            return self

        def use_processing_time(self) -> StateTtlConfig.Builder:
            """Let state expire by the wall clock."""
            return self.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)

        def cleanup_full_snapshot(self) -> StateTtlConfig.Builder:
            """Leave expired values out when state is restored, even if they are not removed in the background."""
            strategy = _CleanupStrategies.EMPTY_STRATEGY
            return self._clean(_CleanupStrategies.Strategies.FULL_STATE_SCAN_SNAPSHOT, strategy)

        def cleanup_incrementally(
            self, cleanup_size: int, run_cleanup_for_every_record: bool
        ) -> StateTtlConfig.Builder:
            """Remove expired values in the background, which is the default.

            Notes:
                Expired values are found without a search, so the numbers have no effect; `get_cleanup_strategies`
                returns them.
            """
            strategy = _CleanupStrategies.IncrementalCleanupStrategy(cleanup_size, run_cleanup_for_every_record)
            return self._clean(_CleanupStrategies.Strategies.INCREMENTAL_CLEANUP, strategy)

        def cleanup_in_rocksdb_compact_filter(
            self, query_time_after_num_entries: int, periodic_compaction_time: Duration | None = None
        ) -> StateTtlConfig.Builder:
            """Remove expired values in the background; does the same as `cleanup_incrementally`."""
            strategy = _CleanupStrategies.RocksdbCompactFilterCleanupStrategy(
                query_time_after_num_entries, periodic_compaction_time or Duration.of_days(30)
            )
            return self._clean(_CleanupStrategies.Strategies.ROCKSDB_COMPACTION_FILTER, strategy)

        def disable_cleanup_in_background(self) -> StateTtlConfig.Builder:
            """Keep expired values that no function accesses, unless a `cleanup` method says otherwise."""
            self._cleanup_in_background = False
            return self

        def _clean(
            self, strategy: _CleanupStrategies.Strategies, parameters: _CleanupStrategies.CleanupStrategy
        ) -> StateTtlConfig.Builder:
            self._strategies[strategy] = parameters
            return self

        def set_ttl(self, ttl: TimeAmount) -> StateTtlConfig.Builder:
            """Set the time to live (int: ms)."""
            self._ttl = ttl
            return self

        def build(self) -> StateTtlConfig:
            """Return the configuration.

            Raises:
                ArgumentError: The time to live is not positive.
            """
            cleanup = _CleanupStrategies(self._strategies, self._cleanup_in_background)
            return StateTtlConfig(self._update_type, self._visibility, self._characteristic, self._ttl, cleanup)
