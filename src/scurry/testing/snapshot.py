"""Snapshots of the state of a pipeline under test, to restore in another pipeline."""

from __future__ import annotations

import copy
import pickle
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.errors import SnapshotMismatchError
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.keys import subtask_of
from scurry.runtime.local.streaming import Levels
from scurry.runtime.savepoint.restore import distribute_metas, receivers
from scurry.runtime.savepoint.schemas import registered_states
from scurry.runtime.state.backend import Meta, take_over
from scurry.runtime.state.evolution.job import Collected, JobMigration, plan_migration
from scurry.runtime.state.layout import GROUP_SHIFT
from scurry.runtime.state.schema import Schemas

__all__ = ["Snapshot", "restore_snapshot", "take_snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """The state of all operators of a `TestHarness`: keyed and broadcast state, timers, watermarks and the clock.

    It is picklable and can be restored with any parallelism; state is matched to operators by uid.

    Attributes:
        processing_time: The processing time, in milliseconds.
        max_parallelism: The number of key groups.
        operators: The stored entries of each operator, by uid.
        schemas: The states' schemas by uid and state name, for migration to a changed pipeline.
    """

    processing_time: int
    max_parallelism: int
    operators: dict[str, list[tuple[str, int, bytes]]]
    schemas: Schemas = field(default_factory=dict)


def take_snapshot(plan: JobPlan, levels: Levels, processing_time: int, schemas: Schemas) -> Snapshot:
    """Return the current state."""
    operators: dict[str, list[tuple[str, int, bytes]]] = {}
    for _, store in sorted(levels.stores.items()):
        for (uid, kind, number), blob in store.items():
            operators.setdefault(uid, []).append((kind, number, blob))
    return Snapshot(processing_time, plan.settings.max_parallelism, operators, copy.deepcopy(schemas))


def restore_snapshot(snapshot: Snapshot, plan: JobPlan, levels: Levels) -> JobMigration:
    """Restore state in a pipeline that is open and has had no input yet.

    Returns:
        The migration of the state.

    Raises:
        SnapshotMismatchError: The number of key groups differs, or the plan lacks an operator of the snapshot.
        StateMigrationError: The state does not fit the states that the pipeline registers.
    """
    groups = plan.settings.max_parallelism
    if snapshot.max_parallelism != groups:
        raise SnapshotMismatchError(f"the snapshot has max_parallelism={snapshot.max_parallelism}, not {groups}")
    by_uid = {op.uid: op for op in plan.operators.values()}
    for uid in snapshot.operators:
        if uid not in by_uid:
            known = ", ".join(repr(op.uid) for op in plan.operators.values() if op.input_edges)
            raise SnapshotMismatchError(
                f"the snapshot holds state of operator {uid!r}; there are {known or 'no such operators'}. "
                "Give operators the same uid(...) in both pipelines"
            )
    migration = plan_migration(plan, snapshot.schemas, _collected(levels), snapshot.processing_time)
    for task_plan in _task_plans(levels):
        migration.attach(task_plan)
    for uid, entries in snapshot.operators.items():
        migrated = [(kind, number, migration.migrate(uid, kind, blob)) for kind, number, blob in entries]
        _restore_operator(by_uid[uid], migrated, plan, levels)
    return migration


def _collected(levels: Levels) -> Collected:
    """Return the states that the open functions have registered, like `collect_schemas` without opening them again."""
    return {
        task.operators[number].plan.uid: registered_states(task.plan, task.operators[number])
        for level_task in levels.tasks.values()
        for (number, _), task in level_task.tasks.items()
    }


def _task_plans(levels: Levels) -> list[JobPlan]:
    """Return the plans of all subtasks, each of which may have its own."""
    return [task.plan for level_task in levels.tasks.values() for task in level_task.tasks.values()]


def _restore_operator(
    operator: OperatorPlan, entries: list[tuple[str, int, bytes]], plan: JobPlan, levels: Levels
) -> None:
    """Assign the key groups of an operator to its subtasks."""
    groups = plan.settings.max_parallelism
    count = receivers(plan, operator)
    metas: list[Meta] = [pickle.loads(blob) for kind, _, blob in entries if kind == "meta"]
    # all subtasks pass the same watermarks, so their gates are equal
    for subtask, meta in enumerate(distribute_metas(metas, metas[0].gate, plan, count)):
        own = [("meta", 0, pickle.dumps(meta, 5))]
        for kind, number, blob in entries:  # broadcast state is the same for all subtasks
            if kind == "broadcast" or kind == "page" and subtask_of(number >> GROUP_SHIFT, groups, count) == subtask:
                own.append((kind, number, blob))
        take_over(operator.uid, own, levels.store(operator.level, subtask))
