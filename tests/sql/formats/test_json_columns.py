"""JSON lines are read alike with pyarrow and message by message."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.connectors.files.formats.json.reader import JsonSettings
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.json.arrow_reading import ArrowJsonColumns
from scurry.sql.formats.json.codec import JsonDecoder
from scurry.sql.formats.messages import DecodingError
from scurry.sql.types import (
    BigIntType,
    BooleanType,
    DateType,
    DoubleType,
    IntType,
    LocalZonedTimestampType,
    TimestampType,
    VarCharType,
)
from support.cases import cases

COLUMNS = (
    FormatColumn("i", IntType()),
    FormatColumn("l", BigIntType()),
    FormatColumn("f", DoubleType()),
    FormatColumn("s", VarCharType(100)),
    FormatColumn("b", BooleanType()),
    FormatColumn("d", DateType()),
    FormatColumn("t", TimestampType(3)),
    FormatColumn("z", LocalZonedTimestampType(6)),
)
VALUES = [
    "1", "-0", "1.9", "1.0", "1e2", "99999999999", "1e400", "NaN", "01", '"1"', '" 2 "', "null", "true", "[1]",
    '{"x": 1.50}', '"text"', '"\\u00e9"', '"é"', '"q\\"uote"', '"2024-02-29"', '"2023-02-29"',
    '"2024-02-29 01:02:03.1234567"',
    '"2024-02-29 01:02:03"', '"2024-02-29 01:02:03Z"', '"2024-02-29T01:02:03"', "", '"open',
]  # fmt: skip
KEYS = st.sampled_from([*(column.name for column in COLUMNS), "I", "other"])
OBJECTS = st.lists(st.tuples(KEYS, st.sampled_from(VALUES)), max_size=3).map(
    lambda fields: "{" + ", ".join(f'"{key}": {value}' for key, value in fields) + "}"
)
LINES = st.one_of(
    OBJECTS, OBJECTS, OBJECTS, st.sampled_from(["", " ", "[]", "1", "{} {}", "{}{}", "{", "}", " {} ", "x"])
)


@given(lines=st.lists(LINES, min_size=1, max_size=3), end=st.sampled_from(["", "\n", "\r\n"]))
@settings(max_examples=cases(400), deadline=None)
def test_both_ways_give_the_same_rows(lines: list[str], end: str) -> None:
    data = ("\n".join(lines) + end).encode()
    quick = ArrowJsonColumns(COLUMNS, iso=False).read(data)
    if quick is not None:
        slow = JsonDecoder(COLUMNS, JsonSettings()).decode(data.removesuffix(b"\n").split(b"\n"))
        assert repr(quick.to_pylist()) == repr(slow.to_pylist())


def test_a_whole_number_that_is_minus_0_is_0() -> None:
    assert ArrowJsonColumns(COLUMNS, iso=False).read(b'{"f": -0}\n') is None
    decoded = JsonDecoder(COLUMNS, JsonSettings()).decode([b'{"f": -0}', b'{"f": -0.0}'])
    assert repr(decoded.column(2).to_pylist()) == "[0.0, -0.0]"


def test_plain_lines_are_read_with_pyarrow() -> None:
    line = b'{"i": 1, "s": "x", "t": "2024-02-29 01:02:03.5", "z": "2024-02-29 01:02:03Z", "b": true, "f": 1}\n'
    quick = ArrowJsonColumns(COLUMNS, iso=False).read(line * 2)
    assert quick is not None and quick.num_rows == 2


def test_lines_that_pyarrow_cannot_judge_are_left_to_the_decoder() -> None:
    assert ArrowJsonColumns(COLUMNS, iso=False).read(b'{"i": "x"}\n') is None
    with pytest.raises(DecodingError, match="Fail to deserialize at field: i"):
        JsonDecoder(COLUMNS, JsonSettings()).decode([b'{"i": "x"}'])
