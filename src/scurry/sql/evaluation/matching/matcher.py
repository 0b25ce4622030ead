"""The automaton of a pattern, fed with blocks of rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.cep.patterns.automaton import NFA, ConditionFailedError, NFAState, compile_nfa
from scurry.cep.patterns.pattern import Pattern
from scurry.cep.patterns.skip_strategies import AfterMatchSkipStrategy
from scurry.errors import EvaluationError
from scurry.sql.evaluation.batch.batches import milliseconds, sorted_positions
from scurry.sql.evaluation.matching.program import Condition, FoundMatch, MatchProgram
from scurry.sql.evaluation.matching.rows import KeptRow
from scurry.sql.evaluation.user_functions.arguments import check_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.plan.matching import AfterMatch, Match
from scurry.sql.plan.pattern_stages import Stage


class KeyRows(NamedTuple):
    """Rows of a key that are due, in the order in which the automaton gets them.

    Attributes:
        times: The time of each row, in milliseconds.
    """

    group_id: int
    rows: Sequence[KeptRow]
    times: Sequence[int]


class Matcher:
    """Finds the matches of a pattern, key by key.

    Attributes:
        program: What is computed of rows and matches.
        nfa: The automaton.
    """

    def __init__(self, plan: Match, session: EvaluationContext) -> None:
        """Compile the operation, of whose input only the columns matter."""
        self.program = MatchProgram(plan, session)
        self.nfa: NFA = compile_nfa(_pattern(self.program), handle_timeouts=False)
        self._plan = plan
        self._first_bits = self.program.first_bits

    def ordered(self, batch: pa.RecordBatch, times: Any, group_ids: Any, has_begun: Any) -> list[KeyRows]:
        """Return the rows of each key in the order of the pattern, the keys by their first rows.

        Args:
            times: The time of each row, in milliseconds.
            group_ids: For each row the number of its key.
            has_begun: For each key whether the automaton waits for rows of it. Of other keys, rows before one at which
                a match can begin are left out.
        """
        order = np.arange(len(times))
        if len(self._plan.order_by) > 1:
            order = sorted_positions(batch.columns, self._plan.order_by, len(times))
        order = order[np.argsort(times[order], kind="stable")]
        order = order[np.argsort(group_ids[order], kind="stable")]
        bits = self.program.rows.conditions(batch)
        order = order[self._relevant(bits[order], group_ids[order], has_begun)]
        if not len(order):
            return []
        kept = self.program.rows.kept(batch.take(pa.array(order)), bits[order])
        group_ids, times = group_ids[order], times[order]
        starts = np.flatnonzero(np.r_[True, group_ids[1:] != group_ids[:-1]]).tolist()
        stops = [*starts[1:], len(group_ids)]
        of_keys = [
            KeyRows(int(group_ids[start]), kept[start:stop], times[start:stop].tolist())
            for start, stop in zip(starts, stops, strict=True)
        ]
        return sorted(of_keys, key=lambda each: each.times[0])

    def _relevant(self, bits: Any, group_ids: Any, has_begun: Any) -> Any:
        """Say which of the rows, which are ordered by key, the automaton has to see."""
        if self._first_bits is None or not len(group_ids):
            return np.ones(len(group_ids), dtype=bool)
        starts = np.flatnonzero(np.r_[True, group_ids[1:] != group_ids[:-1]])
        begins = np.cumsum((bits & self._first_bits) != 0)
        before = np.repeat(
            begins[starts] - ((bits[starts] & self._first_bits) != 0), np.diff([*starts, len(group_ids)])
        )
        return (begins > before) | has_begun[group_ids]

    def run(
        self,
        state: NFAState,
        rows: KeyRows,
        now: int,
        clock: Callable[[], int],
        check: Callable[[], None] | None = None,
    ) -> list[FoundMatch]:
        """Return the matches that rows of a key and the time after them complete.

        Args:
            state: The state of the key, which is changed.
            now: The watermark.
            clock: Returns the processing time.
            check: Called for each row; what it raises ends the task. None if nothing can end it.

        Raises:
            EvaluationError: A condition has no value.
            PatternMatchError: There is no row to skip to.
        """
        nfa, found, previous = self.nfa, [], None
        try:
            for row, time in zip(rows.rows, rows.times, strict=True):
                if check is not None:
                    check()
                if time != previous:
                    found += self._found(nfa.advance_time(state, time)[0], time, clock)
                    previous = time
                found += self._found(nfa.process(state, row, time, clock), time, clock)
        except ConditionFailedError as error:
            raise self._failed(error, row, time) from error
        return found + self.advanced(state, now, clock)

    def advanced(self, state: NFAState, now: int, clock: Callable[[], int]) -> list[FoundMatch]:
        """Return the matches that a watermark completes."""
        return self._found(self.nfa.advance_time(state, now)[0], now, clock)

    def _failed(self, error: ConditionFailedError, row: KeptRow, time: int) -> BaseException:
        """Return why a condition has no value, with the variable and the row."""
        cause = error.__cause__ or error
        if not isinstance(cause, EvaluationError):
            return cause
        order = self._plan.input.schema[self._plan.order_by[0].index].name
        shown = [f"{name} = {value!r}" for name, value in self.program.key_of(row).items()]
        shown.append(f"{order} = {np.datetime64(time, 'ms')}")
        return EvaluationError(
            f"{cause}\n  in the condition of variable {error.stage} of MATCH_RECOGNIZE\n  row: {', '.join(shown)}"
        )

    def _found(self, matches: Sequence[Any], time: int, clock: Callable[[], int]) -> list[FoundMatch]:
        return [FoundMatch(each, self.program.names, time, clock()) for each in matches]


def _pattern(program: MatchProgram) -> Pattern:
    """Return the pattern as Flink's planner builds it."""
    pattern: Pattern | None = None
    for stage, condition in zip(program.stages, program.conditions, strict=True):
        if pattern is None:
            pattern = Pattern.begin(stage.variable, _skip_strategy(program.plan.after))
        else:
            pattern = pattern.next(stage.variable)
        _conditioned(pattern, condition)
        _repeated(pattern, stage)
    assert pattern is not None, "a pattern has a variable"
    within = program.plan.within
    return pattern if within is None else pattern.within(int(within.value))


