"""Patterns that a second input adds, changes and removes while the job runs.

The patterns are broadcast state. A record without a timestamp, or with one that the watermark has passed, takes effect
at once. One with a later timestamp is kept until the watermark reaches it, and takes effect between the events before
it and those at its time or later: then the result does not depend on when records arrive.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from scurry.cep.patterns.dynamic import PatternChange, PatternMatch, change_of
from scurry.cep.patterns.pattern import Pattern
from scurry.errors import MalformedPatternError
from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.cep.operator import CepOperator
from scurry.runtime.operators.cep.run import PatternRun
from scurry.runtime.state.broadcast import BroadcastStates
from scurry.runtime.state.slots import partial_matches
from scurry.runtime.state.store import StateSize, StateStore

PATTERNS_INPUT = 1

#: Broadcast state: the known patterns by id (removed ones included), and later changes by time.
#: Changes are plain tuples.
KNOWN = "patterns"
LATER = "later-patterns"


class DynamicCepOperator(CepOperator):
    """Run `ops.DynamicCep`."""

    #: a change of patterns takes effect between the events of all keys
    fires_in_parts = False

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        spec = plan.operator
        assert isinstance(spec, ops.DynamicCep)
        self._invalid_tag = spec.invalid_tag
        self._states = BroadcastStates(plan.uid, self.states.registry)
        #: the automata of the patterns in effect, and what they were made of
        self._in_effect: dict[Any, tuple[PatternChange, PatternRun]] = {}

    # ---------------------------------------------------------------- state

    def begin_batch(self, store: StateStore, watermark: int) -> None:
        self._states.begin_batch(store)
        self._use(self._known())

    def end_batch(self, store: StateStore) -> StateSize:
        if self.info.mode == "BATCH":  # each key has seen the changes; now they hold for the job that resumes
            self._change(self._changes_until(self.current_watermark))
        return self._states.end_batch(store)

    def _known(self) -> dict[Any, PatternChange]:
        return {pattern: PatternChange(*each) for pattern, each in self._states.entry.get(KNOWN, {}).items()}

    def _later_times(self, watermark: int) -> list[int]:
        """Return the times of changes that the watermark has reached."""
        return sorted(time for time in self._states.entry.get(LATER, ()) if time <= watermark)

    def _use(self, known: dict[Any, PatternChange]) -> None:
        for pattern, change in known.items():
            in_effect = self._in_effect.get(pattern)
            if in_effect is not None and in_effect[0] == change:
                continue
            self._in_effect.pop(pattern, None)
            if change.json is not None:
                try:
                    run = self._compiled(change)
                except MalformedPatternError as error:
                    raise operator_error(self.plan, error, change) from error
                run.bind(self.backend)
                self._in_effect[pattern] = change, run
        for pattern in set(self._in_effect).difference(known):
            del self._in_effect[pattern]
        # Ordered by id, so that the order of matches does not depend on that of the patterns.
        self._runs = [self._in_effect[each][1] for each in sorted(self._in_effect, key=repr)]

    def _compiled(self, change: PatternChange) -> PatternRun:
        """Return the matcher of a pattern.

        Raises:
            MalformedPatternError: It is no pattern.
        """
        assert change.json is not None
        pattern = Pattern.from_json(change.json)
        wrapped = partial(PatternMatch, pattern_id=change.id, pattern_version=change.version)
        name = f"pattern {change.id!r}, version {change.version}"
        return self._run_of(pattern, partial_matches(change.id), wrapped=wrapped, name=name)

    # ---------------------------------------------------------------- patterns

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if index != PATTERNS_INPUT:
            super().process_input(index, keys, values, timestamps)
            return
        times = timestamps or [MIN_TIME] * len(values)
        for record, time in zip(values, times, strict=True):
            try:
                change = change_of(record)
                if change.json is not None:
                    self._compiled(change)
            except MalformedPatternError as error:
                self._refused(record, time, error)
                continue
            if self._event_time and time > self.current_watermark:
                self._states.for_writing().setdefault(LATER, {}).setdefault(time, []).append(tuple(change))
            else:
                self._change([change])

    def _refused(self, record: Any, time: int, error: MalformedPatternError) -> None:
        if self._invalid_tag is None:
            hint = "side_output_invalid_patterns(tag) sends such records to a side output instead"
            raise operator_error(self.plan, error, record, hint) from error
        if self.info.subtask == 0:  # all subtasks get it
            self.collector.emit_side(self._invalid_tag, [(record, str(error))], None if time == MIN_TIME else [time])

    def _change(self, changes: Iterable[PatternChange]) -> None:
        """Let changes take effect; partial matches of patterns that are changed or removed are dropped."""
        known = self._known()
        new: dict[Any, PatternChange] = {}
        for change in changes:
            if change.follows(new.get(change.id, known.get(change.id))):
                new[change.id] = change
        if not new:
            return
        dropped = [partial_matches(each) for each in new if each in self._in_effect]
        self._drop(dropped)
        self._states.for_writing().setdefault(KNOWN, {}).update({each: tuple(change) for each, change in new.items()})
        self._use(self._known())

    def _drop(self, slots: list[Any]) -> None:
        """Drop the partial matches of patterns; in BATCH those of a key are in memory only."""
        if self.info.mode == "BATCH":
            return
        for slot in slots:
            for key in self.backend.keys_with(slot, range(self.info.max_parallelism)):
                del self.backend.entries[key][slot]

    def _changes_until(self, watermark: int) -> list[PatternChange]:
        """Remove and return the changes that the watermark has reached, in their order."""
        due = self._later_times(watermark)
        later = self._states.for_writing()[LATER] if due else {}
        return [PatternChange(*each) for time in due for each in later.pop(time)]

    # ---------------------------------------------------------------- time

    def _pass_until(self, watermark: int) -> dict[Any, Any]:
        """Process the events that the watermark has reached; changes of patterns take effect between them."""
        for time in self._later_times(watermark):
            # Timers of keys may be due between two changes, too.
            self._due.update(dict.fromkeys(super()._pass_until(time - 1)))
            self._change(self._changes_until(time))
        return super()._pass_until(watermark)

    def end_of_key(self, watermark: int) -> None:
        """BATCH: process a key, for which all changes are still to come."""
        states, entry = self._states, self._states.entry
        states.entry = {name: dict(each) for name, each in entry.items()}  # lists of changes are not changed
        try:
            super().end_of_key(watermark)
        finally:
            states.entry = entry
            self._use(self._known())
