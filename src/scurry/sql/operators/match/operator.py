"""MATCH_RECOGNIZE: rows by event time wait for the watermark, those by processing time do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.cep.patterns.automaton import NFAState
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import concatenated
from scurry.sql.evaluation.matching.matcher import KeyRows, Matcher, times_of
from scurry.sql.evaluation.matching.program import FoundMatch
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.partitioning import KeyedChanges, keys_of
from scurry.sql.operators.waiting import WaitingRows
from scurry.sql.plan.matching import Match
from scurry.sql.plan.rewriting import without_inputs
from scurry.sql.types.families import is_rowtime

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering


#: Rows that wait, of a key group.
WAITING = "match-waiting"
#: The partial matches of a key.
PARTIAL = "match-partial"
#: Earliest time-out of a key; also the namespace of the timer.
TIMEOUT = "match-timeout"


class _PartialMatches:
    """The states of the automaton by key: in memory during a micro-batch, in keyed state between two."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._running: dict[Any, NFAState] = {}

    def has_begun(self, keys: Sequence[Any], context: RowsContext) -> Any:
        context.prefetch(keys)
        return np.asarray([key in self._running or PARTIAL in context.select(key) for key in keys], dtype=bool)

    def of(self, key: Any, context: RowsContext) -> NFAState:
        """Return the state of a key, which is kept when the micro-batch ends."""
        state = self._running.get(key)
        if state is None:
            kept = context.select(key).get(PARTIAL)
            nfa = self._matcher.nfa
            state = self._running[key] = nfa.initial_state() if kept is None else nfa.restored(kept)
        return state

    def next_timeout(self, state: NFAState) -> int | None:
        """Return when the earliest partial match times out, None if none does.

        Flink has no timer for a match that begins at time 0 or before: another one of the key ends it.
        """
        window = self._matcher.nfa.window_time
        begun = [first for first, _, _, node, _ in state.partial if node is not None and first > 0]
        return min(min(begun) + window, MAX_TIME) if window > 0 and begun else None

    def write_back(self, context: RowsContext) -> None:
        """Keep the states."""
        running, self._running = self._running, {}
        for key, state in running.items():
            entry = context.select(key)
            if state.is_initial:
                entry.pop(PARTIAL, None)
            else:
                entry[PARTIAL] = self._matcher.nfa.stored(state)


class EventTimeMatch(KeyedRowsFunction):
    """Find matches in the order of event time, as far as the watermark has passed."""

    def __init__(self, plan: Match, session: EvaluationContext) -> None:
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the pattern."""
        self._matcher = Matcher(self._plan, self._session)
        self._partial = _PartialMatches(self._matcher)
        self._waiting = WaitingRows(WAITING, self._times_of)
        self._due: dict[Any, int] = {}

    def _times_of(self, batch: pa.RecordBatch) -> Any:
        return times_of(self._plan, batch)

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep rows; drop those that are late."""
        times = self._times_of(rows.changes.batch)
        here = np.flatnonzero(times > context.watermark)
        if len(here) < len(times):
            context.late += len(times) - len(here)
            rows = KeyedChanges(Changes(rows.changes.batch.take(pa.array(here))), rows.keys, rows.group_ids[here])
        self._waiting.add(rows, times[here])
        return []

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Match the rows of a key group, or time out the matches of a key."""
        if namespace == TIMEOUT:
            context.state.pop(TIMEOUT, None)
            self._due.setdefault(context.key, time)
        else:
            self._waiting.on_event_time(context)

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the matches that the watermark completes."""
        timed_out, self._due = self._due, {}
        due = self._waiting.due(context.watermark)
        if not due and not timed_out:
            return []
        batch = concatenated((each.batch for each in due), self._plan.input.schema)
        keys, group_ids = (
            keys_of(batch, self._plan.partition_by) if batch.num_rows else ([], np.zeros(0, dtype=np.int64))
        )
        begun = self._partial.has_begun(keys, context)
        passed = {
            keys[rows.group_id]: rows for rows in self._matcher.ordered(batch, self._times_of(batch), group_ids, begun)
        }
        first = {**{key: rows.times[0] for key, rows in passed.items()}}
        for key, time in timed_out.items():
            first[key] = min(time, first.get(key, time))
        found: list[FoundMatch] = []
        for key in sorted(first, key=first.__getitem__):
            found += self._passed(key, passed.get(key), context)
        return [Changes(self._matcher.program.results(found))] if found else []

    def _passed(self, key: Any, rows: KeyRows | None, context: RowsContext) -> list[FoundMatch]:
        """Return the matches of a key that its rows and the watermark complete."""
        state, watermark = self._partial.of(key, context), context.watermark
        clock = lambda: context.processing_time  # noqa: E731
        if rows is None:
            found = self._matcher.advanced(state, watermark, clock)
        else:
            found = self._matcher.run(state, rows, watermark, clock)
        self._schedule(key, state, context)
        return found

    def _schedule(self, key: Any, state: NFAState, context: RowsContext) -> None:
        """Have a timer of a key fire when the earliest of its partial matches times out."""
        ends = self._partial.next_timeout(state)
        if ends is None:
            return
        known = context.select(key).get(TIMEOUT)
        if known is None or ends < known:
            context.state[TIMEOUT] = ends
            context.register_event_timer(ends, TIMEOUT)

    def write_back(self, context: RowsContext) -> None:
        """Store the rows that wait, and the partial matches."""
        self._waiting.write_back(context)
        self._partial.write_back(context)


