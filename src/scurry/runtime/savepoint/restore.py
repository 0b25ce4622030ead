"""Restoring a plan from a savepoint: selects the state that the plan takes and splits it over subtasks.

Operators are matched by uid and keyed state by key group. So the parallelism, the order of operators and the level they
run on may differ from those of the savepoint.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.config_options import ALLOW_UNTRUSTED, IGNORE_UNCLAIMED, RECOVERY_PATH
from scurry.connectors.files.filesystem import file_system
from scurry.errors import ScurryError, StateMismatchError, StateNotRestoredError
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.exchange.wire import STATE, WireRow, channel_id, pack
from scurry.runtime.keys import subtask_of
from scurry.runtime.savepoint.entries import EntryFile
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.savepoint.reading import Savepoint, force_name, open_savepoint
from scurry.runtime.savepoint.shares import RestoreShare, RowGroup, Target, limited, shares
from scurry.runtime.state.backend import Meta
from scurry.runtime.state.evolution.job import Collected, JobMigration, plan_migration
from scurry.runtime.state.expiry import Lifetimes, due, lifetimes_in
from scurry.runtime.state.layout import GROUP_SHIFT, has_rows, is_run
from scurry.runtime.state.slots import DOMAINS

#: Operators whose functions name their own states may replace each other.
_FUNCTIONS_WITH_STATE = frozenset(("KeyedProcess", "KeyedCoProcess", "KeyedBroadcastProcess", "BroadcastProcess"))

#: Bytes of entries in a STATE row, approximately.
ROW_BYTES = 1 << 20

#: Bytes of state restored in one micro-batch: sent to the subtasks, and read by themselves.
BATCH_BYTES, READ_BYTES = 256 << 20, 1 << 30

#: A row group is read by the subtasks that take something from it, unless they are more than this.
_READERS = 4

_ALLOW = "--allow-non-restored-state (execution.state-recovery.ignore-unclaimed-state) drops it"


@dataclass(frozen=True)
class StateDistributor:
    """Assign entries to subtasks; sent to the workers that read the savepoint.

    Attributes:
        operators: Uid -> number of the operator and number of its subtasks, of the operators that take state.
        migration: Converts the state of changed operators to what the program expects.
        filter: Leaves out expired state.
    """

    operators: dict[str, tuple[int, int]]
    max_parallelism: int
    migration: JobMigration | None = None
    filter: RestoreFilter | None = None

    def rows(self, entries: Iterable[Entry], subtask_ids: list[int]) -> Iterator[WireRow]:
        """Yield the entries as rows for the stores of their operators."""
        pending: dict[Target, list[tuple[str, int, bytes]]] = {}
        sizes: dict[Target, int] = {}
        for entry in entries:
            blob = self._converted(entry)
            for target in self._targets(entry):
                pending.setdefault(target, []).append((entry.kind, entry.id, blob))
                size = sizes[target] = sizes.get(target, 0) + len(blob)
                if size >= ROW_BYTES:
                    yield _state_row(target, pending.pop(target), subtask_ids)
                    sizes[target] = 0
        for target, some in pending.items():
            yield _state_row(target, some, subtask_ids)

    def taken_by(self, target: Target, entries: Iterable[Entry]) -> Iterator[tuple[str, int, bytes]]:
        """Yield kind, id and content of the entries for one store."""
        for entry in entries:
            if target in self._targets(entry):
                yield entry.kind, entry.id, self._converted(entry)

    def readers(self, span: Mapping[str, tuple[int, int]]) -> list[Target]:
        """Return the stores that take pages from a row group with these key groups, by uid."""
        found = []
        for uid in span.keys() & self.operators.keys():
            operator, count = self.operators[uid]
            first, last = (subtask_of(group, self.max_parallelism, count) for group in span[uid])
            found += [(operator, subtask) for subtask in range(first, last + 1)]
        return found

    def _converted(self, entry: Entry) -> bytes:
        blob = entry.blob
        if self.migration is not None:
            blob = self.migration.migrate(entry.uid, entry.kind, blob)
        if self.filter is not None and entry.kind == "page":
            blob = self.filter.page(entry.uid, blob)
        return blob

    def _targets(self, entry: Entry) -> list[Target]:
        """Return (operator, subtask) of each store that gets the entry."""
        if entry.uid not in self.operators:
            return []
        operator, count = self.operators[entry.uid]
        if entry.kind == "page":
            return [(operator, subtask_of(entry.id >> GROUP_SHIFT, self.max_parallelism, count))]
        if entry.kind == "broadcast":  # all subtasks have the same: use the first one's
            return [(operator, subtask) for subtask in range(count)] if entry.subtask == 0 else []
        return [(operator, entry.subtask)]


def _state_row(target: Target, entries: list[tuple[str, int, bytes]], subtask_ids: list[int]) -> WireRow:
    operator, subtask = target
    return WireRow(subtask_ids[subtask], operator, STATE, 0, 0, pack(entries))


@dataclass(frozen=True)
class RestoreWork:
    """The restore work of one task: row groups of a file, or entries created by the driver."""

    distributor: StateDistributor
    file: EntryFile | None = None
    row_groups: tuple[int, ...] = ()
    entries: tuple[Entry, ...] = ()

    def rows(self, plan: JobPlan) -> Iterator[WireRow]:
        found = self.entries if self.file is None else self.file.read(self.row_groups)
        return self.distributor.rows(found, plan.subtask_ids)


#: State that a micro-batch restores.
Work = RestoreWork | RestoreShare


def _works(distributor: StateDistributor, row_groups: Iterable[RowGroup]) -> Iterator[Work]:
    for _, own in groupby(row_groups, key=lambda each: each.file.path):
        some = list(own)
        yield RestoreWork(distributor, some[0].file, tuple(each.number for each in some))


class Restore:
    """The restore of a savepoint into a plan.

    Args:
        plan: The plan; `self.plan` has the savepoint's number of key groups.
        allow_non_restored: Drop state that no operator takes, instead of refusing it.
        collected: The states that the plan's functions register, None if they are those of the savepoint.

    Raises:
        SavepointError: The plan cannot start from the savepoint.
    """

    def __init__(
        self,
        savepoint: Savepoint,
        plan: JobPlan,
        allow_non_restored: bool = False,
        collected: Collected | None = None,
    ) -> None:
        self._now = wall_clock_ms()
        self.path, self.metadata = savepoint.path, savepoint.metadata
        self._savepoint = savepoint
        self.plan = plan = with_key_groups(self.metadata.max_parallelism, plan, self.path)
        self._taking = {op.uid: op for op in plan.operators.values() if op.input_edges}
        sources = {source.uid: source for source in plan.sources.values()}
        self.sources = {uid: state for uid, state in self.metadata.sources.items() if uid in sources}
        if not allow_non_restored:
            self._refuse_unclaimed()
        self._refuse_mismatches(sources)
        #: conversion of the state of changed operators to what the plan expects
        self.migration: JobMigration | None = None
        if collected is not None:
            states = {uid: operator.states for uid, operator in self.metadata.operators.items() if operator.states}
            self.migration = plan_migration(plan, states, collected, self._now)
            self.migration.attach(plan)

    @classmethod
    def configured(cls, savepoint: Savepoint, plan: JobPlan, collected: Collected | None) -> Restore:
        """Return the restore of a savepoint into a plan, as the plan's configuration says.

        Raises:
            SavepointError: The plan cannot start from it; a restart would not help.
        """
        ignore = plan.settings.configuration.get(IGNORE_UNCLAIMED.key, "false")
        try:
            return cls(savepoint, plan, IGNORE_UNCLAIMED.parse(ignore), collected)
        except (ScurryError, OSError):
            raise
        except Exception as error:
            raise StateMismatchError(
                f"the program cannot resume with the state in {savepoint.path}: {type(error).__name__}: {error}"
            ) from error

    # ---------------------------------------------------------------- checks

    def _refuse_unclaimed(self) -> None:
        holders = set(self._savepoint.operators)
        unclaimed = [f"operator {uid!r} ({self._name(uid)})" for uid in sorted(holders.difference(self._taking))] + [
            f"source {uid!r}" for uid in self.metadata.sources if uid not in self.sources
        ]
        if unclaimed:
            known = ", ".join(repr(uid) for uid in [*self._taking, *(s.uid for s in self.plan.sources.values())])
            raise StateNotRestoredError(
                f"{self.path} holds state of {', '.join(unclaimed)}, which the program has not: it has {known}. "
                f"Give operators the uid they had with uid(...); {_ALLOW}"
            )

    def _name(self, uid: str) -> str:
        state = self.metadata.operators.get(uid)
        return f"{state.kind} {state.name!r}" if state is not None else "unknown"

    def _refuse_mismatches(self, sources: dict[str, Any]) -> None:
        for uid, state in self.metadata.operators.items():
            op = self._taking.get(uid)
            if op is None:
                continue
            now = op.operator.kind
            if now != state.kind and not {now, state.kind} <= _FUNCTIONS_WITH_STATE:
                raise StateMismatchError(
                    f"operator {uid!r} ({op.origin}) is a {now}, and its state in {self.path} is that of a "
                    f"{state.kind}: give it another uid to begin with empty state"
                )
        for uid, source in self.sources.items():
            now = type(sources[uid].source).__name__
            if now != source.kind:
                raise StateMismatchError(
                    f"source {uid!r} ({sources[uid].origin}) is a {now}, and its position in {self.path} is that of a "
                    f"{source.kind}: give it another uid to read from the beginning; {_ALLOW}"
                )

    # ---------------------------------------------------------------- what is restored

    def batches(self, limit: int = BATCH_BYTES, read_limit: int = READ_BYTES) -> list[list[Work]]:
        """Return the work of restoring, in micro-batches of limited size, always the same for the same plan.

        Args:
            limit: Bytes of a micro-batch that are sent to the subtasks.
            read_limit: Bytes of a micro-batch that the subtasks read themselves.
        """
        counts = {uid: (op.id, receivers(self.plan, op)) for uid, op in self._taking.items()}
        migration = self.migration if self.migration is not None and self.migration.operators else None
        distributor = StateDistributor(counts, self.plan.settings.max_parallelism, migration, self._filter())
        sent: list[RowGroup] = []
        read: list[RowGroup] = []
        for file in self._savepoint.files_of("page", "broadcast"):
            for number in range(len(file.row_groups)):
                readers = distributor.readers(file.digest.spans[number]) if file.digest.spans else None
                few = readers is not None and len(readers) <= _READERS
                (read if few else sent).append(RowGroup(file, number, readers or []))
        works = [[*_works(distributor, some)] for some in limited(sent, limit)]
        works += [[*shares(distributor, some)] for some in limited(read, read_limit)]
        metas = RestoreWork(distributor, entries=tuple(self._metas()))
        return [[metas, *works[0]], *works[1:]] if works else [[metas]]

    def _filter(self) -> RestoreFilter | None:
        states = {uid: operator.states for uid, operator in self.metadata.operators.items()}
        if self.migration is not None:
            states |= self.migration.schemas
        found = RestoreFilter.of({uid: states[uid] for uid in self._taking if uid in states}, self._now)
        return found if found.operators else None

    def _metas(self) -> Iterator[Entry]:
        """Yield the metas of the new subtasks, combined from those of the old subtasks."""
        metas: dict[str, list[Meta]] = {}
        for entry in self._savepoint.entries(kinds=("meta",)):
            metas.setdefault(entry.uid, []).append(pickle.loads(entry.blob))
        for uid, op in self._taking.items():
            if uid in metas:
                gate = {} if self.metadata.drained else self._gate(op, metas[uid])
                count = receivers(self.plan, op)
                for subtask, meta in enumerate(distribute_metas(metas[uid], gate, self.plan, count)):
                    yield Entry(uid, "meta", subtask, 0, pickle.dumps(meta, 5))

    def _gate(self, op: OperatorPlan, metas: list[Meta]) -> dict[int, Any]:
        """Return the operator's gate, for its present channels.

        All subtasks have the same watermarks, so the gate of any of them will do. If the number of a sender's channels
        has changed, each of them gets the lowest watermark that the sender had; a new sender has sent nothing yet. The
        channels of a source are waited for once they send something: some may have no splits.
        """
        saved = next((meta.gate for meta in metas if meta.gate), {})
        numbers = {uid: state.number for uid, state in self.metadata.operators.items()}
        numbers |= {uid: state.number for uid, state in self.metadata.sources.items()}
        gate = {-1: saved[-1]} if -1 in saved else {}
        tasks: dict[int, Any] = {**self.plan.operators, **self.plan.sources}
        for edge in op.input_edges:
            for sender in self.plan.edges[edge].senders:
                before = _channels(saved, numbers.get(tasks[sender.task].uid))
                if before and len(before) != sender.count:
                    watermark, active, seen, idle = zip(*before, strict=True)
                    waited_for = any(seen) and sender.task not in self.plan.sources
                    before = [(min(watermark), max(active), waited_for, all(idle))] * sender.count
                for instance, state in enumerate(before):
                    gate[channel_id(sender.task, instance)] = state
        return gate


def _channels(gate: dict[int, Any], task: int | None) -> list[Any]:
    """Return the states of a task's channels in a saved gate."""
    return [gate[number] for number in sorted(gate) if number >= 0 and number >> 16 == task]


