"""Captured micro-batches run again in tests."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

from scurry.errors import ReplayError
from scurry.runtime.replay.finding import captured_starts, chosen
from scurry.runtime.replay.replaying import PlanOfStart
from scurry.runtime.replay.replaying import Replayed as _Replayed

__all__ = ["Replayed", "replay_batch"]


class Replayed:
    """The outcome of a captured micro-batch of a subtask that was run again.

    Attributes:
        records: The records that it emitted, on any edge or to any sink.
        error: What it failed with; None if it ended.
        differences: In what it differs from the captured run, in words; empty if it is the same, byte for byte.
    """

    def __init__(self, replayed: _Replayed) -> None:
        """Collect the records of the rows."""
        self.records: list[Any] = replayed.records
        self.error = replayed.error
        self.differences = replayed.differences


def replay_batch(
    captured: str | PathLike[str],
    batch: int,
    subtask: int,
    *,
    operator: str | None = None,
    program: str | None = None,
    allow_untrusted: bool = False,
) -> Replayed:
    """Run a captured micro-batch of a subtask again, in this process, as `scurry replay` does.

    It has the same blocks, state, clocks and random numbers, so it emits the same records or fails on the same one.

    Args:
        captured: The directory of the captures, or the job's checkpoint directory.
        batch: The micro-batch.
        subtask: The subtask, from 0.
        operator: The name or uid of the operator or source, if several tasks have that subtask.
        program: The program's file and arguments, to run its functions as they are now; None for those captured.
        allow_untrusted: Read the captures although other users could have written them.

    Returns:
        What it did. An error of the functions is in `error`.

    Raises:
        ReplayError: It was not captured, or several tasks fit.
        SavepointTrustError: Another user could have written the captures.
    """
    with captured_starts(fspath(captured), allow_untrusted) as found:
        start, captures = chosen(found, batch, subtask, operator)
        if len(captures) > 1:
            names = ", ".join(repr(capture.uid) for capture in captures)
            raise ReplayError(f"micro-batch {batch} of subtask {subtask} was captured of {names}: name the operator")
        return Replayed(PlanOfStart(start, program).replay(captures[0]))
