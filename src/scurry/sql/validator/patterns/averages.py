"""AVG and the functions of spread in MATCH_RECOGNIZE: Flink writes them as sums and counts."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from typing import Final

from scurry._dataclasses import dataclass
from scurry.sql.functions.aggregate.moments import SPREADS
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import calls
from scurry.sql.plan.expressions import AggregateCall, Expression, Literal
from scurry.sql.plan.matching import PatternAggregate
from scurry.sql.types import BigIntType, DataType, DecimalType, IntType, NumericType
from scurry.sql.types.arithmetic import sum_type
from scurry.sql.types.families import same_type

_HALF: Final = decimal.Decimal("0.5")


def expanded(aggregate: PatternAggregate, session: EvaluationContext) -> Expression:
    """Return AVG, VAR_POP and the like as sums and counts, and another aggregate as it is.

    As in Calcite's `AvgVarianceConvertlet`, every step has the type of the result: quotients of whole numbers are
    truncated, their sums wrap, and sums of FLOAT are FLOAT.
    """
    name, arguments = aggregate.call.function, aggregate.call.arguments
    if name not in SPREADS and name != "AVG" or not all(isinstance(each.type, NumericType) for each in arguments):
        return aggregate
    parts = _Parts(aggregate.variable, aggregate.type.nullable(), session)
    (argument,) = arguments
    found = parts.average(argument) if name == "AVG" else parts.spread(argument, *SPREADS[name])
    return parts.converted(found)


@dataclass(frozen=True)
class _Parts:
    """Sums and counts over a variable's rows, and the expressions over them."""

    variable: str | None
    type: DataType
    session: EvaluationContext

    def average(self, argument: Expression) -> Expression:
        return self._call("/", self._sum(argument), self._count(argument))

    def spread(self, argument: Expression, is_sample: bool, is_root: bool) -> Expression:
        """Return `(sum of squares - square of the sum / count) / count`, or the root of it."""
        value = self.converted(argument)
        total, count = self._sum(value), self.converted(self._count(value))
        squares = self._sum(self._of_type("*", value, value))
        mean = self._of_type("/", self._of_type("*", total, total), count)
        one = Literal(1, IntType(False))
        divisor = count
        if is_sample:
            divisor = self._call(
                "CASE",
                self._call("=", count, one),
                self.converted(Literal(None, self.type)),
                self._call("-", count, one),
            )
        found = self._of_type("/", self._of_type("-", squares, mean), divisor)
        return self._call("POWER", found, Literal(_HALF, DecimalType(2, 1, False))) if is_root else found

    def _sum(self, value: Expression) -> Expression:
        return self.converted(self._aggregate("SUM", [value], sum_type(value.type).nullable()))

    def _count(self, value: Expression) -> Expression:
        return self._aggregate("COUNT", [value], BigIntType(False))

    def _aggregate(self, name: str, arguments: Sequence[Expression], data_type: DataType) -> Expression:
        return PatternAggregate(self.variable, AggregateCall(name, tuple(arguments), data_type), data_type)

    def _of_type(self, name: str, *arguments: Expression) -> Expression:
        return self.converted(self._call(name, *arguments))

    def _call(self, name: str, *arguments: Expression) -> Expression:
        return calls.call(name, arguments, self.session)

    def converted(self, value: Expression) -> Expression:
        """Return a value in the type of the result."""
        return value if same_type(value.type, self.type) else calls.cast(value, self.type, self.session)
