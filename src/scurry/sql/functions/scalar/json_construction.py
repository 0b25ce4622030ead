"""JSON from values: JSON_STRING, JSON_OBJECT, JSON_ARRAY, and VARIANT.

JSON_OBJECT(on null, key, value, key, value, ...) and JSON_ARRAY(on null, value, ...) begin with a keyword. A VARIANT is
kept as its JSON text.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from scurry.common._java_numbers import double_text
from scurry.common._types.json_text import quoted
from scurry.errors import EvaluationError
from scurry.sql.functions.casts.texts import text_of
from scurry.sql.functions.definition import (
    Argument,
    CallSite,
    EvaluationContext,
    Kernel,
    ScalarFunction,
    Signature,
    SignatureError,
)
from scurry.sql.functions.json_text import JsonError, decimal_text, dumps, loads
from scurry.sql.functions.kernels import by_value, value_kernel
from scurry.sql.functions.signatures import nullable, signature
from scurry.sql.functions.variants import parse_json, try_parse_json
from scurry.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    TimestampType,
    VariantType,
)
from scurry.sql.types.families import BINARY, CHARACTER, STRING

Writer = Callable[[Any], str]

#: Functions whose results stand in an object or array as JSON, not as texts.
_JSON_FUNCTIONS: Final = {"$JSON", "JSON_OBJECT", "JSON_ARRAY"}
#: JSON(text) has a meaning only there.
_NESTED: Final = {"JSON": "$JSON"}
_MISPLACED: Final = (
    "The JSON() function is currently only supported inside JSON_ARRAY() or as the VALUE param of JSON_OBJECT(). "
    'Example: JSON_OBJECT(\'a\', JSON(\'{"key": "value"}\')) or JSON_ARRAY(JSON(\'{"key": "value"}\')).'
)


def json_writer(data_type: Any, session: EvaluationContext) -> Writer:
    """Return the function from a value of a type, which is not None, to its JSON.

    Raises:
        SignatureError: The type has no JSON.
    """
    if isinstance(data_type, CHARACTER):
        return quoted
    if isinstance(data_type, BooleanType):
        return lambda value: "true" if value else "false"
    if isinstance(data_type, IntegralType):
        return str
    if isinstance(data_type, DecimalType):
        return decimal_text
    if isinstance(data_type, DoubleType | FloatType):
        return _double_json
    if isinstance(data_type, BINARY):
        return lambda value: f'"{base64.b64encode(value).decode()}"'
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return _timestamp_writer(data_type)
    if isinstance(data_type, VariantType):
        return str
    return _nested_writer(data_type, session)


def _nested_writer(data_type: Any, session: EvaluationContext) -> Writer:
    if isinstance(data_type, ArrayType):
        element = _or_null(json_writer(data_type.element_type, session))
        return lambda values: f"[{','.join(map(element, values))}]"
    if isinstance(data_type, MapType):
        return _pairs_writer(data_type.key_type, _or_null(json_writer(data_type.value_type, session)))
    if isinstance(data_type, MultisetType):
        return _pairs_writer(data_type.element_type, str)
    if isinstance(data_type, RowType):
        fields = sorted(
            (field.name, place, _or_null(json_writer(field.data_type, session)))
            for place, field in enumerate(data_type.fields)
        )
        return lambda row: "{" + ",".join(f"{_name(name)}:{write(row[place])}" for name, place, write in fields) + "}"
    raise SignatureError(
        "Unsupported argument type. Expected type of family 'CHARACTER_STRING' but actual type was "
        f"'{data_type.as_summary_string()}'."
    )


def _pairs_writer(key: DataType, value: Writer) -> Writer:
    if not isinstance(key, CHARACTER):
        raise SignatureError(
            f"Type '{key.as_summary_string()}' is not supported for JSON conversion. "
            "The key type must be a character string."
        )
    return lambda pairs: "{" + ",".join(f"{_name(name)}:{value(item)}" for name, item in sorted(pairs)) + "}"


def _name(name: str | None) -> str:
    return quoted("null" if name is None else name)


def _or_null(write: Writer) -> Writer:
    return lambda value: "null" if value is None else write(value)


def _double_json(value: float) -> str:
    if not math.isfinite(value):
        return f'"{double_text(value)}"'
    # As a BigDecimal: without negative zero, and with the sign of a positive exponent.
    mantissa, e, exponent = double_text(value or 0.0).partition("E")
    return mantissa + (e and f"E{'' if exponent.startswith('-') else '+'}{exponent}")


def _timestamp_writer(data_type: TimestampType | LocalZonedTimestampType) -> Writer:
    text = text_of(TimestampType(data_type.precision), EvaluationContext())
    zone = "Z" if isinstance(data_type, LocalZonedTimestampType) else ""

    def write(value: int) -> str:
        shown = text(value).replace(" ", "T")
        return f'"{shown.rstrip("0").rstrip(".") if "." in shown else shown}{zone}"'

    return write


def _infer_json_string(site: CallSite) -> Signature:
    if len(site.arguments) != 1:
        raise SignatureError("Invalid input arguments.")
    if not isinstance(site.types[0], NullType):
        json_writer(site.types[0], site.session)
    return Signature(site.types, STRING.with_nullability(site.any_nullable))


def _bind_json_string(site: CallSite, result_type: DataType) -> Kernel:
    return value_kernel(_argument_writer(site.arguments[0], site.session), result_type)


def _argument_writer(argument: Argument, session: EvaluationContext) -> Writer:
    """Return the writer of an argument, where JSON of nested calls is not a text."""
    if argument.function in _JSON_FUNCTIONS:
        return str
    if isinstance(argument.type, NullType):
        return lambda value: "null"
    return json_writer(argument.type, session)


def _refuse_untyped(values: Sequence[Argument]) -> None:
    if any(isinstance(each.type, NullType) for each in values):
        raise EvaluationError("Type is not supported: ANY\nhint: CAST(NULL AS STRING) is a NULL that has a type")


def _infer_object(site: CallSite) -> Signature:
    for argument in site.arguments[2::2]:
        _argument_writer(argument, site.session)
    if any(each.function == "$JSON" for each in site.arguments[1::2]):
        raise SignatureError(_MISPLACED)
    if any(isinstance(each, NullType) for each in site.types[1::2]):
        raise SignatureError("Argument to function 'NULL' must not be NULL")
    if not all(isinstance(each, CHARACTER) for each in site.types[1::2]):
        raise SignatureError("The keys of JSON_OBJECT must be character strings.")
    return Signature(site.types, STRING.not_null())


def _bind_object(site: CallSite, result_type: DataType) -> Kernel:
    _refuse_untyped(site.arguments[2::2])
    keeps_null = site.arguments[0].value != "ABSENT"
    writers = [_or_null(_argument_writer(each, site.session)) for each in site.arguments[2::2]]

    def construct(_: str, *parts: Any) -> str:
        found: dict[str, str] = {}
        for key, value, write in zip(parts[::2], parts[1::2], writers, strict=True):
            if key is None:
                raise EvaluationError("Key of JSON_OBJECT may not be NULL.")
            if value is not None or keeps_null:
                found[key] = write(value)
        return "{" + ",".join(f"{_name(name)}:{found[name]}" for name in sorted(found)) + "}"

    return value_kernel(construct, result_type, nulls=True)


def _infer_array(site: CallSite) -> Signature:
    for argument in site.arguments[1:]:
        _argument_writer(argument, site.session)
    return Signature(site.types, STRING.not_null())


def _bind_array(site: CallSite, result_type: DataType) -> Kernel:
    _refuse_untyped(site.arguments[1:])
    keeps_null = site.arguments[0].value != "ABSENT"
    writers = [_or_null(_argument_writer(each, site.session)) for each in site.arguments[1:]]

    def construct(_: str, *values: Any) -> str:
        pairs = zip(values, writers, strict=True)
        return f"[{','.join(write(value) for value, write in pairs if value is not None or keeps_null)}]"

    return value_kernel(construct, result_type, nulls=True)


def _infer_json(site: CallSite) -> Signature:
    if len(site.arguments) != 1 or not isinstance(site.types[0], (*CHARACTER, NullType)):
        raise SignatureError("Invalid input arguments.")
    return Signature(site.types, STRING.with_nullability(site.any_nullable))


def _bind_json(site: CallSite, result_type: DataType) -> Kernel:
    raise EvaluationError(_MISPLACED)


def _bind_nested_json(site: CallSite, result_type: DataType) -> Kernel:
    def checked(text: str) -> str | None:
        if not text.strip():
            return None
        try:
            return dumps(loads(text))
        except JsonError as error:
            raise EvaluationError(f"Invalid JSON string: {text}: {error}") from error

    return value_kernel(checked, result_type)


def _variant(site: CallSite, types: Any) -> DataType:
    return VariantType(any(each.is_nullable for each in types))


FUNCTIONS = (
    ScalarFunction("JSON_STRING", _infer_json_string, _bind_json_string),
    ScalarFunction("JSON_OBJECT", _infer_object, _bind_object, nested=_NESTED),
    ScalarFunction("JSON_ARRAY", _infer_array, _bind_array, nested=_NESTED),
    ScalarFunction("JSON", _infer_json, _bind_json),
    ScalarFunction("$JSON", _infer_json, _bind_nested_json),
    ScalarFunction("PARSE_JSON", signature([CHARACTER, (BooleanType,)], _variant, optional=1), by_value(parse_json)),
    ScalarFunction(
        "TRY_PARSE_JSON",
        signature([CHARACTER, (BooleanType,)], nullable(_variant), optional=1),
        by_value(try_parse_json),
    ),
)
