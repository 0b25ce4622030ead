"""Strategies that remove expired state which no function accesses (Flink's cleanup strategies)."""

from __future__ import annotations

from enum import Enum

from scurry._dataclasses import dataclass
from scurry.common.time import Duration

__all__ = ["CleanupStrategies"]

_THIRTY_DAYS = Duration.of_days(30)


class CleanupStrategies:
    """The strategies chosen for a state (Flink's `StateTtlConfig.CleanupStrategies`)."""

    class Strategies(Enum):
        """The kinds of strategies."""

        FULL_STATE_SCAN_SNAPSHOT = 0
        INCREMENTAL_CLEANUP = 1
        ROCKSDB_COMPACTION_FILTER = 2

    class CleanupStrategy:
        """A strategy with its parameters."""

    class EmptyCleanupStrategy(CleanupStrategy):
        """A strategy without parameters."""

    @dataclass(frozen=True)
    class IncrementalCleanupStrategy(CleanupStrategy):
        """Check some entries with each access to state."""

        cleanup_size: int
        for_every_record: bool

        def get_cleanup_size(self) -> int:
            """Return how many entries it checks."""
            return self.cleanup_size

        def run_cleanup_for_every_record(self) -> bool:
            """Return whether it also checks entries with each record."""
            return self.for_every_record

    @dataclass(frozen=True)
    class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
        """Drop entries where RocksDB rewrites its files."""

        query_time_after_num_entries: int
        periodic_compaction_time: Duration = _THIRTY_DAYS

        def get_query_time_after_num_entries(self) -> int:
            """Return after how many entries it reads the clock."""
            return self.query_time_after_num_entries

        def get_periodic_compaction_time(self) -> Duration:
            """Return the age at which files are rewritten."""
            return self.periodic_compaction_time

    EMPTY_STRATEGY = EmptyCleanupStrategy()

    def __init__(
        self,
        strategies: dict[CleanupStrategies.Strategies, CleanupStrategies.CleanupStrategy],
        is_cleanup_in_background: bool,
    ) -> None:
        self._strategies = strategies
        self._is_cleanup_in_background = is_cleanup_in_background

    def is_cleanup_in_background(self) -> bool:
        """Return whether there is background cleanup without a strategy for it."""
        return self._is_cleanup_in_background

    def in_full_snapshot(self) -> bool:
        """Return whether `cleanup_full_snapshot` was called."""
        return self.Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

    def get_incremental_cleanup_strategy(self) -> CleanupStrategies.IncrementalCleanupStrategy | None:
        """Return the value of `cleanup_incrementally`, or Flink's default."""
        default = self.IncrementalCleanupStrategy(5, False) if self._is_cleanup_in_background else None
        return self._strategies.get(self.Strategies.INCREMENTAL_CLEANUP, default)  # type: ignore[return-value]

    def get_rocksdb_compact_filter_cleanup_strategy(
        self,
    ) -> CleanupStrategies.RocksdbCompactFilterCleanupStrategy | None:
        """Return the value of `cleanup_in_rocksdb_compact_filter`, or Flink's default."""
        default = self.RocksdbCompactFilterCleanupStrategy(1000) if self._is_cleanup_in_background else None
        return self._strategies.get(self.Strategies.ROCKSDB_COMPACTION_FILTER, default)  # type: ignore[return-value]
