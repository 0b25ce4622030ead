"""Trace the steps of the protocol of checkpoints: what a job has written and committed, in which order.

Tests compare traces with the model of the protocol (docs/design/026). Nothing is traced unless the environment names a
file. A step is a line of JSON, which is written after what it tells.
"""

from __future__ import annotations

import hashlib
import json
import os
from itertools import count

#: The environment variable that names the file to which steps are appended.
TRACE_FILE = "SCURRY_PROTOCOL_TRACE"

_runs = count()


class ProtocolTrace:
    """The steps of one run of a job, from the moment at which it holds its checkpoint directory."""

    def __init__(self) -> None:
        self._path = os.environ.get(TRACE_FILE)
        self._run = f"{os.getpid()}-{next(_runs)}"
        self._directory: str | None = None

    @property
    def holds(self) -> bool:
        """Return whether the job has held its checkpoint directory."""
        return self._directory is not None

    def hold(self, directory: str) -> None:
        """Begin: the job holds this directory."""
        self._directory = directory
        self.step("taken")

    def step(self, name: str, *numbers: int, positions: bytes = b"") -> None:
        """Write a step.

        Args:
            name: One of those of `models/common.pml`, in lower case.
            numbers: Its numbers, as the model has them.
            positions: Pickled source positions; a digest of them is written.
        """
        if self._path is None or self._directory is None:
            return
        digest = hashlib.blake2b(positions, digest_size=8).hexdigest() if positions else ""
        known = {"directory": self._directory, "run": self._run, "step": name, "numbers": numbers, "positions": digest}
        with open(self._path, "ab", buffering=0) as file:  # one call of the system: lines of processes do not mix
            file.write(json.dumps(known).encode() + b"\n")
