"""Flink's state backends. scurry always stores state in Spark's RocksDB state store, so choosing one has no effect.

Flink 2 reads the backend from the configuration only (`state.backend.type`);
`StreamExecutionEnvironment.set_state_backend` is for programs for Flink 1.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from scurry.common._api import ApiObject
from scurry.common._types import java_text
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "HashMapStateBackend",
    "PredefinedOptions",
    "StateBackend",
]


class PredefinedOptions(Enum):
    """Presets of Flink's RocksDB; without effect here."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class StateBackend(ApiObject):
    """Storage of state between two checkpoints in Flink."""

    #: what `state.backend.type` names it
    _name = "custom"


class HashMapStateBackend(StateBackend):
    """State as objects in memory; it has no effect here."""

    _name = "hashmap"


class EmbeddedRocksDBStateBackend(StateBackend):
    """State in Flink's RocksDB. Settings are stored and returned by their getters; they have no effect here."""

    _name = "rocksdb"

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        """Set whether checkpoints are incremental; here a checkpoint always holds only changes.

        Raises:
            ArgumentTypeError: It is neither None nor a bool.
        """
        if enable_incremental_checkpointing not in (None, True, False):
            raise ArgumentTypeError(
                f"enable_incremental_checkpointing must be None, True or False, not {enable_incremental_checkpointing}"
            )
        self._incremental = bool(enable_incremental_checkpointing)
        self._paths: list[str] = []
        self._predefined = PredefinedOptions.DEFAULT
        self._options: str | None = None
        self._transfer_threads = 4

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Return whether checkpoints were set to be incremental."""
        return self._incremental

    def set_db_storage_paths(self, *paths: str) -> None:
        """Set the directories of RocksDB's files.

        Raises:
            ArgumentError: One is not an absolute path of the local file system.
        """
        local = [java_text.path(path or ".").removeprefix("file:") for path in paths]
        for path, given in zip(local, paths, strict=True):
            if not path.startswith("/"):
                raise ArgumentError(f"RocksDB's files need an absolute path of the local file system, not {given!r}")
        self._paths = local

    def get_db_storage_paths(self) -> list[str]:
        """Return the directories of RocksDB's files."""
        return list(self._paths)

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Set the presets of RocksDB."""
        self._predefined = options

    def get_predefined_options(self) -> PredefinedOptions:
        """Return the presets of RocksDB."""
        return self._predefined

    def set_options(self, options_factory_class_name: str) -> None:
        """Set the Java class that tunes RocksDB."""
        self._options = options_factory_class_name

    def get_options(self) -> str | None:
        """Return the Java class that tunes RocksDB."""
        return self._options

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Set how many threads move RocksDB's files."""
        self._transfer_threads = number_of_transfering_threads

    def get_number_of_transfer_threads(self) -> int:
        """Return how many threads move RocksDB's files."""
        return self._transfer_threads


class CustomStateBackend(StateBackend):
    """A state backend written in Java."""

    def __init__(self, j_custom_state_backend: Any) -> None:
        """Refuse it.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            "scurry runs no Java, so it has no place for a CustomStateBackend: leave it out; state can be of any size"
        )
