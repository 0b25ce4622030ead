"""State as columns: schemas in the forms people have them, and values that fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from scurry.common import Row
from scurry.common.typeinfo import Types
from scurry.errors import ArgumentError, TypeMismatchError
from scurry.runtime.savepoint.contents import as_text
from scurry.state.columns import keyed_columns, window_columns

pa = pytest.importorskip("pyarrow")


def parse(text: str) -> Any:
    return tuple(tuple(column.strip().split(" ", 1)) for column in text.split(","))


@dataclass
class Place:
    name: str
    height: float


@dataclass
class Visits:
    key: str
    count: int
    places: list[Place]
    by_day: dict[str, int]
    last: Place | None


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        (None, {"key": "STRING", "states": "MAP<STRING, STRING>"}),
        ("key STRING, count BIGINT", {"key": "STRING", "count": "BIGINT"}),
        ({"key": "INT", "count": Types.LONG()}, {"key": "INT", "count": "BIGINT"}),
        (Types.ROW_NAMED(["key", "n"], [Types.STRING(), Types.INT()]), {"key": "STRING", "n": "INT"}),
        (
            Visits,
            {
                "key": "STRING", "count": "BIGINT", "places": "ARRAY<STRUCT<name: STRING, height: DOUBLE>>",
                "by_day": "MAP<STRING, BIGINT>", "last": "STRUCT<name: STRING, height: DOUBLE>",
            },
        ),
    ],
)  # fmt: skip
def test_a_schema_may_be_ddl_a_dict_a_declared_type_or_a_dataclass(schema: Any, columns: dict[str, str]) -> None:
    assert dict(keyed_columns(schema, "visits", parse).schema) == columns


@pytest.mark.parametrize("schema", ["count BIGINT", {"count": "BIGINT"}])
def test_a_schema_without_a_key_is_refused(schema: Any) -> None:
    with pytest.raises(ArgumentError, match="needs a column named key"):
        keyed_columns(schema, "visits", parse)


def test_something_else_is_no_schema() -> None:
    with pytest.raises(ArgumentError, match="a schema is DDL"):
        keyed_columns(5, "visits", parse)


def test_a_state_that_a_key_has_not_is_null() -> None:
    columns = keyed_columns("key STRING, count BIGINT, last STRING", "visits", parse)
    arrow = pa.schema([("key", pa.string()), ("count", pa.int64()), ("last", pa.string())])
    batch = columns.record_batch([("ann", {"count": 2}), (("a", 1), {"last": ["x", 2]})], arrow)
    assert batch.to_pylist() == [
        {"key": "ann", "count": 2, "last": None},
        {"key": '["a", 1]', "count": None, "last": '["x", 2]'},
    ]


def test_a_value_that_does_not_fit_is_told_with_its_column() -> None:
    columns = keyed_columns("key STRING, count BIGINT", "visits", parse)
    arrow = pa.schema([("key", pa.string()), ("count", pa.int64())])
    expected = r"BIGINT of column 'count' \(operator 'visits'\) does not accept 'many'.*STRING column shows anything"
    with pytest.raises(TypeMismatchError, match=expected):
        columns.record_batch([("ann", {"count": 2}), ("bob", {"count": "many"})], arrow)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"), (None, None), (5, "5"), (True, "true"), ((1, "a"), '[1, "a"]'),
        (Place("top", 1.5), '{"name": "top", "height": 1.5}'), (Row(a=1, b=[2]), '{"a": 1, "b": [2]}'),
        (Row(1, 2), "[1, 2]"), ({1: Place("x", 0.0)}, '{"1": {"name": "x", "height": 0.0}}'), (b"\x00", '"AA=="'),
    ],
)  # fmt: skip
def test_text_columns_show_text_as_it_is_and_the_rest_as_json(value: Any, text: str | None) -> None:
    assert as_text(value) == text


def test_windows_have_bounds_and_contents() -> None:
    names: Callable[[Any], list[str]] = lambda kind: window_columns(kind, "w").names  # noqa: E731
    assert names("STRING") == ["key", "window_start", "window_end", "contents"]
    assert dict(window_columns(Types.LONG(), "w").schema)["contents"] == "BIGINT"
