"""Conditions of patterns as expressions over the fields of a stream's records.

A condition is what DEFINE of MATCH_RECOGNIZE takes: columns are those of the event, with the name of a stage in front
those of events that the partial match has, and aggregates are over these. It holds if it is TRUE.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scurry.common.typeinfo import TypeInformation
from scurry.errors import MalformedPatternError, SqlParserError, ValidationError
from scurry.sql.evaluation.matching.program import Condition
from scurry.sql.evaluation.matching.rows import KeptRow, RowExpressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.records.incoming import Field, RowsOfRecords
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.matching import RefusedCall
from scurry.sql.plan.rewriting import walk_expression
from scurry.sql.plan.schema import Schema
from scurry.sql.statements.streams.types import stream_type
from scurry.sql.syntax.nodes import Expression as Written
from scurry.sql.syntax.nodes import Query, Select
from scurry.sql.syntax.parser import parse
from scurry.sql.types import BooleanType, RawType
from scurry.sql.validator.catalog import CatalogReader
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.patterns.match_recognize import MatchScope
from scurry.sql.validator.patterns.navigation import MatchExpressions
from scurry.sql.validator.scope import Relation
from scurry.sql.values.type_information import no_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from scurry.cep.patterns.conditions import ExpressionCondition, Test

_SELECT = "SELECT "


class RecordConditions:
    """Conditions on the records of a stream; `open` compiles them in a task.

    Raises:
        ValidationError: The type says nothing of the fields of records.
    """

    def __init__(self, type_info: TypeInformation | None, time_zone: str) -> None:
        self._type = stream_type(type_info)
        if isinstance(self._type.types[0], RawType) and not self._type.is_composite:
            raise no_columns(type_info)
        self._time_zone = time_zone

    def open(self) -> OpenedConditions:
        """Open the conditions: return the compiler and evaluator of a pattern's conditions."""
        kind = self._type
        fields = [
            Field(name, each, place) for place, (name, each) in enumerate(zip(kind.names, kind.types, strict=True))
        ]
        rows = RowsOfRecords(fields, kind.is_composite, kind.attributes, False, self._time_zone)
        session = EvaluationContext(time_zone=self._time_zone, is_streaming=True)
        return OpenedConditions(Schema.of(kind.names, kind.types), rows, session)


class OpenedConditions:
    """The conditions of an operator of patterns.

    Args:
        schema: The fields of the events.
        rows: Makes rows of events.
    """

    def __init__(self, schema: Schema, rows: RowsOfRecords, session: EvaluationContext) -> None:
        self._schema = schema
        self._rows = rows
        self._session = session
        self._events: list[Any] = []
        #: numbers the blocks of events
        self.block = 0
        self._batch: pa.RecordBatch | None = None

    def load(self, events: Iterable[Any]) -> None:
        """Say which events conditions will be asked for: they are computed for all of them at once."""
        self._events = list(events)
        self._batch = None
        self.block += 1

    def bound(self, tests: Sequence[Test], stages: Sequence[str]) -> list[Test]:
        """Return the tests of a pattern with their expressions compiled.

        Args:
            stages: The stages of the pattern, in their order.

        Raises:
            MalformedPatternError: An expression is wrong.
        """
        compiled = _Compiled(self, RowExpressions(self._session))
        found = [each if _expression_of(each) is None else compiled.bound(each, stages) for each in tests]
        compiled.rows.compile()
        return found

    def typed(self, condition: ExpressionCondition, stages: Sequence[str]) -> Expression:
        """Return the typed expression of a condition.

        Raises:
            MalformedPatternError: It is wrong.
        """
        scope = MatchScope(self._schema, (Relation(None, (), 0, len(self._schema)),))
        scope.variables |= set(stages)
        environment = Environment(_NoTables(), self._session, _refuse)
        try:
            found = MatchExpressions(scope, environment, condition.stage).condition(_parsed(condition.text))
            for part in walk_expression(found):
                if isinstance(part, RefusedCall):
                    raise ValidationError(part.message)
            if not isinstance(found.type, BooleanType):
                raise ValidationError(f"it is of type {found.type.as_summary_string()}, not BOOLEAN")
        except (ValidationError, SqlParserError) as error:
            raise MalformedPatternError(
                f"the condition {condition.text!r} of stage {condition.stage!r} is wrong: {_placed(str(error))}"
            ) from None
        return found

    def condition(self, given: ExpressionCondition, stages: Sequence[str], rows: RowExpressions) -> Condition:
        """Return a condition, compiled; `rows` collects the columns that it needs of an event."""
        # The event that ends a loop is no event of its stage.
        variable = "" if given.is_until else given.stage
        return Condition(variable, stages, self.typed(given, stages), rows, self._session)

    def kept_rows(self, rows: RowExpressions) -> dict[int, KeptRow]:
        """Return the buffered columns of the block's events, by the identity of the events."""
        if not self._events:
            return {}
        try:
            if self._batch is None:
                self._batch = self._rows.rows(self._events, None).batch
        except Exception:
            self._events = []  # it fails again when it is the event's turn
            return {}
        kept = rows.kept(self._batch, rows.conditions(self._batch))
        return {id(event): row for event, row in zip(self._events, kept, strict=True)}

    def kept_row(self, event: Any, rows: RowExpressions) -> KeptRow:
        """Return the buffered columns of an event.

        Raises:
            TypeMismatchError: It does not fit its declared type.
        """
        batch = self._rows.rows([event], None).batch
        return rows.kept(batch, rows.conditions(batch))[0]


