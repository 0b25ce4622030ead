"""A sink that makes its job fail when the other sinks have committed a batch and Spark has not."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext


class CommitFailedError(RuntimeError):
    """A commit of `FailingSink`, as told."""


def fail_after(fuse: Path, commits: int, how: str) -> None:
    """Let a job fail at the commit after so many others: `kill` the driver, or `raise`."""
    fuse.write_text(f"{commits} {how}")


def commits_of(fuse: Path) -> Path:
    """A file with a byte for each commit that began, of all attempts."""
    return fuse.with_name(f"{fuse.name}-commits")


@dataclass(frozen=True)
class FailingSink(Sink):
    """Drops its records. It has to be the last sink of a job, since sinks commit in the order of the program."""

    fuse: str

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _NoWriter()

    def create_committer(self, sink_id: str) -> Committer:
        return _FailingCommitter(Path(self.fuse))


class _NoWriter(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        return

    def prepare_commit(self) -> list[Any]:
        return []


class _FailingCommitter(Committer):
    def __init__(self, fuse: Path) -> None:
        self._fuse = fuse

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        with open(commits_of(self._fuse), "ab") as noted:
            noted.write(b".")
        if not self._fuse.exists():
            return
        commits, how = self._fuse.read_text().split()
        if int(commits):
            fail_after(self._fuse, int(commits) - 1, how)
            return
        self._fuse.rename(self._fuse.with_name(f"{self._fuse.name}.{batch_id}"))
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise CommitFailedError(f"told to fail in batch {batch_id}")
