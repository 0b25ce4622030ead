"""Compare a program with the one that wrote a checkpoint directory, and tell whose directory it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from scurry.errors import CheckpointMismatchError
from scurry.graph.plan import JobPlan
from scurry.runtime.savepoint.metadata import Description

#: The file by which a directory of the runner on Spark is known, and that of the in-process runner.
SPARK_GENERATIONS, LOCAL_STORE = "scurry.json", "checkpoint.db"


def own_directory(root: str) -> str:
    """Return the advice for a program whose second job finds the directory of its first one.

    Flink makes a directory for each job, by ids that are new in each run; here a job finds its checkpoint by the
    directory's name when the program runs again.
    """
    second = f"{root.rstrip('/')}-2"
    return (
        f"each job of a program needs an execution.checkpointing.dir of its own: SET 'execution.checkpointing.dir' = "
        f"'{second}' before the next statement (or make one job of several INSERTs: EXECUTE STATEMENT SET BEGIN ... "
        f"END); in Python env.get_checkpoint_config().set_checkpoint_storage_dir({second!r}) before the next execute()"
    )


def of_other_runner(directory: str, runner: str, options: str) -> CheckpointMismatchError:
    """Return the error of a directory that the other runner has written.

    Args:
        runner: The runner that wrote it.
        options: What starts a job with that runner.
    """
    return CheckpointMismatchError(
        f"the checkpoint in {directory} was written by {runner}, and only that can resume it. To move the job, start "
        f"it there ({options}), stop it with a savepoint (scurry stop JOB), and start it here with --from-savepoint "
        "and another execution.checkpointing.dir"
    )


def identity(plan: JobPlan) -> dict[str, Any]:
    """Return the identity of a plan, equal if it can resume the stored one: operators, levels, key groups, subtasks."""
    return {
        "levels": plan.levels,
        "parallelism": plan.settings.parallelism,
        "subtask_ids": plan.subtask_ids,
        **({"partitions": plan.partitions} if plan.partitions else {}),
        "level_of": {op.uid: op.level for op in plan.operators.values() if op.input_edges},
        "description": asdict(Description.of(plan)),
    }


def differences(there: dict[str, Any], here: dict[str, Any]) -> list[str]:
    """Return readable differences between two identities."""
    if all(there.get(key) == value for key, value in here.items()):
        return []
    details = [
        f"{key} was {there.get(key)}, now is {here.get(key)}"
        for key in ("parallelism", "partitions", "levels")
        if there.get(key) != here.get(key)
    ]
    for what in ("operators", "sources"):
        before, now = there["description"][what], here["description"][what]
        details += [f"it no longer has the {what[:-1]} {uid!r}" for uid in before if uid not in now]
        details += [f"it now has the {what[:-1]} {uid!r}" for uid in now if uid not in before]
        details += [
            f"{field} of {uid!r} was {before[uid].get(field)!r}, now is {value!r}"
            for uid in now
            if uid in before
            for field, value in now[uid].items()
            if before[uid].get(field) != value and field != "number"
        ]
    return details or ["operators have changed places"]
