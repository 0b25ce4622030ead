"""Lines of one layout are read with numpy, and exactly as message by message."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.connectors.files.formats.json.reader import JsonSettings
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.json import line_layout
from scurry.sql.formats.json.arrow_reading import ArrowJsonColumns
from scurry.sql.formats.json.codec import JsonDecoder
from scurry.sql.formats.json.line_layout import LineLayout, Lines
from scurry.sql.formats.messages import DecodingError
from scurry.sql.types import BigIntType, IntType, VarCharType
from support.cases import cases

COLUMNS = (FormatColumn("number", IntType()), FormatColumn("text", VarCharType(100)), FormatColumn("id", BigIntType()))
SCHEMA = pa.schema([("number", pa.int32()), ("text", pa.string()), ("id", pa.int64())])
NUMBERS = st.integers(-(2**31), 2**31 - 1) | st.sampled_from([0, -1, 7, 99999999, 100000000])
IDS = st.integers(-(10**16) + 1, 10**16 - 1)
TEXTS = st.text(st.characters(blacklist_characters='"\\', blacklist_categories=("Cc", "Cs")), max_size=12)
ROWS = st.lists(st.tuples(NUMBERS, TEXTS, IDS, TEXTS), min_size=1, max_size=5)
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : ")])


def block(rows: list[tuple[int, str, int, str]], separators: tuple[str, str] = (",", ":")) -> bytes:
    """Return rows as lines with the same members."""
    objects = ({"number": n, "text": t, "id": i, "other": o} for n, t, i, o in rows)
    return "".join(json.dumps(each, ensure_ascii=False, separators=separators) + "\n" for each in objects).encode()


def read(data: bytes) -> dict[str, list[Any]] | None:
    layout = LineLayout.of(data.split(b"\n")[0])
    columns = layout.read(data, SCHEMA, Lines()) if layout is not None else None
    return None if columns is None else {name: values.to_pylist() for name, values in columns.items()}


@given(rows=ROWS, separators=SEPARATORS, has_end=st.booleans())
def test_lines_of_one_layout_are_read(rows: list[Any], separators: tuple[str, str], has_end: bool) -> None:
    # behind a comma a quote looks like the beginning of a member
    rows = [(number, text.rstrip(", "), id, other.rstrip(", ")) for number, text, id, other in rows]
    data = block(rows, separators)
    numbers, texts, ids, _ = map(list, zip(*rows, strict=True))
    assert read(data if has_end else data[:-1]) == {"number": numbers, "text": texts, "id": ids}


@given(
    rows=ROWS,
    places=st.lists(st.integers(0, 10**6), min_size=1, max_size=2),
    change=st.sampled_from(["replace", "insert", "delete"]),
    text=st.sampled_from(
        ['"', ",", ":", "{", "}", "0", "9", "-", " ", "\n", "\r", "\t", "\\", "n", "é", '"id":1,', "}{"]
    ),
)
@settings(max_examples=cases(500))
def test_damaged_lines_are_read_as_message_by_message(
    rows: list[Any], places: list[int], change: str, text: str
) -> None:
    data = block(rows)
    for place in places:
        place %= len(data)
        data = data[:place] + (b"" if change == "delete" else text.encode()) + data[place + (change != "insert") :]
    quick = ArrowJsonColumns(COLUMNS, iso=False).read(data)
    if quick is not None:
        slow = JsonDecoder(COLUMNS, JsonSettings()).decode(data.removesuffix(b"\n").split(b"\n"))
        assert quick.to_pylist() == slow.to_pylist()


@pytest.mark.parametrize(
    "line",
    [
        '{"number":1,"text":"a","id":2,"text":"b"}',
        '{"number":1.5,"text":"a","id":2}',
        '{"number":1,"text":null,"id":2}',
        '{"number":1,"text":"a","id":12345678901234567}',
        '{"number":01,"text":"a","id":2}',
        '{"number":1,"text":"\\n","id":2}',
        '{"number":1,"text":2,"id":2}',
        '{"number":1,"text":"a,","id":2}',
        '{"number":1,"id":2}',
        '["number"]',
        "",
    ],
)
def test_other_lines_are_left_to_a_parser(line: str) -> None:
    assert read(line.encode()) is None
    good = b'{"number":1,"text":"a","id":2}'
    assert read(good) is not None
    assert read(good + b"\n" + line.encode() + b"\n" + good) is None


def test_a_number_too_large_for_its_column_is_an_error_of_its_line() -> None:
    data = block([(1, "a", 1, ""), (2**31, "b", 2, "")])
    assert ArrowJsonColumns(COLUMNS, iso=False).read(data) is None
    with pytest.raises(DecodingError, match="Fail to deserialize at field: number"):
        JsonDecoder(COLUMNS, JsonSettings()).decode(data.splitlines())


def test_large_blocks_are_read_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(i, "x" * (i % 50), -i, "y") for i in range(300)]
    monkeypatch.setattr(line_layout, "_CHUNK_BYTES", 500)
    assert read(block(rows)) == {
        "number": [row[0] for row in rows],
        "text": [row[1] for row in rows],
        "id": [row[2] for row in rows],
    }