def _conditioned(pattern: Pattern, condition: Condition) -> None:
    if condition.bit:
        pattern.where(_holds(condition.bit))
    if condition.is_iterative:
        pattern.where(condition.holds)


def _holds(bit: int) -> Callable[[KeptRow], int]:
    return lambda row: row[0] & bit


def _repeated(pattern: Pattern, stage: Stage) -> None:
    if (stage.low, stage.high) == (1, 1):
        return
    if (stage.low, stage.high) == (0, 1):
        pattern.optional()
        return
    if stage.high is not None:
        pattern.times(stage.low, stage.high)
    elif stage.low <= 1:
        pattern.one_or_more()
        if stage.low == 0:
            pattern.optional()
    else:
        pattern.times_or_more(stage.low)
    pattern.consecutive()
    if stage.greedy:
        pattern.greedy()


def _skip_strategy(after: AfterMatch) -> AfterMatchSkipStrategy:
    if after.kind == "PAST LAST ROW":
        return AfterMatchSkipStrategy.skip_past_last_event()
    if after.kind == "TO NEXT ROW":
        return AfterMatchSkipStrategy.skip_to_next()
    assert after.variable is not None, "it skips to a variable"
    if after.kind == "TO FIRST":
        return AfterMatchSkipStrategy.skip_to_first(after.variable).throw_exception_on_miss()
    return AfterMatchSkipStrategy.skip_to_last(after.variable).throw_exception_on_miss()


#: The last watermark.
_END_OF_TIME: Final = (1 << 63) - 1


def matched(plan: Match, batch: pa.RecordBatch, session: EvaluationContext) -> pa.RecordBatch:
    """Return a row for each match.

    Raises:
        EvaluationError: A row has no time, or a condition or measure no value.
    """
    matcher = Matcher(plan, session)
    keys = [batch.column(key) for key in plan.partition_by]
    group_ids, first = group_ids_of(keys, batch.num_rows)
    times = times_of(plan, batch)
    found = []
    check = check_of(session)
    for rows in matcher.ordered(batch, times, group_ids, np.zeros(len(first) + 1, dtype=bool)):
        found += matcher.run(matcher.nfa.initial_state(), rows, _END_OF_TIME, _now, check)
    return matcher.program.results(found)


def times_of(plan: Match, batch: pa.RecordBatch) -> Any:
    """Return the times of rows, in milliseconds.

    Raises:
        EvaluationError: A row has none.
    """
    column = batch.column(plan.order_by[0].index)
    if column.null_count:
        raise EvaluationError("RowTime field should not be null, please convert it to a non-null long value.")
    return np.asarray(milliseconds(column))


def _now() -> int:
    return time.time_ns() // 1_000_000
