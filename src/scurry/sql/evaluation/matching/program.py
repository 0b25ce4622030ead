"""Compiled MATCH_RECOGNIZE: conditions of the variables, and a row for each match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from scurry.sql.evaluation.batch.batches import batch_of, single_row
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.evaluation.matching.leaves import PatternReferences, Rows
from scurry.sql.evaluation.matching.rows import KeptRow, RowExpressions
from scurry.sql.evaluation.matching.scalars import scalar_function
from scurry.sql.functions.catalogue import scalar_function as catalogued
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.expressions import Call, Expression, InputReference
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.matching import ALL_VARIABLES, Match, MatchTime, PatternAggregate, PatternReference
from scurry.sql.plan.pattern_stages import Stage, pattern_stages
from scurry.sql.plan.rewriting import rewritten, walk_expression
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values


class FoundMatch:
    """A match: the rows that each variable has taken.

    Attributes:
        time: The time of the row that completed it, or of the watermark that released it.
        processing_time: When it was found.
    """

    __slots__ = ("_names", "_taken", "processing_time", "time")

    def __init__(self, taken: Mapping[str, Rows], names: Sequence[str], time: int, processing_time: int) -> None:
        self._taken = taken
        self._names = names
        self.time = time
        self.processing_time = processing_time

    def rows(self, variable: str) -> Rows:
        return self._taken.get(variable, ())

    def all_rows(self) -> Rows:
        """Return the rows that all variables have taken, in the order of the pattern."""
        return [row for name in self._names for row in self._taken.get(name, ())]

    def any_row(self) -> KeptRow:
        return next(rows[0] for rows in self._taken.values() if rows)


class _PresentRow:
    """A row for which a condition is asked, with the rows that variables have taken before it."""

    __slots__ = ("_context", "_names", "_present", "_variable", "processing_time", "time")

    def __init__(self, row: KeptRow, variable: str, names: Sequence[str], context: Any) -> None:
        self._present = row
        self._variable = variable
        self._names = names
        self._context = context
        self.time = context.timestamp()
        self.processing_time = context.current_processing_time()

    def rows(self, variable: str) -> Rows:
        taken = list(self._context.get_events_for_pattern(variable)) if variable in self._names else []
        return [*taken, self._present] if variable == self._variable else taken

    def all_rows(self) -> Rows:
        before = [row for name in self._names for row in self._context.get_events_for_pattern(name)]
        return [*before, self._present]


class Condition:
    """Condition of a variable; the part that depends on the row alone is computed beforehand.

    Attributes:
        bit: The bit of a kept row with the result of the part that depends on the row alone; 0 without such a part.
        is_iterative: Whether there is a part that depends on rows before.
    """

    def __init__(
        self,
        variable: str,
        names: Sequence[str],
        condition: Expression | None,
        rows: RowExpressions,
        session: EvaluationContext,
    ) -> None:
        """Compile a condition.

        Args:
            names: The variables of the pattern up to this one.
            condition: The condition; None if the variable takes any row.
            rows: What is kept of each row.
        """
        self._variable = variable
        self._names = tuple(names)
        parts = [] if condition is None else list(conjuncts(condition))
        alone = [found for each in parts if (found := _of_row_alone(each, variable)) is not None]
        rest = [each for each in parts if _of_row_alone(each, variable) is None]
        of_row, iterative = all_of(alone, session), all_of(rest, session)
        self.bit = 0 if of_row is None else rows.bit(of_row)
        self.is_iterative = iterative is not None
        self._leaves = PatternReferences(rows, session)
        if iterative is not None:
            bound = self._leaves.bound(iterative)
            self._scalar = scalar_function(bound)
            self._compiled = compile_expressions([bound], session) if self._scalar is None else None

    def holds(self, row: KeptRow, context: Any) -> bool:
        """Return whether the part holds that depends on rows before.

        Args:
            context: Gives the rows before, as `IterativeCondition.Context`.
        """
        place = _PresentRow(row, self._variable, self._names, context)
        if self._scalar is not None:
            return self._scalar(self._leaves.values(place)) is True
        assert self._compiled is not None
        columns = self._leaves.columns([place])
        names = [f"f{number}" for number in range(len(columns))]
        row_of_leaves = pa.RecordBatch.from_arrays(columns, names=names) if columns else single_row()
        return self._compiled(row_of_leaves)[0][0].as_py() is True


class MatchProgram:
    """MATCH_RECOGNIZE, compiled for a task.

    Attributes:
        stages: The stages of its pattern.
        conditions: The conditions of the stages, in their order.
        rows: What is kept of each row.
    """

    def __init__(self, plan: Match, session: EvaluationContext) -> None:
        """Compile the operation, of whose input only the columns matter."""
        self.plan = plan
        self.rows = RowExpressions(session)
        self.stages: list[Stage] = pattern_stages(plan)
        self.names = [each.variable for each in self.stages]
        defined = {each.variable: each.condition for each in plan.definitions}
        self.conditions = [
            Condition(name, self.names[: place + 1], defined.get(name), self.rows, session)
            for place, name in enumerate(self.names)
        ]
        inputs = plan.input.schema
        self._keys = [self.rows.place(InputReference(key, inputs[key].type)) for key in plan.partition_by]
        self._leaves = PatternReferences(self.rows, session)
        self._measures = compile_expressions([self._leaves.bound(each) for each in plan.measures], session)
        self.rows.compile()

    @property
    def first_bits(self) -> int | None:
        """The bits of conditions of which one holds for a row that begins a match; None if any row may."""
        bits = 0
        for stage, condition in zip(self.stages, self.conditions, strict=True):
            if not condition.bit:
                return None
            bits |= condition.bit
            if not stage.is_optional:
                break
        return bits

    def key_of(self, row: KeptRow) -> dict[str, Any]:
        """Return the columns of PARTITION BY of a row."""
        return {column.name: row[place] for column, place in zip(self.plan.schema, self._keys, strict=False)}

    def results(self, matches: Sequence[FoundMatch]) -> pa.RecordBatch:
        columns = self._leaves.columns(matches)
        leaves = pa.RecordBatch.from_arrays(columns, names=[f"f{number}" for number in range(len(columns))])
        if not columns:
            leaves = batch_of([], Schema(), len(matches))
        rows = [match.any_row() for match in matches]
        keys = [
            from_values([row[place] for row in rows], arrow_type(column.type))
            for place, column in zip(self._keys, self.plan.schema, strict=False)
        ]
        return batch_of([*keys, *self._measures(leaves)], self.plan.schema, len(matches))


def _of_row_alone(condition: Expression, variable: str) -> Expression | None:
    """Return a condition over the columns of the present row, None if it depends on other rows."""
    for part in walk_expression(condition):
        if isinstance(part, PatternAggregate | MatchTime) or _is_undetermined(part):
            return None
        if isinstance(part, PatternReference):
            is_present = part.variable in (variable, ALL_VARIABLES) and not part.first and not part.offset
            if not is_present:
                return None

    def replaced(node: Expression) -> Expression:
        return InputReference(node.index, node.type) if isinstance(node, PatternReference) else node

    return rewritten(condition, replaced)


def _is_undetermined(part: Expression) -> bool:
    return isinstance(part, Call) and not catalogued(part.function).is_deterministic