def receivers(plan: JobPlan, op: OperatorPlan) -> int:
    """Return the number of subtasks that get records of a head operator."""
    return max(plan.edges[edge].receivers for edge in op.input_edges)


def distribute_metas(metas: list[Meta], gate: dict[int, Any], plan: JobPlan, count: int) -> list[Meta]:
    """Return the metas of `count` subtasks, each with the due times in its own key groups."""
    groups = plan.settings.max_parallelism
    clock = max(meta.clock for meta in metas)
    subtasks = [Meta(dict(gate), clock) for _ in range(count)]
    if all(meta.lifetimes == metas[0].lifetimes for meta in metas):  # otherwise all pages are searched again
        for meta in subtasks:
            meta.lifetimes = dict(metas[0].lifetimes)
    for meta in metas:
        for domain in DOMAINS:
            for group, time in meta.due[domain].items():
                due = subtasks[subtask_of(group, groups, count)].due[domain]
                due[group] = min(time, due.get(group, time))
        for group, time in meta.expiry.items():
            expiry = subtasks[subtask_of(group, groups, count)].expiry
            expiry[group] = min(time, expiry.get(group, time))
    return subtasks


def with_key_groups(there: int, plan: JobPlan, place: str) -> JobPlan:
    """Return the plan with the number of key groups of its state, which determines where a key's state is.

    Raises:
        StateMismatchError: The program sets another number, or more subtasks than that.
    """
    settings = plan.settings
    if there == settings.max_parallelism:
        return plan
    if "pipeline.max-parallelism" in settings.configuration:
        raise StateMismatchError(
            f"{place} has max parallelism {there}, the program asks for {settings.max_parallelism}: it cannot be "
            "changed, as it decides where the state of a key is; leave pipeline.max-parallelism away, or set it so"
        )
    widest = max((op.parallelism for op in plan.operators.values()), default=1)
    if widest > there:
        raise StateMismatchError(
            f"{place} has max parallelism {there}: the program cannot run with parallelism {widest} on its state"
        )
    assert plan.rebuild is not None
    return plan.rebuild(replace(settings, max_parallelism=there))


