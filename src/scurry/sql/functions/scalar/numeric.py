"""Functions of numbers: roots, logarithms, trigonometry, HEX and BIN."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.casts.numbers import doubles_of
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import by_value
from scurry.sql.functions.signatures import Infer, always, if_any_nullable, refuse, signature
from scurry.sql.types import DataType, DecimalType, NullType
from scurry.sql.types.families import BYTES, CHARACTER, DOUBLE, INTEGER, NUMERIC, STRING

Ufunc = Callable[..., Any]


def takes_numbers(
    result: Callable[[CallSite, Sequence[DataType]], DataType],
    *counts: int,
    types: tuple[type[DataType], ...] = NUMERIC,
) -> Infer:
    """Return the inference of a function of the standard that takes some numbers."""

    def infer(site: CallSite) -> Signature:
        if len(site.arguments) not in counts:
            raise SignatureError(
                f"Invalid number of arguments to function '{site.name}'. Was expecting {counts[0]} arguments"
            )
        decimals = sum(isinstance(each, DecimalType) for each in site.types)
        if site.name == "ATAN2" and decimals == 1:
            raise SignatureError(
                f"Unsupported call: ATAN2({', '.join(each.as_summary_string() for each in site.types)})"
            )
        if not all(isinstance(each, (*types, NullType)) for each in site.types):
            forms = ", ".join(["<NUMERIC>"] * counts[0])
            raise refuse(site, f"'{site.name}({forms})'")
        return Signature(site.types, result(site, site.types))

    return infer


def _doubles(function: Ufunc) -> Callable[[CallSite, DataType], Kernel]:
    """Bind a function of numpy over DOUBLE."""

    def bind(site: CallSite, result_type: DataType) -> Kernel:
        def kernel(columns: Sequence[Column], rows: int) -> Column:
            scalars = all(isinstance(each, pa.Scalar) for each in columns)
            arrays = [
                pa.repeat(each, 1 if scalars else rows) if isinstance(each, pa.Scalar) else each for each in columns
            ]
            valid = np.ones(1 if scalars else rows, np.bool_)
            values = []
            for array in arrays:
                valid &= np.asarray(array.is_valid())
                values.append(np.asarray(pc.fill_null(doubles_of(array), 1.0)))
            with np.errstate(all="ignore"):
                result = pa.array(np.asarray(function(*values), np.float64), mask=~valid)
            return result[0] if scalars else result

        return kernel

    return bind


def _of_libm(name: str) -> Ufunc:
    """Return a function of Arrow over arrays of numpy: numpy's own may differ from Java's in more than the last bit."""
    function = getattr(pc, name, None)
    if function is None:  # hyperbolic functions, before Arrow 20
        return getattr(np, name)  # type: ignore[no-any-return]
    return lambda *values: np.asarray(function(*map(pa.array, values)))


_LN: Final = _of_libm("ln")
_TAN: Final = _of_libm("tan")


def _logarithm(*values: Any) -> Any:
    """LOG(x), or LOG(base, x)."""
    return _LN(values[0]) if len(values) == 1 else _LN(values[1]) / _LN(values[0])


_UNARY: Final[dict[str, Ufunc]] = {
    "SQRT": np.sqrt,
    "LN": _LN,
    "LOG10": _of_libm("log10"),
    "LOG2": lambda values: _LN(values) / math.log(2),
    "EXP": _of_libm("exp"),
    "SIN": _of_libm("sin"),
    "SINH": _of_libm("sinh"),
    "COS": _of_libm("cos"),
    "COSH": _of_libm("cosh"),
    "TAN": _TAN,
    "TANH": _of_libm("tanh"),
    "COT": lambda values: 1.0 / _TAN(values),
    "ASIN": _of_libm("asin"),
    "ACOS": _of_libm("acos"),
    "ATAN": _of_libm("atan"),
    "DEGREES": lambda values: values * (180.0 / math.pi),
    "RADIANS": lambda values: values / 180.0 * math.pi,
}


def _constant(value: float) -> Callable[[CallSite, DataType], Kernel]:
    return lambda site, result_type: lambda columns, rows: pa.scalar(value, pa.float64())


def binary_text(value: int) -> str:
    """BIN: the bits of a BIGINT."""
    return format(value & 0xFFFF_FFFF_FFFF_FFFF, "b")


def hexadecimal(value: int | str) -> str:
    """HEX: the hexadecimal digits of a whole number, or of the bytes of a text."""
    return value.encode().hex().upper() if isinstance(value, str) else format(value & 0xFFFF_FFFF_FFFF_FFFF, "X")


def from_hexadecimal(text: str) -> bytes | None:
    """UNHEX: the bytes of hexadecimal digits; NULL if other characters are among them.

    Of an odd number of digits the first one is a byte by itself, which Flink computes as 0.
    """
    if not set(text) <= set("0123456789abcdefABCDEF"):
        return None
    return b"\0" + bytes.fromhex(text[1:]) if len(text) % 2 else bytes.fromhex(text)


def _infer_hex(site: CallSite) -> Signature:
    if len(site.arguments) != 1 or not isinstance(site.types[0], (*INTEGER, *CHARACTER)):
        raise refuse(site, "'HEX(<NUMERIC>)'")
    return Signature(site.types, STRING.with_nullability(site.any_nullable))


_DOUBLE_RESULT = if_any_nullable(DOUBLE)

FUNCTIONS = (
    *(ScalarFunction(name, takes_numbers(_DOUBLE_RESULT, 1), _doubles(function)) for name, function in _UNARY.items()),
    ScalarFunction("LOG", takes_numbers(_DOUBLE_RESULT, 1, 2), _doubles(_logarithm)),
    ScalarFunction("POWER", takes_numbers(_DOUBLE_RESULT, 2), _doubles(_of_libm("power")), aliases=("POW",)),
    ScalarFunction("ATAN2", takes_numbers(_DOUBLE_RESULT, 2), _doubles(_of_libm("atan2"))),
    ScalarFunction("PI", takes_numbers(always(DOUBLE.not_null()), 0), _constant(math.pi)),
    ScalarFunction("E", takes_numbers(always(DOUBLE.not_null()), 0), _constant(math.e)),
    ScalarFunction("BIN", takes_numbers(if_any_nullable(STRING), 1, types=INTEGER), by_value(binary_text)),
    ScalarFunction("HEX", _infer_hex, by_value(hexadecimal)),
    ScalarFunction(
        "UNHEX",
        signature([CHARACTER], always(BYTES)),
        by_value(from_hexadecimal),
    ),
)
