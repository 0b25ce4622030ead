"""Savepoints of pipelines in a test harness, and pipelines that start from savepoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from scurry.runtime.exchange.wire import REPORT
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry, SavepointMetadata, SourceState
from scurry.runtime.savepoint.metadata import Description
from scurry.runtime.savepoint.reading import complete_savepoint, open_savepoint
from scurry.runtime.savepoint.restore import Restore
from scurry.testing import TestHarness

#: When the savepoints of these tests were taken.
NOW = 1_000_000


def save(
    harness: TestHarness,
    path: Path,
    sources: dict[str, SourceState] | None = None,
    states: dict[str, Any] | None = None,
) -> str:
    """Takes a savepoint; `states` are the schemas it tells of, for all operators."""
    plan, levels = harness._plan, harness._levels
    numbers = {number: subtask for subtask, number in enumerate(plan.subtask_ids)}
    write_entries(
        str(path),
        (
            Entry(uid, kind, numbers[subtask], number, blob)
            for (_, subtask), store in levels.stores.items()
            for (uid, kind, number), blob in store.items()
        ),
    )
    described = Description.of(plan).operators
    operators = described if states is None else {uid: replace(op, states=states) for uid, op in described.items()}
    groups = plan.settings.max_parallelism
    complete_savepoint(
        str(path),
        SavepointMetadata(NOW, "test", "0" * 32, "test", groups, 7, operators=operators, sources=sources or {}),
    )
    return str(path)


def start_from(path: str, build: Callable[..., Any], parallelism: int = 1, max_parallelism: int = 128) -> TestHarness:
    """A pipeline that goes on with the state in a savepoint."""
    savepoint = open_savepoint(path)
    harness = TestHarness.of(build, parallelism=parallelism, max_parallelism=max_parallelism)
    for works in Restore(savepoint, harness._plan).batches():
        rows = [row for work in works for row in work.rows(harness._plan)]
        assert {row.kind for row in harness._levels.process(rows, 0)} <= {REPORT}  # of the size of state
    return harness
