"""The levels of a STREAMING job in this process, with their state in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scurry.graph.plan import JobPlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.exchange.wire import WireRow
from scurry.runtime.state.store import UndoStore
from scurry.runtime.tasks.level_task import LevelTask


class Levels:
    """Move the rows of a micro-batch from level to level, as Spark's exchanges would.

    Args:
        plan: The plan.
        load_plan: Returns the plan as the tasks of a subtask get it.
        wall_clock: Returns processing time, in milliseconds.
        stores: The state of each (level, subtask) so far.
    """

    def __init__(
        self,
        plan: JobPlan,
        load_plan: Callable[[], JobPlan],
        wall_clock: Callable[[], int] = wall_clock_ms,
        stores: dict[tuple[int, int], UndoStore] | None = None,
    ) -> None:
        self.tasks = {level: LevelTask(load_plan, level, wall_clock) for level in range(1, plan.levels + 1)}
        self.stores = {} if stores is None else stores

    def process(self, rows: Iterable[WireRow], batch_id: int) -> list[WireRow]:
        """Process a batch; return the rows that leave the last level."""
        rows = list(rows)
        for level, task in self.tasks.items():
            subtasks: dict[int, list[WireRow]] = {}
            for row in rows:
                subtasks.setdefault(row.subtask, []).append(row)
            rows = []
            for subtask, some in sorted(subtasks.items()):
                rows += task.process(subtask, some, self.store(level, subtask), batch_id)
        return rows

    def store(self, level: int, subtask: int) -> UndoStore:
        """Return the state of a subtask."""
        store = self.stores.get((level, subtask))
        if store is None:
            store = self.stores[level, subtask] = UndoStore()
        return store

    def close(self) -> None:
        """Close the user's functions."""
        for task in self.tasks.values():
            task.close()
