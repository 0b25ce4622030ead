"""Whose checkpoint a directory is."""

from __future__ import annotations

import json
from typing import Any

from scurry.errors import ScurryError
from scurry.graph.plan import JobPlan
from scurry.spark.storage import Storage

_FILE = "scurry.json"
VERSION = 1


class CheckpointMismatchError(ScurryError, ValueError):
    """The checkpoint directory belongs to another program."""


def identity(plan: JobPlan) -> dict[str, Any]:
    """What must stay the same for state to be found again: operators by uid, levels, key groups."""
    return {
        "version": VERSION,
        "max_parallelism": plan.settings.max_parallelism,
        "levels": plan.levels,
        "operators": {op.uid: [type(op.operator).__name__, op.level] for op in plan.operators.values()},
        "sources": sorted(source.uid for source in plan.sources.values()),
    }


def check_identity(plan: JobPlan, storage: Storage) -> None:
    """Claims an empty directory for the plan, or makes sure that it is the plan's.

    Raises:
        CheckpointMismatchError: It was written by another program, or by this one with other operators.
    """
    mine = identity(plan)
    if _FILE not in storage.list("."):
        storage.write(_FILE, json.dumps(mine, indent=1).encode())
        return
    theirs = json.loads(storage.read(_FILE))
    if theirs == mine:
        return
    there, here = theirs.get("operators", {}), mine["operators"]
    details = [f"only in the checkpoint: {uid}" for uid in there if uid not in here]
    details += [f"only in this program: {uid}" for uid in here if uid not in there]
    details += [f"{key}: {theirs.get(key)} there, {mine[key]} here" for key in mine if theirs.get(key) != mine[key]
                and key not in ("operators",)]  # fmt: skip
    raise CheckpointMismatchError(
        "the checkpoint directory belongs to another program; "
        + "; ".join(details or ["operators changed level or kind"])
        + ". Use another execution.checkpointing.dir, or empty this one to start from nothing"
    )