class _Compiled:
    """The compiled conditions of a pattern, and their columns of the events in the present block."""

    def __init__(self, conditions: OpenedConditions, rows: RowExpressions) -> None:
        self.rows = rows
        self._conditions = conditions
        self._block = -1
        self._kept: dict[int, KeptRow] = {}
        #: events besides those of the block, so that no other gets their identity
        self._others: list[Any] = []

    def bound(self, test: Test, stages: Sequence[str]) -> Test:
        condition = self._conditions.condition(test.given, stages, self.rows)
        bit, kept = condition.bit, self.kept
        if not condition.is_iterative:
            return replace(test, function=(lambda event: kept(event)[0] & bit) if bit else lambda event: True)

        def holds(event: Any, context: Any) -> bool:
            row = kept(event)
            return (not bit or bool(row[0] & bit)) and condition.holds(row, _RowsBefore(context, kept))

        return replace(test, function=holds, iterative=True)

    def kept(self, event: Any) -> KeptRow:
        if self._block != self._conditions.block:
            self._kept, self._others = self._conditions.kept_rows(self.rows), []
            self._block = self._conditions.block
        row = self._kept.get(id(event))
        if row is None:
            row = self._kept[id(event)] = self._conditions.kept_row(event, self.rows)
            self._others.append(event)
        return row


class _RowsBefore:
    """The `ConditionContext` of a condition, with rows instead of events."""

    def __init__(self, context: Any, kept: Any) -> None:
        self._context = context
        self._kept = kept
        self.timestamp = context.timestamp
        self.current_processing_time = context.current_processing_time

    def get_events_for_pattern(self, name: str) -> list[KeptRow]:
        return [self._kept(event) for event in self._context.get_events_for_pattern(name)]


def _expression_of(test: Test) -> str | None:
    return getattr(test.given, "text", None) if test.function is test.given else None


def _parsed(text: str) -> Written:
    """Return the expression of a text.

    Raises:
        SqlParserError: It is none.
        ValidationError: It is more than one.
    """
    query = parse(f"{_SELECT}{text}")
    if not isinstance(query, Select) or query != Select(query.items[:1]) or query.items[0].alias is not None:
        raise ValidationError("it is more than one expression")
    return query.items[0].expression


def _placed(message: str) -> str:
    """Return a message with places in the expression, not in the query that was made of it."""
    return re.sub(r"line 1, column (\d+)", lambda found: f"line 1, column {int(found[1]) - len(_SELECT)}", message)


def _refuse(query: Query, environment: Environment) -> Any:
    raise ValidationError("a condition of a pattern has no subqueries")


class _NoTables(CatalogReader):
    """A catalog without tables and user-defined functions."""

    def find(self, names: tuple[str, ...]) -> None:
        return None

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        return 1, f"Object '{names[-1]}' not found"
