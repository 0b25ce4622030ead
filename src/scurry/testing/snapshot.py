"""State of a pipeline under test, taken out and put into another."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

from scurry.errors import ScurryError
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.keys import subtask_of
from scurry.runtime.local.levels import Levels
from scurry.runtime.state.backend import DOMAINS, GROUP_SHIFT, Meta

__all__ = ["Snapshot", "SnapshotMismatchError", "restore_snapshot", "take_snapshot"]


class SnapshotMismatchError(ScurryError, ValueError):
    """A snapshot does not fit the pipeline it is given to."""


@dataclass(frozen=True)
class Snapshot:
    """The state of all operators of a `TestHarness`: keyed and broadcast state, timers, watermarks and the clock.

    It can be pickled, and restored with any parallelism; state is matched to operators by uid.

    Attributes:
        processing_time: The clock, in milliseconds.
        max_parallelism: The number of key groups.
        operators: The stored entries of each operator, by uid.
    """

    processing_time: int
    max_parallelism: int
    operators: dict[str, list[tuple[str, int, bytes]]]


def take_snapshot(plan: JobPlan, levels: Levels, processing_time: int) -> Snapshot:
    """The state as it is now."""
    operators: dict[str, list[tuple[str, int, bytes]]] = {}
    for _, store in sorted(levels.stores.items()):
        for (uid, kind, number), blob in store.items():
            operators.setdefault(uid, []).append((kind, number, blob))
    return Snapshot(processing_time, plan.settings.max_parallelism, operators)


def restore_snapshot(snapshot: Snapshot, plan: JobPlan, levels: Levels) -> None:
    """Puts state into a pipeline that has had no input yet.

    Raises:
        SnapshotMismatchError: The number of key groups differs, or there is state of an operator the plan has not.
    """
    groups = plan.settings.max_parallelism
    if snapshot.max_parallelism != groups:
        raise SnapshotMismatchError(f"the snapshot has max_parallelism={snapshot.max_parallelism}, not {groups}")
    by_uid = {op.uid: op for op in plan.operators.values()}
    for uid, entries in snapshot.operators.items():
        if uid not in by_uid:
            known = ", ".join(repr(op.uid) for op in plan.operators.values() if op.input_edges)
            raise SnapshotMismatchError(
                f"the snapshot holds state of operator {uid!r}; there are {known or 'no such operators'}. "
                "Give operators the same uid(...) in both pipelines"
            )
        _restore_operator(by_uid[uid], entries, plan, levels)


def _restore_operator(
    operator: OperatorPlan, entries: list[tuple[str, int, bytes]], plan: JobPlan, levels: Levels
) -> None:
    """Deals the key groups of an operator to its subtasks."""
    groups = plan.settings.max_parallelism
    count = max(plan.edges[edge].receivers for edge in operator.input_edges)
    stores = [levels.store(operator.level, subtask) for subtask in range(count)]
    metas: list[Meta] = []
    for kind, number, blob in entries:
        if kind == "meta":
            metas.append(pickle.loads(blob))
        elif kind == "page":
            stores[subtask_of(number >> GROUP_SHIFT, groups, count)].put((operator.uid, kind, number), blob)
        else:  # broadcast state: all subtasks had the same
            for store in stores:
                store.put((operator.uid, kind, number), blob)
    for subtask, store in enumerate(stores):
        # all subtasks pass the same watermarks, so any one's gate speaks for them all
        meta = Meta(metas[0].gate, max(meta.clock for meta in metas))
        for domain in DOMAINS:
            due = {group: time for each in metas for group, time in each.due[domain].items()}
            meta.due[domain].update({g: time for g, time in due.items() if subtask_of(g, groups, count) == subtask})
        store.put((operator.uid, "meta", 0), pickle.dumps(meta, 5))
