"""CSV is read alike with pyarrow and field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.connectors.files.filesystem import file_system
from scurry.connectors.files.formats.csv.arrow_columns import ArrowCsvColumns
from scurry.connectors.files.formats.csv.schema import CsvColumn, CsvDialect
from scurry.errors import MalformedRecordError
from scurry.sql.formats.csv.codec import CsvReader
from scurry.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntType,
    TimestampType,
    VarCharType,
)
from support.cases import cases

TYPES: list[DataType] = [
    IntType(),
    VarCharType(100),
    DecimalType(6, 2),
    DoubleType(),
    DateType(),
    TimestampType(3),
    BooleanType(),
]
DECLARED = (CsvColumn("first", VarCharType(100)), *(CsvColumn(f"c{i}", kind) for i, kind in enumerate(TYPES)))
FIELDS = [
    ["1", " 2 ", "-3", "+4", "x", "", "0x1F", "99999999999", "NIL", '"5"', "1_0"],
    ["a", '"b,c"', '"d""e"', '"f\ng"', "", "NIL", '"NIL"', " h ", 'i"j', "é"],
    ["1.5", "2.345", "-3", "", "12345.67", ".5", "1e2", " 1", "NIL", "1."],
    ["1.5", "NaN", "nan", "Infinity", "inf", "1e400", "", " 2 ", "NIL", "0x1p3"],
    ["2024-02-29", "2023-02-29", "2024-2-9", "", "NIL", "0001-01-01", " 2024-01-01", "2024-01-01 00:00:00"],
    ["2024-02-29 01:02:03", "2024-02-29 01:02:03.123456", "2024-02-29T01:02:03", "", "NIL", "2024-02-29"],
    ["true", "FALSE", " True ", "1", "", "NIL"],
]


def rows(reader: CsvReader, path: Path) -> Any:
    fs, inner = file_system(str(path))
    try:
        return [list(row.values()) for b in reader.read(fs, inner, 0, path.stat().st_size) for row in b.to_pylist()]
    except MalformedRecordError as error:
        return str(error).split(": ")[0]


@given(
    lines=st.lists(st.tuples(*map(st.sampled_from, FIELDS)), min_size=1, max_size=3),
    ignore=st.booleans(),
    end=st.sampled_from(["", "\n", "\n\n", "\r\n"]),
    columns=st.sets(st.integers(0, len(TYPES) - 1), min_size=1),
)
@settings(max_examples=cases(200), deadline=None)
def test_both_ways_give_the_same_rows_or_the_same_place(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[str, ...]],
    ignore: bool,
    end: str,
    columns: set[int],
) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(("\n".join(",".join(["x", *line]) for line in lines) + end).encode())
    chosen = tuple(f"c{i}" for i in sorted(columns))
    syntax = CsvDialect(DECLARED, null_value="NIL", ignore_errors=ignore)
    fast = rows(CsvReader(syntax, chosen), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArrowCsvColumns, "understands", staticmethod(lambda *_: False))
        slow = rows(CsvReader(syntax, chosen), path)
    assert repr(fast) == repr(slow)


def test_plain_lines_are_read_with_pyarrow() -> None:
    chosen = [column.name for column in DECLARED]
    assert ArrowCsvColumns.understands(CsvDialect(DECLARED), chosen)
    line = b'x,1,"a,b",1.50,2.5,2024-02-29,2024-02-29 01:02:03.5,true\n'
    columns = ArrowCsvColumns(CsvDialect(DECLARED), chosen).read(line)
    assert columns is not None
    assert [str(column[0]) for column in columns[1:4]] == ["1", "a,b", "1.50"]