class ProcessingTimeMatch(KeyedRowsFunction):
    """Find matches in the order in which rows arrive."""

    def __init__(self, plan: Match, session: EvaluationContext) -> None:
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the pattern."""
        self._matcher = Matcher(self._plan, self._session)
        self._partial = _PartialMatches(self._matcher)
        self._due: dict[Any, None] = {}

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the matches that rows complete."""
        batch, now = rows.changes.batch, context.processing_time
        times = np.full(batch.num_rows, now)
        begun = self._partial.has_begun(rows.keys, context)
        found: list[FoundMatch] = []
        for some in self._matcher.ordered(batch, times, rows.group_ids, begun):
            key = rows.keys[some.group_id]
            state = self._partial.of(key, context)
            found += self._matcher.run(state, some, now, lambda: now)
            self._schedule(key, state, context)
        return [Changes(self._matcher.program.results(found))] if found else []

    def _schedule(self, key: Any, state: NFAState, context: RowsContext) -> None:
        ends = self._partial.next_timeout(state)
        if ends is None:
            return
        known = context.select(key).get(TIMEOUT)
        if known is None or ends < known:
            context.state[TIMEOUT] = ends
            context.register_processing_timer(min(ends + 1, MAX_TIME), TIMEOUT)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that matches of the current key time out."""
        context.state.pop(TIMEOUT, None)
        self._due[context.key] = None

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the matches that waited for those that have timed out."""
        due, self._due = self._due, {}
        now = context.processing_time
        found: list[FoundMatch] = []
        for key in due:
            state = self._partial.of(key, context)
            found += self._matcher.advanced(state, now, lambda: now)
            self._schedule(key, state, context)
        return [Changes(self._matcher.program.results(found))] if found else []

    def write_back(self, context: RowsContext) -> None:
        """Store the partial matches."""
        self._partial.write_back(context)


def lower_match(lowering: Lowering, plan: Match) -> Node:
    """Return the node that finds matches; rows that wait for event time are kept by key group."""
    has_event_time = is_rowtime(plan.input.schema[plan.order_by[0].index].type)
    kind: Any = EventTimeMatch if has_event_time else ProcessingTimeMatch
    function = kind(without_inputs(plan), lowering.session)
    return lowering.keyed([lowering.node(plan.input)], [plan.partition_by], function, "Match", by_group=has_event_time)
