"""The levels of a STREAMING job in this process, with their state in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scurry.graph.plan import JobPlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.level_task import LevelTask
from scurry.runtime.state.store import DictStore
from scurry.runtime.wire import WireRow


class Levels:
    """Moves the rows of a micro-batch from level to level, as Spark's exchanges would.

    Args:
        plan: The plan.
        load_plan: Returns the plan as the tasks of a subtask get it.
        wall_clock: Where processing time comes from, in milliseconds.
    """

    def __init__(
        self, plan: JobPlan, load_plan: Callable[[], JobPlan], wall_clock: Callable[[], int] = wall_clock_ms
    ) -> None:
        self.tasks = {level: LevelTask(load_plan, level, wall_clock) for level in range(1, plan.levels + 1)}
        #: the state of each (level, subtask)
        self.stores: dict[tuple[int, int], DictStore] = {}

    def process(self, rows: Iterable[WireRow], batch_id: int) -> list[WireRow]:
        """Runs a batch; returns the rows that leave the last level."""
        rows = list(rows)
        for level, task in self.tasks.items():
            subtasks: dict[int, list[WireRow]] = {}
            for row in rows:
                subtasks.setdefault(row.subtask, []).append(row)
            rows = []
            for subtask, some in sorted(subtasks.items()):
                rows += task.process(subtask, some, self.store(level, subtask), batch_id)
        return rows

    def store(self, level: int, subtask: int) -> DictStore:
        """The state of a subtask."""
        return self.stores.setdefault((level, subtask), DictStore())

    def close(self) -> None:
        """Closes the user's functions."""
        for task in self.tasks.values():
            task.close()
