"""Functions of JSON texts: IS JSON, JSON_EXISTS, JSON_VALUE, JSON_QUERY, JSON_QUOTE.

Keywords are arguments: JSON_VALUE(text, path, ON EMPTY, its default, ON ERROR, its default), JSON_QUERY(text, path,
wrapper, ON EMPTY, ON ERROR), JSON_EXISTS(text, path, ON ERROR). The type after RETURNING is the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from scurry.errors import EvaluationError
from scurry.sql import types
from scurry.sql.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.java_text import plain_decimal
from scurry.sql.functions.json_path import PathError, read_path
from scurry.sql.functions.json_text import JsonError, dumps, loads
from scurry.sql.functions.kernels import Bind, by_value, value_kernel
from scurry.sql.functions.signatures import always, if_any_nullable, refuse, signature
from scurry.sql.types.families import BINARY, BOOLEAN, CHARACTER, COLLECTION, STRING, TIMESTAMP

_MODE: Final = re.compile(r"\s*(strict|lax)\s+(.+)", re.IGNORECASE | re.DOTALL)
_TEXT: Final = (*CHARACTER, types.NullType)


_ESCAPES: Final = {
    '"': '\\"',
    "/": "\\/",
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}


class _Failure:
    """Failure to read JSON; `message` tells the cause."""

    def __init__(self, message: str) -> None:
        self.message = message


def _read(text: str, path: str) -> tuple[bool, Any]:
    """Return whether the mode is lax, and the value at a path in a text, which may be a failure."""
    match = _MODE.fullmatch(path)
    lax = match is not None and match[1].lower() == "lax"
    spec = path if match is None else match[2]
    try:
        value = loads(text)
    except JsonError as error:
        return lax, None if lax else _Failure(str(error))
    if value is None:
        return lax, _Failure("json object can not be null")
    try:
        found = read_path(value, spec, lenient=lax)
    except PathError as error:
        return lax, _Failure(str(error))
    if found is None and not lax:
        return lax, _Failure("Strict jsonpath mode requires a non empty returned value, but is null")
    return lax, found


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _infer_exists(site: CallSite) -> Signature:
    _check_texts(site)
    return Signature(site.types, BOOLEAN)


def _check_texts(site: CallSite) -> None:
    # Flink's planner takes any type for the document.
    if len(site.arguments) < 2 or not isinstance(site.types[1], _TEXT):
        raise refuse(site, f"'{site.name}(<CHARACTER>, <CHARACTER>)'")
    if any(isinstance(each, types.NullType) for each in site.types[:2]):
        raise SignatureError("Illegal use of 'NULL'")


def _symbol(site: CallSite, place: int, default: str) -> str:
    if place < len(site.arguments) and isinstance(site.types[place], types.SymbolType):
        return str(site.arguments[place].value)
    return default


def _document(data_type: types.DataType) -> Callable[[Any], str]:
    """Return the function from a document to its text, which for types that have no JSON is not JSON either.

    Raises:
        EvaluationError: The type is one for whose values Flink's code does not compile.
    """
    if isinstance(data_type, CHARACTER):
        return str
    if isinstance(data_type, types.DecimalType):
        return plain_decimal
    if isinstance(data_type, (*TIMESTAMP, *BINARY, *COLLECTION, types.RowType)):
        return lambda value: "no JSON"
    raise EvaluationError('A method named "toString" is not declared in any enclosing class')


def _bind_exists(site: CallSite, result_type: types.DataType) -> Kernel:
    if not isinstance(site.types[0], CHARACTER):
        raise EvaluationError(f"Unsupported call: JSON_EXISTS({site.types[0].as_summary_string()}, ...)")
    if not isinstance(site.types[1], types.CharType):
        # Flink has code for paths of type CHAR only, as literals are.
        shown = ", ".join(each.as_summary_string() for each in site.types[:2])
        raise EvaluationError(f"Unsupported call: JSON_EXISTS({shown})")
    on_error = _symbol(site, 2, "FALSE")

    def exists(text: str, path: str) -> bool | None:
        _, value = _read(text, path)
        if not isinstance(value, _Failure):
            return value is not None
        if on_error == "ERROR":
            raise EvaluationError(value.message)
        return {"TRUE": True, "FALSE": False}.get(on_error)

    kernel = value_kernel(exists, result_type)
    return lambda columns, rows: kernel(columns[:2], rows)


def _infer_value(site: CallSite) -> Signature:
    _check_texts(site)
    target = site.target or STRING
    if not isinstance(target, (types.VarCharType, types.BooleanType, types.IntType, types.DoubleType)):
        raise SignatureError(f"Unsupported type '{target.as_summary_string()}' for RETURNING in JSON_VALUE().")
    for behavior, default in zip(site.arguments[2::2], site.arguments[3::2], strict=True):
        if behavior.value == "DEFAULT" and isinstance(default.type, types.NullType):
            raise SignatureError("Illegal use of 'NULL'")
    return Signature(site.types, target.nullable())


def _bind_value(site: CallSite, result_type: types.DataType) -> Kernel:
    on_empty, on_error = _symbol(site, 2, "NULL"), _symbol(site, 4, "NULL")
    document = _document(site.types[0])
    convert: Callable[[Any], Any] = _CONVERSIONS.get(type(result_type), _scalar_text)
    # No default is the BigDecimal that Flink takes for a DOUBLE.
    convert_default = _as_class("DOUBLE") if isinstance(result_type, types.DoubleType) else convert

    def json_value(
        text: str | None, path: str | None, _: Any = None, empty: Any = None, __: Any = None, error: Any = None
    ) -> Any:
        if text is None or path is None:
            return None
        lax, value = _read(document(text), path)
        if not isinstance(value, _Failure) and not lax and value is not None and not _is_scalar(value):
            value = _Failure("Strict jsonpath mode requires scalar value, and the actual value is: " + dumps(value))
        if isinstance(value, _Failure):
            return _answer(on_error, value.message, error, convert_default)
        if value is None or not _is_scalar(value):
            return _answer(on_empty, "Empty result of JSON_VALUE function is not allowed", empty, convert_default)
        return convert(value)

    return value_kernel(json_value, result_type, nulls=True)


def _answer(behavior: str, message: str, default: Any, convert: Callable[[Any], Any]) -> Any:
    if behavior == "ERROR":
        raise EvaluationError(message)
    return convert(default) if behavior == "DEFAULT" and default is not None else None


def _scalar_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _as_class(name: str, *classes: type) -> Callable[[Any], Any]:
    """Return a function that passes values of a class on; Flink does not convert others, but fails."""

    def convert(value: Any) -> Any:
        known: Any = value
        if not isinstance(value, classes) or (isinstance(value, bool) and bool not in classes):
            raise EvaluationError(f"a {type(value).__name__} of JSON is no {name}")
        if name == "INT" and not -(2**31) <= known < 2**31:
            raise EvaluationError(f"{known} of JSON is no {name}: it has more than 32 bits")
        return float(known) if name == "DOUBLE" else value

    return convert


_CONVERSIONS: Final[dict[type[types.DataType], Callable[[Any], Any]]] = {
    types.BooleanType: _as_class("BOOLEAN", bool),
    types.IntType: _as_class("INT", int),
    types.DoubleType: _as_class("DOUBLE", Decimal, float),
}


def _infer_query(site: CallSite) -> Signature:
    _check_texts(site)
    target = site.target or STRING
    if isinstance(target, types.ArrayType):
        if not isinstance(target.element_type, types.VarCharType):
            raise SignatureError(
                f"Unsupported array element type '{target.element_type.type_name()}' for RETURNING ARRAY in "
                "JSON_QUERY()."
            )
        for event, place in (("error", 4), ("empty", 3)):
            if _symbol(site, place, "NULL") == "EMPTY OBJECT":
                raise SignatureError(f"Illegal on {event} behavior 'EMPTY OBJECT' for return type: {target}")
    elif not isinstance(target, types.VarCharType):
        raise SignatureError(f"Unsupported type '{target.as_summary_string()}' for RETURNING in JSON_QUERY().")
    return Signature(site.types, target.nullable())


def _bind_query(site: CallSite, result_type: types.DataType) -> Kernel:
    wrapper = _symbol(site, 2, "WITHOUT ARRAY")
    on_empty, on_error = _symbol(site, 3, "NULL"), _symbol(site, 4, "NULL")
    as_array = isinstance(result_type, types.ArrayType)
    document = _document(site.types[0])

    def answer(behavior: str, message: str) -> Any:
        if behavior == "ERROR":
            raise EvaluationError(message)
        if behavior == "EMPTY ARRAY":
            return [] if as_array else "[]"
        return "{}" if behavior == "EMPTY OBJECT" and not as_array else None

    def query(text: Any, path: str) -> Any:
        lax, value = _read(document(text), path)
        if isinstance(value, _Failure):
            return answer(on_error, value.message)
        if value is not None and "UNCONDITIONAL" in wrapper:
            value = [value]
        elif value is not None and "CONDITIONAL" in wrapper and not isinstance(value, list):
            value = [value]
        if value is None or (lax and _is_scalar(value)):
            return answer(on_empty, "Empty result of JSON_QUERY function is not allowed")
        if _is_scalar(value):
            return answer(on_error, "Strict jsonpath mode requires array or object value")
        if not as_array:
            return dumps(value)
        if not isinstance(value, list):
            return answer(on_error, "Cannot convert a JSON object to an array")
        return [_element_text(each) for each in value]

    kernel = value_kernel(query, result_type)
    return lambda columns, rows: kernel(columns[:2], rows)


def _element_text(value: Any) -> str | None:
    if value is None:
        return None
    return _scalar_text(value) if _is_scalar(value) else dumps(value)


def _is_json(kind: str, negated: bool) -> Bind:
    checks: dict[str, Callable[[Any], bool]] = {
        "VALUE": lambda value: True,
        "OBJECT": lambda value: isinstance(value, dict),
        "ARRAY": lambda value: isinstance(value, list),
        "SCALAR": _is_scalar,
    }

    def test(text: str | None) -> bool:
        if text is None:
            return negated
        try:
            return checks[kind](loads(text)) != negated
        except JsonError:
            return negated

    return lambda site, result_type: value_kernel(test, result_type, nulls=True)


def _tests() -> tuple[ScalarFunction, ...]:
    found = []
    for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR"):
        for negated in (False, True):
            name = f"IS {'NOT ' if negated else ''}JSON {kind}"
            infer = signature([CHARACTER], always(BOOLEAN.not_null()))
            found.append(ScalarFunction(name, infer, _is_json(kind, negated)))
    return tuple(found)


def quote(text: str) -> str:
    """JSON_QUOTE: the text as a JSON string."""
    return '"' + "".join(_ESCAPES.get(each) or (each if each.isascii() else _units(each)) for each in text) + '"'


def _units(character: str) -> str:
    """Return the escapes of a character; of two units, Flink writes the whole character in place of the first."""
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\u{code:04x}\\u{0xDC00 + (code & 0x3FF):04x}"


_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_UNESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}


def unquote(text: str) -> str:
    """JSON_UNQUOTE: the text of a JSON string, and any other text as it is."""
    if not (text.startswith('"') and text.endswith('"')):
        return text
    try:
        loads(text)
        units = _ESCAPED.sub(lambda found: _unescaped(found[1]), text[1:-1])
    except (JsonError, KeyError):
        return text
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) == 5 else _UNESCAPES[escape]


FUNCTIONS = (
    ScalarFunction("JSON_EXISTS", _infer_exists, _bind_exists),
    ScalarFunction("JSON_VALUE", _infer_value, _bind_value),
    ScalarFunction("JSON_QUERY", _infer_query, _bind_query),
    ScalarFunction("JSON_QUOTE", signature([CHARACTER], if_any_nullable(STRING)), by_value(quote)),
    ScalarFunction("JSON_UNQUOTE", signature([CHARACTER], if_any_nullable(STRING)), by_value(unquote)),
    *_tests(),
)
