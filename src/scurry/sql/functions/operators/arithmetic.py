"""The operators + - * / % and the signs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.casts.numbers import doubles_of, fitted_decimal
from scurry.sql.functions.decimals import as_decimals, divided, product, sum_of
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import by_column, null_column, value_kernel
from scurry.sql.functions.operators.intervals import bind_interval, infer_interval
from scurry.sql.functions.signatures import refuse
from scurry.sql.types import DataType, DecimalType, IntegralType, NullType
from scurry.sql.types.arithmetic import arithmetic_type
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.families import APPROXIMATE, DATETIME, INTERVAL, NUMERIC

_INTERVAL: Final = "<DATETIME_INTERVAL>"
#: Argument types of the operators, as Calcite's messages list them.
FORMS: Final = {
    "+": "'<NUMERIC> + <NUMERIC>'\n"
    f"'{_INTERVAL} + {_INTERVAL}'\n'<DATETIME> + {_INTERVAL}'\n'{_INTERVAL} + <DATETIME>'",
    "-": f"'<NUMERIC> - <NUMERIC>'\n'{_INTERVAL} - {_INTERVAL}'\n'<DATETIME> - {_INTERVAL}'",
    "*": f"'<NUMERIC> * <NUMERIC>'\n'{_INTERVAL} * <NUMERIC>'\n'<NUMERIC> * {_INTERVAL}'",
    "/": f"'<NUMERIC> / <NUMERIC>'\n'{_INTERVAL} / <NUMERIC>'",
}

_EXACT: Final = Context(prec=120, rounding=ROUND_HALF_UP)


def _infer(operator: str) -> Callable[[CallSite], Signature]:
    shown = "MOD" if operator == "MOD" else operator
    form = "'MOD(<EXACT_NUMERIC>, <EXACT_NUMERIC>)'" if operator == "MOD" else FORMS.get(operator, "")
    form = form or f"'<NUMERIC> {operator} <NUMERIC>'"

    def infer(site: CallSite) -> Signature:
        if len(site.arguments) != 2:
            raise refuse(site, form)
        temporal = infer_interval(operator, site)
        if temporal is not None:
            return temporal
        left, right = _typed(site.types)
        symbol = "%" if shown == "MOD" else operator
        result = arithmetic_type(symbol, left, right)
        if result is None or (symbol == "%" and (isinstance(left, APPROXIMATE) or isinstance(right, APPROXIMATE))):
            raise refuse(site, form, infix=operator != "MOD")
        return Signature([left, right], result)

    return infer


def _typed(types: Sequence[DataType]) -> tuple[DataType, DataType]:
    left, right = types
    for one, other in ((left, right), (right, left)):
        if isinstance(one, NullType) and isinstance(other, NUMERIC):
            raise SignatureError("Illegal use of 'NULL'")
    return left, right


def _bind(operator: str) -> Callable[[CallSite, DataType], Kernel]:
    def bind(site: CallSite, result_type: DataType) -> Kernel:
        if isinstance(result_type, (*DATETIME, *INTERVAL)):
            return bind_interval(operator, site, result_type)
        if isinstance(result_type, DecimalType):
            return _decimals(operator, result_type)
        if isinstance(result_type, IntegralType):
            return _integers(operator, site.types, result_type)
        return _floats(operator, result_type)

    return bind


def _decimals(operator: str, result_type: DecimalType) -> Kernel:
    compute = _remainder if operator == "%" else _EXACT.multiply
    by_value = value_kernel(
        lambda left, right: fitted_decimal(compute(Decimal(left), Decimal(right)), result_type), result_type
    )

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        if operator == "%":
            return by_value(columns, rows)
        left, right = map(as_decimals, columns)
        if operator == "/":
            return divided(left, right, result_type, rows)
        if operator == "*":
            found = product(left, right, result_type)
            return by_value(columns, rows) if found is None else found
        return sum_of(left, right, operator == "-", result_type)

    return kernel


def _remainder(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise EvaluationError("Division by zero")
    return _EXACT.remainder(left, right)


def _integers(operator: str, types: Sequence[DataType], result_type: DataType) -> Kernel:
    # The remainder is computed in the wider type, then cut to that of the divisor.
    wide = pa.int64() if operator == "%" else arrow_type(result_type)
    kind = arrow_type(result_type)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        left, right = (pc.cast(column, wide) for column in columns)
        if operator in "/%":
            if _has_zero(right, left):
                # Constants are divided by Flink's planner, columns by its tasks.
                constant = isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar) and operator == "/"
                raise EvaluationError("Division by zero" if constant else "/ by zero")
            return _integer_division(operator, left, right, rows).cast(kind, safe=False)
        return _WRAPPING[operator](left, right)

    return kernel


_WRAPPING: Final = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


def _has_zero(divisor: Column, dividend: Column) -> bool:
    zero = pc.and_(pc.equal(divisor, pa.scalar(0, divisor.type)), pc.is_valid(dividend))
    return bool(zero.as_py()) if isinstance(zero, pa.Scalar) else bool(pc.any(zero).as_py())


def _integer_division(operator: str, left: Column, right: Column, rows: int) -> Column:
    scalars = isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar)
    arrays = [
        pa.repeat(each, 1 if scalars else rows) if isinstance(each, pa.Scalar) else each for each in (left, right)
    ]
    valid = pc.and_(pc.is_valid(arrays[0]), pc.is_valid(arrays[1]))
    dividend = np.asarray(pc.fill_null(arrays[0], 0))
    divisor = np.asarray(pc.fill_null(arrays[1], 1))
    divisor = np.where(divisor == 0, 1, divisor)
    if operator == "%":
        values = np.fmod(dividend, np.where(divisor == -1, 1, divisor))
    else:
        # The smallest number divided by -1 is itself, as in Java.
        safe = np.where(divisor == -1, 1, divisor)
        quotient = (dividend - np.fmod(dividend, safe)) // safe
        values = np.where(divisor == -1, np.negative(dividend), quotient)
    result = pa.array(values.astype(dividend.dtype), mask=~np.asarray(valid))
    return result[0] if scalars else result


def _floats(operator: str, result_type: DataType) -> Kernel:
    kind = arrow_type(result_type)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        left, right = (
            pc.cast(doubles_of(each) if pa.types.is_decimal(each.type) else each, kind, safe=False) for each in columns
        )
        constant = isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar)
        exact = any(not pa.types.is_float32(each.type) for each in columns)
        if operator == "/" and constant and exact and right.as_py() == 0.0 and left.is_valid:
            # The planner of Flink computes constants as decimal numbers; columns give infinity.
            raise EvaluationError("Division by zero")
        with np.errstate(all="ignore"):
            return _FLOATS[operator](left, right)

    return kernel


_FLOATS: Final = {"+": pc.add, "-": pc.subtract, "*": pc.multiply, "/": pc.divide}


def _infer_sign(site: CallSite) -> Signature:
    if len(site.arguments) == 1 and isinstance(site.types[0], NullType):
        return Signature([NullType()], NullType())
    if len(site.arguments) != 1 or not isinstance(site.types[0], (*NUMERIC, *INTERVAL)):
        sign = "+" if site.name.startswith("PLUS") else "-"
        raise refuse(replace(site, name=sign), f"'{sign}<NUMERIC>'\n'{sign}<DATETIME_INTERVAL>'", infix=True)
    return Signature(site.types, site.types[0])


def _bind_negation(site: CallSite, result_type: DataType) -> Kernel:
    if isinstance(result_type, NullType):
        return lambda columns, rows: null_column(result_type)
    return by_column(pc.negate)(site, result_type)


def _operator(name: str, *aliases: str) -> ScalarFunction:
    return ScalarFunction(name, _infer(name), _bind("%" if name == "MOD" else name), aliases=aliases)


FUNCTIONS = (
    _operator("+"),
    _operator("-"),
    _operator("*"),
    _operator("/"),
    _operator("%"),
    _operator("MOD"),
    ScalarFunction("NEGATE", _infer_sign, _bind_negation, aliases=("MINUS_PREFIX",)),
    ScalarFunction("PLUS", _infer_sign, by_column(lambda column: column), aliases=("PLUS_PREFIX",)),
)
