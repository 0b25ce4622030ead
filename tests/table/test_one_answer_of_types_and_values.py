"""Types and values are converted in one place: each way into a table gives the same type and the same value."""

from __future__ import annotations

import ast
import dataclasses
import datetime
import decimal
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scurry
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream._records import row_data_type
from scurry.sql.types import DataType
from scurry.sql.types.arrow import arrow_type, sql_type
from scurry.sql.types.values import from_values, to_values
from scurry.sql.values.arguments import python_values
from scurry.sql.values.collected import python_value
from scurry.sql.values.elements import internal_value, unverified_value
from scurry.sql.values.hints import type_of_hint, type_of_value
from scurry.sql.values.records import record_values
from scurry.sql.values.results import ResultColumn
from scurry.sql.values.type_information import to_type_info, value_type
from scurry.table import DataTypes, StreamTableEnvironment
from scurry.table.udf import udf

SOURCES = Path(scurry.__file__).parent
#: A value of each class that has a SQL type, with the type of annotations.
HINTS: dict[type, tuple[Any, DataType]] = {
    bool: (True, DataTypes.BOOLEAN()),
    int: (2**40, DataTypes.BIGINT()),
    float: (0.1, DataTypes.DOUBLE()),
    str: ("a", DataTypes.STRING()),
    bytes: (b"\x00\xff", DataTypes.BYTES()),
    decimal.Decimal: (decimal.Decimal("1.500000000000000000"), DataTypes.DECIMAL(38, 18)),
    datetime.date: (datetime.date(2026, 11, 28), DataTypes.DATE()),
    datetime.time: (datetime.time(16, 51, 50, 123_000), DataTypes.TIME(3)),
    datetime.datetime: (datetime.datetime(2026, 11, 28, 16, 51, 50, 123_456), DataTypes.TIMESTAMP(6)),
    Instant: (Instant(1, 123_456_789), DataTypes.TIMESTAMP_LTZ(9)),
}
#: PyFlink infers other types of values: `tests/oracle/convert/inferred_types_of_values.py`.
INFERRED = {
    datetime.time: DataTypes.TIME(0),
    datetime.datetime: DataTypes.TIMESTAMP_LTZ(6),
    Instant: DataTypes.TIMESTAMP_LTZ(6),
}
#: A value of each SQL type that has Python values.
VALUES: list[tuple[DataType, Any]] = [
    *((found, value) for value, found in HINTS.values()),
    (DataTypes.TINYINT(), -128),
    (DataTypes.SMALLINT(), 32_767),
    (DataTypes.INT(), -(2**31)),
    (DataTypes.FLOAT(), 0.5),
    (DataTypes.CHAR(2), "ab"),
    (DataTypes.BINARY(2), b"ab"),
    (DataTypes.DECIMAL(5, 2), decimal.Decimal("-123.40")),
    (DataTypes.TIMESTAMP(0), datetime.datetime(1969, 12, 31, 23, 59, 59)),
    (DataTypes.TIMESTAMP(9), datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    (DataTypes.TIMESTAMP_LTZ(3), Instant(-1, 999_000_000)),
    (DataTypes.DATE(), datetime.date(1, 1, 1)),
    (DataTypes.ARRAY(DataTypes.DATE()), [datetime.date(1970, 1, 1), None]),
    (DataTypes.MAP(DataTypes.STRING(), DataTypes.TIME(3)), {"k": datetime.time(1)}),
    (
        DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.ARRAY(DataTypes.INT()))]),
        Row(a=1, b=[2, None]),
    ),
]


