"""Translate MATCH_RECOGNIZE to its physical node; refuse patterns as Flink does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.expressions import AggregateCall, Expression, UserFunctionCall
from scurry.sql.plan.matching import Match, PatternAggregate, PatternMatch, RefusedCall
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.pattern_stages import pattern_stages
from scurry.sql.plan.rewriting import walk_expression
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.planner.rules.time_attributes import stays_time
from scurry.sql.types.families import TIMESTAMP


def pattern_matches(plan: Plan, session: EvaluationContext) -> Plan:
    """Recognise patterns that can be translated to automata.

    Raises:
        ValidationError: A pattern, its conditions or measures are such that Flink has no plan for them.
    """
    plan = plan.with_inputs(tuple(pattern_matches(each, session) for each in plan.inputs))
    if not isinstance(plan, Match):
        return plan
    _check_functions(plan)
    if session.is_streaming:
        Changelogs([plan])
    _check_order(plan, session.is_streaming)
    pattern_stages(plan)
    _check_measures(plan)
    return PatternMatch(**{each.name: getattr(plan, each.name) for each in fields(plan)})


def _check_functions(match: Match) -> None:
    for part in _parts(match):
        is_user = isinstance(part, UserFunctionCall)
        if is_user or (isinstance(part, AggregateCall) and isinstance(part.function, UserFunction)):
            raise ValidationError("Python Function can not be used in MATCH_RECOGNIZE for now.")


def _check_order(match: Match, is_streaming: bool) -> None:
    kinds = [match.input.schema[key.index].type for key in match.order_by]
    if is_streaming:
        if not kinds:
            raise ValidationError("You must specify either rowtime or proctime for order by.")
        if not stays_time(match.input, match.order_by[0].index):
            raise ValidationError("You must specify either rowtime or proctime for order by as the first one.")
    else:
        if not kinds:
            raise ValidationError("You must specify non-empty order by.")
        if not isinstance(kinds[0], TIMESTAMP):
            raise ValidationError("You must specify time point for order by as the first one.")
    if match.order_by[0].descending:
        table = "a streaming table" if is_streaming else "a table"
        raise ValidationError(f"Primary sort order of {table} must be ascending on time.")


def _check_measures(match: Match) -> None:
    for part in _parts(match):
        if isinstance(part, RefusedCall):
            raise ValidationError(part.message)
        if isinstance(part, PatternAggregate) and part.variable is None:
            raise ValidationError("No pattern variable specified in aggregate")


def _parts(match: Match) -> Iterator[Expression]:
    for expression in (*match.measures, *(each.condition for each in match.definitions)):
        yield from walk_expression(expression)