def open_for(plan: JobPlan, path: str, note: Callable[[str], None], own: bool = False) -> Savepoint:
    """Open the savepoint from which a plan starts.

    Args:
        note: Logs what cannot be checked.
        own: The job wrote it into a directory that only it can write; on a cluster, workers may run as another user.

    Raises:
        SavepointError: It is not what was written, or other users could have written it.
    """
    allowed = ALLOW_UNTRUSTED.parse(plan.settings.configuration.get(ALLOW_UNTRUSTED.key, "false"))
    savepoint = open_savepoint(path, allowed or own)
    with suppress(OSError):  # a read-only disk; its writer may have been killed before it forced the names
        force_name(*file_system(path))
    if savepoint.warning is not None:
        note(savepoint.warning)
    return savepoint


def savepoint_to_start_from(plan: JobPlan) -> str | None:
    """Return the savepoint that the configuration names."""
    return plan.settings.configuration.get(RECOVERY_PATH.key)


@dataclass(frozen=True)
class RestoreFilter:
    """Leave out expired state when state is restored; sent to the workers that read it.

    Attributes:
        operators: The lifetimes of the operators' states, by uid.
        now: The time of the restore, in milliseconds.
    """

    operators: Mapping[str, Lifetimes]
    now: int

    @classmethod
    def of(cls, schemas: Mapping[str, Mapping[str, Any]], now: int) -> RestoreFilter:
        """Return the filter for operators whose states have these schemas, in JSON by uid and name."""
        found = {}
        for uid, states in schemas.items():
            cleaned = {name: schema for name, schema in states.items() if schema.get("cleanup") != "never"}
            found[uid] = lifetimes_in(cleaned)
        return cls({uid: lifetimes for uid, lifetimes in found.items() if lifetimes}, now)

    def page(self, uid: str, blob: bytes) -> bytes:
        """Return a page of an operator, or the index in its place, as it is restored."""
        lifetimes = self.operators.get(uid)
        if lifetimes is None or has_rows(blob):
            return blob
        if is_run(blob):
            from scurry.runtime.state.run_groups import without_expired
            from scurry.runtime.state.runs import Run

            run = Run(blob)
            return without_expired(run, lifetimes, self.now, run.digest)[0]
        content = pickle.loads(blob)
        if type(content) is not dict:
            return blob
        due(content, lifetimes, self.now)
        return pickle.dumps({key: entry for key, entry in content.items() if entry}, 5)
