"""Checkpoint storages as objects.

Flink 2 reads the storage from the configuration only (`execution.checkpointing.dir`);
`CheckpointConfig.set_checkpoint_storage` is for programs for Flink 1.
"""

from __future__ import annotations

import re
from typing import Any

from scurry.common._api import ApiObject
from scurry.common._types import java_text
from scurry.errors import ArgumentError, UnsupportedError

__all__ = [
    "CheckpointStorage",
    "CustomCheckpointStorage",
    "FileSystemCheckpointStorage",
    "JobManagerCheckpointStorage",
]


_ROOT = re.compile(r"([\w+.-]+:)?(//[^/]*)?/*")


class CheckpointStorage(ApiObject):
    """The location of checkpoints."""

    def __init__(self, checkpoint_path: str | None) -> None:
        """Create a storage in a directory or URI; None means a temporary directory.

        Raises:
            ArgumentError: It is empty, or the root of a file system.
        """
        if checkpoint_path is not None and (not checkpoint_path.strip() or _ROOT.fullmatch(checkpoint_path.strip())):
            raise ArgumentError(f"checkpoints need a directory of their own, not {checkpoint_path!r}")
        self._checkpoint_path = checkpoint_path

    def get_checkpoint_path(self) -> str | None:
        """Return the directory or URI of the checkpoints, as Flink shows paths: `file:/checkpoints`."""
        return None if self._checkpoint_path is None else java_text.path(self._checkpoint_path)

    def get_savepoint_path(self) -> str | None:
        """Return None: the directory of savepoints is a separate setting."""
        return None


class JobManagerCheckpointStorage(CheckpointStorage):
    """Checkpoints that do not outlive the program, unless they are given a path.

    Attributes:
        DEFAULT_MAX_STATE_SIZE: Maximum size of one state in Flink in bytes; there is no such limit here.
    """

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(self, checkpoint_path: str | None = None, max_state_size: int | None = None) -> None:
        super().__init__(checkpoint_path)
        self._max_state_size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size

    def get_max_state_size(self) -> int:
        """Return the maximum size of one state in Flink in bytes."""
        return self._max_state_size


class FileSystemCheckpointStorage(CheckpointStorage):
    """Checkpoints in a directory.

    Attributes:
        MAX_FILE_STATE_THRESHOLD: Maximum size of state in bytes that Flink stores in a checkpoint's metadata.
    """

    MAX_FILE_STATE_THRESHOLD = 1024 * 1024

    def __init__(
        self,
        checkpoint_path: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = -1,
    ) -> None:
        """Create a storage in a directory or URI; the sizes only matter to Flink's files.

        Raises:
            ArgumentError: There is no path, or the threshold is not from -1 to `MAX_FILE_STATE_THRESHOLD`.
        """
        if checkpoint_path is None:
            raise ArgumentError("checkpoint_path must not be None")
        threshold = -1 if file_state_size_threshold is None else file_state_size_threshold
        if not -1 <= threshold <= self.MAX_FILE_STATE_THRESHOLD:
            raise ArgumentError(f"file_state_size_threshold must be from -1 to {self.MAX_FILE_STATE_THRESHOLD}")
        super().__init__(checkpoint_path)
        self._threshold = threshold
        self._write_buffer_size = write_buffer_size

    def get_min_file_size_threshold(self) -> int:
        """Return the size in bytes from which Flink stores state in a separate file."""
        return 20 * 1024 if self._threshold < 0 else self._threshold

    def get_write_buffer_size(self) -> int:
        """Return how many bytes Flink buffers before it writes."""
        return 4096 if self._write_buffer_size < 0 else self._write_buffer_size


class CustomCheckpointStorage(CheckpointStorage):
    """A checkpoint storage written in Java."""

    def __init__(self, j_custom_checkpoint_storage: Any) -> None:
        """Refuse it.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            "scurry runs no Java, so it has no place for a CustomCheckpointStorage: set execution.checkpointing.dir to "
            "a directory or URI that all workers reach"
        )
