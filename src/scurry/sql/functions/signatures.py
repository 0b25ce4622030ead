"""Builders of function signatures: argument types, result types and the errors of wrong calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from scurry.sql.functions.definition import CallSite, Signature, SignatureError
from scurry.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    IntType,
    MapType,
    MultisetType,
    NullType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.types.common_type import find_common_type

#: Classes of types that are taken as they are, or a type to which arguments are converted.
Parameter = tuple[type[DataType], ...] | DataType
Infer = Callable[[CallSite], Signature]
Result = Callable[[CallSite, Sequence[DataType]], DataType]

ANY: Final[Parameter] = (DataType,)


def signature(
    parameters: Sequence[Parameter], result: Result, optional: int = 0, variadic: bool = False, least: int | None = None
) -> Infer:
    """Return the inference of a function with fixed parameters.

    Args:
        parameters: What it takes.
        optional: How many of the parameters, from the last, may be missing.
        variadic: Whether the last parameter may be repeated.
        least: The least number of arguments of a variadic function, if the last parameter is to be repeated.
    """
    fewest = len(parameters) - optional if least is None else least

    def infer(site: CallSite) -> Signature:
        count = len(site.arguments)
        if count < fewest or (count > len(parameters) and not variadic):
            raise refuse_number(site)
        expected = [*parameters, *[each for each in parameters[-1:] for _ in range(count)]][:count]
        types = [_accepted(site, given, wanted) for given, wanted in zip(site.types, expected, strict=True)]
        return Signature(types, result(site, types))

    return infer


def _accepted(site: CallSite, given: DataType, wanted: Parameter) -> DataType:
    if isinstance(wanted, DataType):
        if not supports_implicit_cast(given, wanted):
            raise refuse_call(site)
        return (
            given
            if type(given) is type(wanted) and _fits(given, wanted)
            else wanted.with_nullability(given.is_nullable)
        )
    if isinstance(given, wanted) or isinstance(given, NullType):
        return given
    raise refuse_call(site)


def _fits(given: DataType, wanted: DataType) -> bool:
    # Texts and bytes of any length are values of STRING and BYTES already.
    return given.nullable() == wanted.nullable() or isinstance(given, VarCharType | VarBinaryType)


def always(data_type: DataType) -> Result:
    return lambda site, types: data_type


def if_any_nullable(data_type: DataType) -> Result:
    """Return a result of one type, nullable if an argument is."""
    return lambda site, types: data_type.with_nullability(_any_nullable(types))


def argument(index: int, strict: bool = True) -> Result:
    """Return a result of the type of an argument; if `strict`, nullable if any argument is."""
    if strict:
        return lambda site, types: types[index].with_nullability(_any_nullable(types))
    return lambda site, types: types[index]


def nullable(result: Result) -> Result:
    """Return the same result, but always nullable."""
    return lambda site, types: result(site, types).nullable()


def element(index: int) -> Result:
    """Return a result of the type of an array's elements, nullable."""

    def result(site: CallSite, types: Sequence[DataType]) -> DataType:
        array = types[index]
        return array.element_type.nullable() if isinstance(array, ArrayType) else NullType()

    return result


def common(first: int = 0, result: Result | None = None, parameter: Parameter = ANY, fewest: int = 1) -> Infer:
    """Return the inference of a function whose arguments are converted to the type that they have in common.

    Args:
        first: Arguments before this one are left as they are.
        result: What it returns; if not given, that type, nullable if an argument is.
        parameter: What each argument must be.
        fewest: The least number of arguments.
    """

    def infer(site: CallSite) -> Signature:
        if len(site.arguments) < fewest:
            raise refuse_number(site)
        types = [_accepted(site, given, parameter) for given in site.types]
        shared = find_common_type(types[first:])
        if shared is None:
            raise refuse_call(site)
        taken = [*types[:first], *(shared.with_nullability(each.is_nullable) for each in types[first:])]
        return Signature(taken, shared if result is None else result(site, taken))

    return infer


def _any_nullable(types: Sequence[DataType]) -> bool:
    return any(each.is_nullable for each in types)


def refuse_call(site: CallSite) -> SignatureError:
    """Return the error for a call whose arguments do not fit, as Flink words it for functions of its own."""
    shown = ", ".join(each.as_summary_string() for each in site.types)
    return SignatureError(f"Invalid function call:\n{site.name}({shown})")


def refuse_number(site: CallSite) -> SignatureError:
    """Return the error for a call with too few or too many arguments."""
    error = refuse_call(site)
    error.wrong_number = True
    return error


def refuse(site: CallSite, forms: str, infix: bool = False) -> SignatureError:
    """Return the error for a call whose arguments do not fit, as Calcite words it for the functions of the standard.

    Args:
        forms: The forms it has, as `'<NUMERIC> + <NUMERIC>'`.
        infix: Whether it is written between its arguments.
    """
    names = [f"<{standard_name(each)}>" for each in site.types]
    if infix and len(names) == 2:
        shown = f"{names[0]} {site.name} {names[1]}"
    elif infix:
        shown = f"{site.name}{''.join(names)}"
    else:
        shown = f"{site.name}({', '.join(names)})"
    return SignatureError(f"Cannot apply '{site.name}' to arguments of type '{shown}'. Supported form(s): {forms}")


def standard_name(data_type: DataType) -> str:
    """Return the name of a type as Calcite's messages show it, e.g. INTEGER ARRAY."""
    if isinstance(data_type, IntType):
        return "INTEGER"
    if isinstance(data_type, VarCharType):
        return f"VARCHAR({data_type.length})"
    if isinstance(data_type, VarBinaryType | BinaryType):
        return f"{data_type.type_name()}({data_type.length})"
    if isinstance(data_type, DecimalType):
        return f"DECIMAL({data_type.precision}, {data_type.scale})"
    if isinstance(data_type, ArrayType):
        return f"{standard_name(data_type.element_type)} ARRAY"
    if isinstance(data_type, MultisetType):
        return f"{standard_name(data_type.element_type)} MULTISET"
    if isinstance(data_type, MapType):
        return f"({standard_name(data_type.key_type)}, {standard_name(data_type.value_type)}) MAP"
    if isinstance(data_type, YearMonthIntervalType):
        return "INTERVAL MONTH"
    if isinstance(data_type, DayTimeIntervalType):
        return "INTERVAL SECOND"
    return data_type.nullable().as_summary_string()
