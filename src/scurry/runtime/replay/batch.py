"""Batch: all that is captured of one subtask in a micro-batch; and the chance of a process, on which it may depend."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.runtime.exchange.wire import WireRow
from scurry.runtime.state.store import StoreKey


@dataclass
class Batch:
    """All that a subtask took over, read and emitted in a micro-batch.

    Attributes:
        number: The source, or the head operator.
        subtask_id: The subtask, by the runner's number; of a source, the channel.
        batch_id: The micro-batch.
        rows: Its rows, as they came over the wire.
        chunks: Of a source, what its reader yielded, pickled, and how much it might yield next; an exception it raised.
        seq: Of a source, the position of its first block; None if its order is unknown.
        final: Of a source, whether the channel ends here.
        state: What it read of its state before it wrote it; None for what was not there.
        wall: What its wall clock showed.
        monotonic: What the clock of a source showed that does not go back.
        carried: What its task had in memory from the batch before.
        random: The state of Python's random numbers, and of numpy's if that was loaded.
        output: The rows that it emitted, without its report.
        written: What it wrote to its state; None for what it removed.
    """

    number: int
    subtask_id: int
    batch_id: int
    rows: list[WireRow] = field(default_factory=list)
    chunks: list[tuple[bytes, int]] | None = None
    seq: int | None = None
    final: bool = False
    state: dict[StoreKey, bytes | None] = field(default_factory=dict)
    wall: list[int] = field(default_factory=list)
    monotonic: list[float] = field(default_factory=list)
    carried: Any = None
    random: tuple[Any, Any] = (None, None)
    output: list[WireRow] = field(default_factory=list)
    written: dict[StoreKey, bytes | None] = field(default_factory=dict)


def random_state() -> tuple[Any, Any]:
    """Return the state of the random numbers of this process."""
    numpy = sys.modules.get("numpy.random")
    return random.getstate(), None if numpy is None else numpy.get_state()


def hash_seed() -> str:
    """Return the seed of the hashes of texts, by which sets are ordered: `random` if nobody knows it."""
    return os.environ.get("PYTHONHASHSEED", "random") if sys.flags.hash_randomization else "0"
