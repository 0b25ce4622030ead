"""Averages beside the sum and the count of the same values, of which Flink computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import AggregateCall, Call, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Aggregate, Filter, Plan, Project
from scurry.sql.plan.rewriting import all_substituted, substituted
from scurry.sql.types import BigIntType, BooleanType, DataType, DoubleType, IntType, SmallIntType, TinyIntType

_COUNT = BigIntType(False)
_INTEGERS = (TinyIntType, SmallIntType, IntType, BigIntType)
#: Averages whose sum has their type, too.
_DIVIDED = (*_INTEGERS, DoubleType)


def averages_of_sums(plan: Plan, session: EvaluationContext) -> Plan:
    """Compute SUM and AVG of $SUM0 and COUNT where that makes fewer aggregates."""
    inputs = tuple(averages_of_sums(each, session) for each in plan.inputs)
    made = inputs[0] if inputs and not isinstance(plan.inputs[0], Project) else None
    if isinstance(made, Project) and isinstance(plan, Filter):
        return replace(made, input=Filter(made.input, substituted(plan.condition, made.expressions)))
    if isinstance(made, Project) and isinstance(plan, Project):
        return replace(plan, input=made.input, expressions=tuple(all_substituted(plan.expressions, made.expressions)))
    plan = plan.with_inputs(inputs)
    return _reduced(plan) if isinstance(plan, Aggregate) and plan.is_simple else plan


def _reduced(plan: Aggregate) -> Plan:
    if not any(map(_is_average, plan.calls)):
        return plan
    if not all(isinstance(call.type, _DIVIDED) for call in plan.calls if _is_average(call)):
        return plan
    calls = _Calls(len(plan.keys))
    values = [calls.value(call, name) for call, name in zip(plan.calls, plan.names, strict=True)]
    if len(calls.made) >= len(set(plan.calls)):
        return plan
    changed = replace(plan, calls=tuple(calls.made), names=tuple(calls.names))
    return builders.project(changed, [*builders.columns(plan)[: len(plan.keys)], *values], plan.schema.names)


def _is_average(call: AggregateCall) -> bool:
    return call.function == "AVG" and not call.distinct


def _quotient(average: DataType) -> DataType:
    """Return the type of a sum divided by a number of rows."""
    return BigIntType(average.is_nullable) if isinstance(average, _INTEGERS) else average


class _Calls:
    """Collects aggregates, each once, behind a number of keys."""

    def __init__(self, keys: int) -> None:
        self._keys = keys
        self.made: list[AggregateCall] = []
        self.names: list[str] = []

    def value(self, call: AggregateCall, name: str) -> Expression:
        """Return the value of an aggregate over those that are collected, which are added."""
        if call.function not in ("SUM", "AVG") or call.distinct:
            return self._column(call, name)
        total = self._sum(call, name if call.function == "SUM" else None)
        if call.function == "SUM":
            return total
        divided = Call("/", (total, self._count(call)), _quotient(call.type))
        return divided if divided.type == call.type else Call("CAST", (divided,), call.type)

    def _sum(self, call: AggregateCall, name: str | None) -> Expression:
        kind = call.type
        total = self._column(replace(call, function="$SUM0", type=kind.not_null()), name)
        if not kind.is_nullable:
            return total
        nothing = Call("=", (self._count(call), Literal(0, IntType(False))), BooleanType(False))
        return Call("CASE", (nothing, Literal(None, kind), total), kind)

    def _count(self, call: AggregateCall) -> InputReference:
        counted: Sequence[Expression] = [each for each in call.arguments if each.type.is_nullable]
        return self._column(replace(call, function="COUNT", arguments=tuple(counted), type=_COUNT), None)

    def _column(self, call: AggregateCall, name: str | None) -> InputReference:
        place = self._keys + len(self.made)
        if call not in self.made:
            self.made.append(call)
            self.names.append(name or f"$f{place}")
        return InputReference(self._keys + self.made.index(call), call.type)
