"""The savepoint in which a BATCH job ends, for a streaming job to start from.

Event time stops at the watermarks behind all records instead of at its end, and the state at that time is saved. Keys
are sorted by key group, so a group's pages are complete when the next group begins.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from itertools import chain
from typing import Any

from scurry.connectors.files.filesystem import file_system
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.exchange.wire import MIN_TIME, PROGRESS, BatchRow, unpack
from scurry.runtime.failure import operator_error
from scurry.runtime.keys import CanonicalKey, KeyOrder, key_hash
from scurry.runtime.savepoint.entries import EntryWriter, entries_of, remove_unfinished
from scurry.runtime.savepoint.format import SavepointMetadata, new_savepoint_path
from scurry.runtime.savepoint.metadata import Description, SourcePositions, metadata_of
from scurry.runtime.savepoint.reading import complete_savepoint
from scurry.runtime.state.backend import KeyedStateBackend, Meta
from scurry.runtime.state.slots import DOMAINS
from scurry.runtime.state.store import DictStore
from scurry.runtime.tasks.batch_task import OperatorRun, RunOf
from scurry.runtime.tasks.task import Task


@contextmanager
def batch_savepoint(
    path: str | None, metadata: Callable[[], SavepointMetadata], taken: Callable[[str], None]
) -> Iterator[str | None]:
    """Enclose a BATCH job up to the commit of its sinks; then complete the savepoint below the path.

    Args:
        path: The path; None if the job does not end in a savepoint.
        metadata: Returns the metadata of the job, which has ended.
    """
    if path is None:
        yield None
        return
    try:
        yield path
        remove_unfinished(path)
        complete_savepoint(path, metadata())
    except BaseException:
        with suppress(Exception):  # do not hide the job's error
            fs, root = file_system(path)
            fs.delete(root)
        raise
    taken(path)


@contextmanager
def runs_of(path: str | None, level: int, partition: int = 0) -> Iterator[RunOf]:
    """Yield the drivers of the operators of a level in one Spark task.

    Args:
        path: The savepoint to which their state is written; None drops the state.
        partition: The number of the task, which stays the same when it is repeated.
    """
    if path is None:
        yield OperatorRun
        return
    writer = EntryWriter(path, f"level-{level}-{partition}")
    try:
        yield partial(SavedRun, saved=writer)
        writer.close()
    except BaseException:
        writer.abort()
        raise


class SavedRun(OperatorRun):
    """Drive one operator in one subtask up to the watermark behind all records; then save its state."""

    def __init__(self, plan: JobPlan, op: OperatorPlan, task: Task, saved: EntryWriter) -> None:
        super().__init__(plan, op, task)
        self._saved = saved
        self._groups = plan.settings.max_parallelism
        self.order = KeyOrder(self._groups)
        self._group = -1
        self._group_store = DictStore()
        self._backend: KeyedStateBackend | None = None
        self._meta = Meta()

    def feed(self, rows: Iterable[BatchRow]) -> Iterator[int]:
        heard: list[tuple[int, int, bool]] = []
        rows = iter(rows)
        for row in rows:
            if row.kind != PROGRESS:
                rows = chain((row,), rows)
                break
            heard.append(unpack(row.block))
        self.watermark = final_watermark(self._plan, self.op, heard)
        yield from super().feed(rows)

    def backend_of(self, key: CanonicalKey) -> KeyedStateBackend:
        group = key_hash(key) % self._groups
        if group != self._group or self._backend is None:
            self._save_group()
            self._group, self._group_store = group, DictStore()
            self._backend = KeyedStateBackend(self.op.uid, self._group_store, self._groups)
        return self._backend

    def end(self) -> None:
        if self.watermark > MIN_TIME:
            self.operator.watermark(self.watermark)
        self.task.drain()
        for assigner in self.task.assigners:
            assigner.emit_periodic()
        self._save_group()
        self._save_rest()
        if self.task.info.subtask == 0 and self.watermark > MIN_TIME:
            self.task.info.report.watermarks[self.op.id] = self.watermark

    def _save_group(self) -> None:
        if self._backend is None:
            return
        try:
            self._backend.flush(self.task.info.clock.stamp)
        except Exception as error:
            hint = "state values must fit their declared type and be picklable"
            raise operator_error(self.op, error, hint=hint) from error
        for domain in DOMAINS:
            self._meta.due[domain].update(self._backend.meta.due[domain])
        self._meta.expiry.update(self._backend.meta.expiry)
        self._meta.lifetimes.update(self._backend.meta.lifetimes)
        for entry in entries_of(self._group_store, self.task.info.subtask):
            if entry.kind == "page":
                self._saved.add(entry)

    def _save_rest(self) -> None:
        info, meta = self.task.info, self._meta
        if any(self._plan.edges[edge].progress for edge in self.op.input_edges):
            meta.gate = {-1: self.watermark}
            meta.clock = info.clock.now()
        self.store.put((self.op.uid, "meta", 0), pickle.dumps(meta, 5))
        try:
            self.operator.end_batch(self.store)
        except Exception as error:
            raise operator_error(self.op, error, hint="broadcast state must be picklable") from error
        for entry in entries_of(self.store, info.subtask):
            self._saved.add(entry)


def final_watermark(plan: JobPlan, op: OperatorPlan, heard: Iterable[tuple[int, int, bool]]) -> int:
    """Return the final watermark of an operator: the lowest of its senders, as in STREAMING.

    Args:
        heard: Channel, last watermark and idleness of the senders' subtasks; those without records are missing.
    """
    by_task: dict[int, list[tuple[int, bool]]] = {}
    for channel, watermark, idle in heard:
        by_task.setdefault(channel >> 16, []).append((watermark, idle))
    found: list[int] = []
    for edge in op.input_edges:
        for sender in plan.edges[edge].senders:
            spoken = by_task.get(sender.task)
            if spoken is None:
                if sender.idle_timeout is None:
                    found.append(MIN_TIME)
                continue
            active = [watermark for watermark, idle in spoken if not idle]
            if active:
                found.append(_combined(plan, sender.task, active))
    if found:
        return min(found)
    return max((watermark for spoken in by_task.values() for watermark, _ in spoken), default=MIN_TIME)


def _combined(plan: JobPlan, task: int, watermarks: list[int]) -> int:
    """Return the lowest of a task's subtasks, but the highest of a DataFrame's partitions, which are unordered."""
    source: Any = plan.sources.get(task)
    return max(watermarks) if source is not None and not source.source.native else min(watermarks)


def final_savepoint(job: JobExecution) -> AbstractContextManager[str | None]:
    """Return a context around a BATCH job up to the commit of its sinks; it yields the path that state is written to.

    The path is None if the job does not end in a savepoint.
    """
    settings = job.plan.settings
    directory = settings.final_savepoint_dir

    def metadata() -> SavepointMetadata:
        description = Description.of(job.plan, job.state_schemas)
        sources = SourcePositions()  # none: the streaming job has its own
        return metadata_of(job.as_saved(), description, 0, sources)

    def taken(path: str) -> None:
        job.savepoint_path = path
        job.log.note(f"state saved to {path}", "savepoint taken", logger="savepoint")

    path = None if directory is None else new_savepoint_path(directory, str(job.job_id))
    return batch_savepoint(path, metadata, taken)
