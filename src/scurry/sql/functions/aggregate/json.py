"""JSON_ARRAYAGG and JSON_OBJECTAGG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from scurry.common._types.json_text import quoted
from scurry.errors import EvaluationError
from scurry.sql.functions.aggregate.collections import LISTS
from scurry.sql.functions.aggregate.definition import (
    Accumulator,
    AggregateFunction,
    AggregateSite,
    BatchState,
    Column,
    Groups,
)
from scurry.sql.functions.aggregate.grouped import listed, merged_lists
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.functions.scalar.json_construction import json_writer
from scurry.sql.functions.signatures import refuse
from scurry.sql.types import CharType, DataType, VarCharType
from scurry.sql.types.values import to_values

_RESULT = VarCharType(2000, False)


class JsonTexts(Accumulator):
    """Keeps all values as JSON texts; the state is a list of keys, if there are any, and one of texts."""

    def __init__(self, text: Callable[[Any], str], keyed: bool, absent_on_null: bool) -> None:
        self._text = text
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
    shown = (f"{quoted(key)}:{_or_null(found[key])}" for key in sorted(found))
    return "{" + ",".join(shown) + "}"


def _check_value(site: AggregateSite, data_type: DataType) -> None:
    try:
        json_writer(data_type, site.session)
    except SignatureError as error:
        shown = data_type.as_summary_string()
        raise SignatureError(f"Type '{shown}' is not scalar or cannot be converted into JSON.") from error


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
        text = str if "JSON" in symbols else json_writer(site.types[1 if keyed else 0], site.session)
        return JsonTexts(text, keyed, "ABSENT ON NULL" in symbols)

    return make


_ARRAY: Final = replace(LISTS, mergeable=False, value_of_nothing="[]")
_OBJECT: Final = replace(LISTS, order_free=True, value_of_nothing="{}")
FUNCTIONS = (
    AggregateFunction(
        "JSON_ARRAYAGG",
        _infer_array,
        _maker(keyed=False),
        _ARRAY,
        batch_state=BatchState.WHOLE,
        null_arguments=frozenset({0}),
    ),
    AggregateFunction(
        "JSON_OBJECTAGG",
        _infer_object,
        _maker(keyed=True),
        _OBJECT,
        batch_state=BatchState.WHOLE,
        null_arguments=frozenset({1}),
    ),
)
