"""JSON and CSV in UTF-8 with a byte order mark, and in UTF-16: as Jackson, by which Flink reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Types
from scurry.connectors.files.formats.format import FileFormat
from scurry.connectors.files.formats.json.reader import JsonSettings
from scurry.connectors.files.reading.source import FileSource
from scurry.connectors.source import BatchLimits
from scurry.datastream.formats.csv import CsvReaderFormat, CsvRowDeserializationSchema, CsvSchema
from scurry.datastream.formats.json import JsonReaderFormat, JsonRowDeserializationSchema
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.json.codec import JsonDecoder
from scurry.sql.types import IntType, VarCharType
from scurry.table import DataTypes
from support.statements.tables import environment, rows

ROW = Types.ROW_NAMED(["id", "s"], [Types.INT(), Types.STRING()])
MARKS = {"utf-8": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-32-le": b"\xff\xfe\0\0"}
#: name -> mark and codec
ENCODINGS = {
    "utf-8": (b"", "utf-8"),
    "utf-8 with a mark": (b"", "utf-8-sig"),
    **{f"{codec} with a mark": (mark, codec) for codec, mark in MARKS.items() if mark},
    **{codec: (b"", codec) for codec in ("utf-16-le", "utf-16-be", "utf-32-be")},
}


def encoded(text: str, encoding: str) -> bytes:
    mark, codec = ENCODINGS[encoding]
    return mark + text.encode(codec)


JSON, CSV = '{"id": 1, "s": "ä€"}', "1,ä€"
CHANGE = '{"before": null, "after": {"id": 1, "s": "ä€"}, "op_type": "I"}'


def of_stream(schema: Any, message: bytes) -> tuple[Any, ...]:
    return tuple(schema.deserialize(message))


def json_messages(ignoring: bool) -> Any:
    builder = JsonRowDeserializationSchema.builder().type_info(ROW)
    return (builder.ignore_parse_errors() if ignoring else builder).build()


def of_table(message: bytes) -> tuple[Any, ...]:
    columns = (FormatColumn("id", IntType()), FormatColumn("s", VarCharType(0x7FFFFFFF)))
    (row,) = JsonDecoder(columns, JsonSettings()).decode([message]).to_pylist()
    return tuple(row.values())


MESSAGES: dict[str, tuple[str, Callable[[bytes], tuple[Any, ...]]]] = {
    "JSON": (JSON, lambda message: of_stream(json_messages(False), message)),
    "JSON, ignoring errors": (JSON, lambda message: of_stream(json_messages(True), message)),
    "CSV": (CSV, lambda message: of_stream(CsvRowDeserializationSchema.Builder(ROW).build(), message)),
    "JSON of a table": (JSON, of_table),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", MESSAGES)
def test_messages(kind: str, encoding: str) -> None:
    text, read = MESSAGES[kind]
    assert read(encoded(text, encoding)) == (1, "ä€")


LINES = 300


def text_of_file(line: str) -> str:
    return "".join(line.replace("1", str(number), 1) + "\n" for number in range(LINES))


def csv_of_streams(header: bool) -> FileFormat:
    columns = CsvSchema.builder().add_number_column("id", DataTypes.INT()).add_string_column("s")
    return CsvReaderFormat.for_schema((columns.set_use_header() if header else columns).build())


@pytest.mark.parametrize("limit", [100, 1 << 20])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_csv_files_of_streams(encoding: str, header: bool, limit: int, tmp_path: Path) -> None:
    text = ("id,s\n" if header else "") + text_of_file(CSV)
    (tmp_path / "f").write_bytes(encoded(text, encoding))
    source = FileSource(csv_of_streams(header), [str(tmp_path)])
    enumerator = source.create_enumerator(2, BatchLimits(max_bytes=limit))
    found: list[Any] = []
    while batch := enumerator.next_batch():
        for each in batch:
            if each.work is not None:
                for chunk in source.read(each.work, _sizer()):
                    found += map(tuple, chunk[0])  # type: ignore[index]
    assert found == [(number, "ä€") for number in range(LINES)]


def _sizer() -> Any:
    from scurry.connectors.source import ChunkSizer

    return ChunkSizer()


FILES = [("csv", encoding) for encoding in ENCODINGS] + [(kind, "utf-8 with a mark") for kind in ("json", "ogg-json")]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("ignoring", [True, False])
@pytest.mark.parametrize(("kind", "encoding"), FILES)
def test_files_of_tables(kind: str, encoding: str, ignoring: bool, streaming: bool, tmp_path: Path) -> None:
    if kind == "ogg-json" and not streaming:
        pytest.skip("changes are not read in BATCH")
    text = {"csv": CSV, "json": JSON, "ogg-json": CHANGE}[kind]
    (tmp_path / "f").write_bytes(encoded(text_of_file(text), encoding))
    env = environment(streaming)
    options = f"'connector' = 'filesystem', 'format' = '{kind}', 'path' = '{tmp_path}'"
    if ignoring:
        options += f", '{kind}.ignore-parse-errors' = 'true'"
    env.execute_sql(f"CREATE TABLE t (id INT, s STRING) WITH ({options})")
    assert sorted(rows(env, "SELECT id, s FROM t")) == [(number, "ä€") for number in range(LINES)]


def test_json_lines_of_streams(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(encoded(text_of_file(JSON), "utf-8 with a mark"))
    source = FileSource(JsonReaderFormat.for_type_info(ROW), [str(tmp_path)])
    (assignment,) = source.create_enumerator(1, BatchLimits()).next_batch()
    found = [tuple(row) for chunk in source.read(assignment.work, _sizer()) for row in chunk[0]]  # type: ignore[index]
    assert found == [(number, "ä€") for number in range(LINES)]
