"""JSON_ARRAYAGG and JSON_OBJECTAGG."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.functions.aggregate.definition import AggregateFunction, AggregateSite, Column, Groups
from scurry.functions.aggregate.grouped import listed, merged_lists
from scurry.functions.definition import Signature, SignatureError
from scurry.functions.signatures import refuse
from scurry.logical_types import (
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    NumericType,
    VarBinaryType,
    VarCharType,
)
from scurry.logical_types.values import to_values

__all__ = ["FUNCTIONS"]

_RESULT = VarCharType(2000, False)


class JsonTexts:
    """Keeps all values as JSON texts; the state is a list of keys, if there are any, and one of texts."""

    def __init__(self, value_type: DataType, keyed: bool, absent_on_null: bool, is_json: bool) -> None:
        self._text = (lambda value: value) if is_json else _texts_of(value_type)
        self._keyed = keyed
        self._absent = absent_on_null

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        place = 1 if self._keyed else 0
        texts = [None if each is None else self._text(each) for each in to_values(columns[place])]
        column = pa.array(texts, pa.string())
        keys = [columns[0]] if self._keyed else []
        if self._absent and column.null_count:
            kept = column.is_valid()
            groups = groups[kept.to_numpy(zero_copy_only=False)]
            column, keys = column.filter(kept), [each.filter(kept) for each in keys]
        return [listed(each, groups, count) for each in (*keys, column)]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [merged_lists(each, groups, count) for each in states]

    def result(self, states: Sequence[Column]) -> Column:
        if not self._keyed:
            return pa.array(["[" + ",".join(map(_or_null, each)) + "]" for each in states[0].to_pylist()], pa.string())
        pairs = zip(states[0].to_pylist(), states[1].to_pylist(), strict=True)
        return pa.array([_object(keys, values) for keys, values in pairs], pa.string())


def _or_null(text: str | None) -> str:
    return "null" if text is None else text


def _object(keys: list[str | None], values: list[str | None]) -> str:
    found: dict[str, str | None] = {}
    for key, value in zip(keys, values, strict=True):
        if key is None:
            raise EvaluationError("Key of JSON_OBJECTAGG is NULL.")
        if key in found:
            raise EvaluationError(
                f"Key '{key}' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG. "
                "Please ensure that keys are unique."
            )
        found[key] = value
    shown = (f"{json.dumps(key, ensure_ascii=False)}:{_or_null(found[key])}" for key in sorted(found))
    return "{" + ",".join(shown) + "}"


def _texts_of(data_type: DataType) -> Callable[[Any], str]:
    """Return how values of a type are written as JSON."""
    if isinstance(data_type, BooleanType):
        return lambda value: "true" if value else "false"
    if isinstance(data_type, BinaryType | VarBinaryType):
        import base64

        return lambda value: json.dumps(base64.b64encode(value).decode())
    if isinstance(data_type, NumericType):
        return _number
    return lambda value: json.dumps(value, ensure_ascii=False)


def _number(value: Any) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    return repr(value) if not isinstance(value, float) or abs(value) < 1e16 else format(value, "E")


def _check_value(site: AggregateSite, data_type: DataType) -> None:
    if not isinstance(data_type, NumericType | BooleanType | CharType | VarCharType | BinaryType | VarBinaryType):
        raise SignatureError(f"Type '{data_type.as_summary_string()}' is not scalar or cannot be converted into JSON.")


def _infer_array(site: AggregateSite) -> Signature:
    _check_value(site, site.types[0])
    return Signature(site.types, _RESULT)


def _infer_object(site: AggregateSite) -> Signature:
    if not isinstance(site.types[0], CharType | VarCharType):
        treatment = str(site.arguments[2].value).replace(" ", "_")
        name = f"JSON_OBJECTAGG_{treatment}"
        shown = AggregateSite(name, site.arguments[:2], site.session)
        raise refuse(shown, f"'{name}(<CHARACTER>, <ANY>)'")
    _check_value(site, site.types[1])
    return Signature(site.types, _RESULT)


def _maker(keyed: bool) -> Callable[[AggregateSite, DataType], JsonTexts]:
    def make(site: AggregateSite, result_type: DataType) -> JsonTexts:
        symbols = [each.value for each in site.arguments[2 if keyed else 1 :]]
        value_type = site.types[1 if keyed else 0]
        return JsonTexts(value_type, keyed, "ABSENT ON NULL" in symbols, "JSON" in symbols)

    return make


FUNCTIONS = (
    AggregateFunction("JSON_ARRAYAGG", _infer_array, _maker(keyed=False)),
    AggregateFunction("JSON_OBJECTAGG", _infer_object, _maker(keyed=True)),
)
