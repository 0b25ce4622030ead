"""Whose checkpoint a directory is."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from scurry.errors import ScurryError
from scurry.graph.plan import JobPlan
from scurry.spark.storage import Storage

_FILE = "scurry.json"
_FINISHED = "finished"
VERSION = 1


class CheckpointMismatchError(ScurryError, ValueError):
    """The checkpoint directory belongs to another program."""


def identity(plan: JobPlan) -> dict[str, Any]:
    """What must stay the same for state to be found again: operators by uid, levels, key groups."""
    return {
        "version": VERSION,
        "max_parallelism": plan.settings.max_parallelism,
        "levels": plan.levels,
        "parallelism": plan.settings.parallelism,
        "operators": {
            op.uid: f"{type(op.operator).__name__} on level {op.level}, parallelism {op.parallelism}"
            for op in plan.operators.values()
        },
        "sources": {
            source.uid: f"{type(source.source).__name__}, {source.channels} channel(s)"
            for source in plan.sources.values()
        },
    }


@dataclass(frozen=True)
class Claim:
    """A plan's hold on a directory of checkpoints.

    Attributes:
        finished: An earlier run has processed and committed all input.
    """

    finished: bool
    _storage: Storage

    @classmethod
    def of(cls, plan: JobPlan, directory: str, storage: Storage) -> Claim:
        """Claims an empty directory for the plan, or makes sure that it is the plan's.

        The plan takes over the job key of whoever claimed the directory first, so that its sinks keep their names.

        Raises:
            CheckpointMismatchError: It was written by another program, or by this one with other operators.
        """
        mine, present = identity(plan), storage.list(".")
        if _FILE not in present:
            claimed = {**mine, "job_key": plan.settings.job_key}
            storage.write(_FILE, json.dumps(claimed, indent=1).encode())
            return cls(False, storage)
        theirs = json.loads(storage.read(_FILE))
        details = _differences(theirs, mine)
        if details:
            raise CheckpointMismatchError(
                f"the checkpoint in {directory} belongs to another program, or to this one as it was before: "
                f"{'; '.join(details)}. "
                "Use another execution.checkpointing.dir, or empty this one to start from nothing"
            )
        plan.settings = replace(plan.settings, job_key=theirs["job_key"])
        return cls(_FINISHED in present, storage)

    def finish(self) -> None:
        """Remembers that all input is processed and committed."""
        self._storage.write(_FINISHED, b"")


def _differences(theirs: dict[str, Any], mine: dict[str, Any]) -> list[str]:
    details = []
    for key, value in mine.items():
        there, here = theirs.get(key), value
        if there == here:
            continue
        if not (isinstance(there, dict) and isinstance(here, dict)):
            details.append(f"{key} was {there}, now is {here}")
            continue
        details += [f"{key} no longer has {uid!r}" for uid in there if uid not in here]
        details += [f"{key} now has {uid!r}" for uid in here if uid not in there]
        both = [uid for uid in there if uid in here and there[uid] != here[uid]]
        details += [f"{uid!r} was {there[uid]}, now is {here[uid]}" for uid in both]
    return details