def comparable(value: Any) -> Any:
    """Return a value so that those of all receivers can be compared: these have their own classes of bytes and rows."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, Row):
        return [comparable(each) for each in value]
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        micros = (value - datetime.datetime.fromtimestamp(0, datetime.UTC)) // datetime.timedelta(microseconds=1)
        return Instant(micros // 1_000_000, micros % 1_000_000 * 1000)
    return value


def without_nanos(value: Any) -> Any:
    return Instant(value.seconds, value.nanos // 1000 * 1000) if isinstance(value, Instant) else value


@pytest.mark.parametrize("cls", HINTS, ids=lambda cls: cls.__name__)
def test_annotations_have_one_type_wherever_they_stand(cls: type) -> None:
    value, wanted = HINTS[cls]
    env = StreamExecutionEnvironment.get_execution_environment()
    tables = StreamTableEnvironment.create(env)

    def function() -> Any:
        return value

    function.__annotations__["return"] = cls
    record = dataclasses.make_dataclass("Record", [("field", cls)])
    globals()["Record"] = record
    stream = tables.from_data_stream(env.from_collection([record(value)], type_info=record))
    called = tables.from_elements([(1,)], ["a"]).select(udf(function)())
    found = {
        "hint": type_of_hint(cls),
        "optional": type_of_hint(cls | None),
        "function": called.get_resolved_schema().get_column_data_types()[0],
        "stream": stream.get_resolved_schema().get_column_data_types()[0],
        "file": row_data_type(record).fields[0].data_type,
    }
    assert found == dict.fromkeys(found, wanted)


@pytest.mark.parametrize("cls", HINTS, ids=lambda cls: cls.__name__)
def test_values_have_the_types_that_pyflink_infers(cls: type) -> None:
    value, wanted = HINTS[cls]
    assert type_of_value(value) == INFERRED.get(cls, wanted)


@pytest.mark.parametrize(("data_type", "value"), VALUES, ids=lambda each: str(each)[:40])
def test_a_value_is_the_same_by_all_ways_in_and_out(data_type: DataType, value: Any) -> None:
    column = ResultColumn(data_type)([value, None])
    ways_in = {
        "element": from_values([internal_value(data_type)(value), None], data_type),
        "unverified": from_values([unverified_value(data_type)(value), None], data_type),
    }
    assert {way: found.equals(column) for way, found in ways_in.items()} == dict.fromkeys(ways_in, True)
    collect = python_value(data_type)
    ways_out = {
        "record": record_values(column, data_type),
        "collect": [collect(each) for each in to_values(column)],
    }
    wanted = [comparable(value), None]
    assert {way: [*map(comparable, found)] for way, found in ways_out.items()} == dict.fromkeys(ways_out, wanted)
    arguments = python_values(column, data_type, "UTC")
    assert [comparable(each) for each in arguments] == [without_nanos(each) for each in wanted]


@pytest.mark.parametrize(("data_type", "value"), VALUES, ids=lambda each: str(each)[:40])
def test_arrow_and_streams_give_the_family_of_a_type_back(data_type: DataType, value: Any) -> None:
    from_arrow, from_stream = sql_type(arrow_type(data_type)), value_type(to_type_info(data_type))
    if arrow_type(data_type) not in (arrow_type(DataTypes.TIMESTAMP(p)) for p in (3, 6, 9)):
        assert arrow_type(from_arrow) == arrow_type(data_type)
    assert type(from_stream) in (type(data_type), *_WIDER.get(type(data_type), ()))


_WIDER: dict[type, tuple[type, ...]] = {
    type(DataTypes.CHAR(1)): (type(DataTypes.STRING()),),
    type(DataTypes.BINARY(1)): (type(DataTypes.BYTES()),),
}


def files_with(kind: type, pattern: str, check: Callable[[Any], bool]) -> set[str]:
    """Return the modules with such a node; only those in which the pattern is found are parsed."""
    texts = ((file, file.read_text(encoding="utf-8")) for file in SOURCES.rglob("*.py"))
    return {
        file.relative_to(SOURCES).as_posix()
        for file, text in texts
        if re.search(pattern, text)
        and any(isinstance(node, kind) and check(node) for node in ast.walk(ast.parse(text)))
    }


def test_the_epoch_is_defined_once() -> None:
    def is_epoch(call: ast.Call) -> bool:
        return ast.unparse(call).split("(")[0].split(".")[-1] in ("date", "datetime") and [
            each.value for each in call.args if isinstance(each, ast.Constant)
        ] == [1970, 1, 1]

    assert files_with(ast.Call, "1970", is_epoch) == {"common/_epoch.py"}


def test_the_longest_length_is_defined_once() -> None:
    def is_length(constant: ast.Constant) -> bool:
        return type(constant.value) is int and constant.value == 0x7FFFFFFF

    found = files_with(ast.Constant, "(?i)0x7_?f|2_?147_?483_?647", is_length)
    assert {file.rpartition("/")[2] for file in found} == {"atomic_types.py"}


def test_types_of_python_classes_and_bits_of_types_are_listed_once() -> None:
    def of_classes(listed: ast.Dict) -> bool:
        keys = {ast.unparse(key) for key in listed.keys if key is not None}
        return {"int", "float", "str"} <= keys and "Type(" in ast.unparse(listed)

    def of_bits(listed: ast.Dict) -> bool:
        return {"8", "16", "32", "64"} <= {ast.unparse(value) for value in listed.values} and any(
            "IntType" in ast.unparse(key) for key in listed.keys if key is not None
        )

    assert {file.rpartition("/")[2] for file in files_with(ast.Dict, r"Type\(", of_classes)} == {"hints.py"}
    assert files_with(ast.Dict, "IntType", of_bits) == set()
