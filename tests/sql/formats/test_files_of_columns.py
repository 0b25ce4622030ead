"""Parquet and ORC: streams and tables write the same files, and read the same values of them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from scurry.common import Row
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.files.formats.columnar import BatchRows
from scurry.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from scurry.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from scurry.errors import MalformedRecordError, TypeMismatchError
from scurry.sql.catalog.table_options import Options
from scurry.sql.formats.columnar import OrcFormat, ParquetFormat
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types.values import to_values
from scurry.table.types import DataTypes
from support.connectors.column_values import COLUMNS, NULLS, ROW_OF_ALL, VALUES

TIMES = [("u", DataTypes.TIME(3), datetime.time(1, 2, 3, 4000)), ("v", DataTypes.TIMESTAMP(9), VALUES[11])]
ROW = DataTypes.ROW([*ROW_OF_ALL.fields, *(DataTypes.FIELD(name, kind) for name, kind, _ in TIMES)])
ROWS = [Row(*VALUES, *(value for _, _, value in TIMES)), Row(*NULLS, None, None)]
FORMATS: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "parquet": (
        ParquetFormat(),
        lambda row: ParquetColumnarRowInputFormat(row, is_utc_timestamp=True),
        lambda row: ParquetBulkWriters.for_row_type(row, utc_timestamp=True),
    ),
    "orc": (OrcFormat(), OrcColumnarRowInputFormat, OrcBulkWriters.for_row_type),
}
both = pytest.mark.parametrize("name", FORMATS)


def columns_of(row: Any) -> list[FormatColumn]:
    return [FormatColumn(field.name, field.data_type) for field in row]


def read_by_a_table(name: str, path: Path, row: Any) -> pa.Table:
    columns = columns_of(row)
    reader = FORMATS[name][0].file_reader(columns, [each.name for each in columns], Options({}))
    return pa.Table.from_batches(reader.read(file_system(str(path))[0], str(path), 0, path.stat().st_size))


def read_by_a_stream(name: str, path: Path, row: Any) -> list[Row]:
    size = path.stat().st_size
    blocks = FORMATS[name][1](row).read(file_system(str(path))[0], str(path), 0, size, size)
    return [each for block in blocks for each in block[:]]


def written_by_a_table(name: str, path: Path, row: Any, batch: pa.RecordBatch) -> Path:
    factory = FORMATS[name][0].file_writer(columns_of(row), Options({}))
    return written(factory, path, [batch])


def written(factory: Any, path: Path, values: list[Any]) -> Path:
    with open(path, "wb") as stream:
        writer = factory.create(stream)
        writer.write(values)
        writer.finish()
    return path


@both
def test_a_file_of_a_stream_is_that_of_a_table(tmp_path: Path, name: str) -> None:
    of_stream = written(FORMATS[name][2](ROW), tmp_path / "stream", ROWS)
    [batch] = read_by_a_table(name, of_stream, ROW).to_batches()
    of_table = written_by_a_table(name, tmp_path / "table", ROW, batch)
    schemas = [
        pq.read_schema(path) if name == "parquet" else orc.ORCFile(str(path)).schema for path in (of_stream, of_table)
    ]
    assert schemas[0] == schemas[1]
    assert read_by_a_stream(name, of_stream, ROW) == read_by_a_stream(name, of_table, ROW)
    assert [list(row) for row in read_by_a_stream(name, of_table, ROW)] == [list(row) for row in ROWS]


@both
def test_streams_have_the_values_that_tables_have(tmp_path: Path, name: str) -> None:
    path = written(FORMATS[name][2](ROW), tmp_path / "f", ROWS)
    table = read_by_a_table(name, path, ROW).combine_chunks()
    of_table = BatchRows(ROW)(table.to_batches()[0], "")[:]
    assert of_table == read_by_a_stream(name, path, ROW)


@both
def test_several_columns_of_a_name_are_refused_by_both(tmp_path: Path, name: str) -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"])
    path, row = tmp_path / "f", DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])
    (pq.write_table if name == "parquet" else orc.write_table)(twice, path)
    for read in (read_by_a_table, read_by_a_stream):
        with pytest.raises(MalformedRecordError, match="the file has 2 columns 'n'"):
            read(name, path, row)


@both
def test_a_table_writes_many_small_batches_as_one_group(tmp_path: Path, name: str) -> None:
    row = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])
    factory = FORMATS[name][0].file_writer(columns_of(row), Options({}))
    batches = [pa.RecordBatch.from_pydict({"n": [number]}) for number in range(50)]
    path = written(factory, tmp_path / "f", batches)
    assert (pq.ParquetFile(path).num_row_groups if name == "parquet" else orc.ORCFile(str(path)).nstripes) == 1
    assert read_by_a_table(name, path, row)["n"].to_pylist() == list(range(50))


@both
def test_rows_are_counted_without_columns(tmp_path: Path, name: str) -> None:
    path = written(FORMATS[name][2](ROW), tmp_path / "f", ROWS)
    assert read_by_a_table(name, path, DataTypes.ROW([])).num_rows == 2


@both
@pytest.mark.parametrize(
    ("kind", "value"), [(DataTypes.INT(), "text"), (DataTypes.TINYINT(), 300), (COLUMNS[-1][1], 5)]
)
def test_a_value_of_another_type_is_named(tmp_path: Path, name: str, kind: Any, value: Any) -> None:
    row = DataTypes.ROW([DataTypes.FIELD("a", kind)])
    with pytest.raises(TypeMismatchError, match=repr(value)):
        written(FORMATS[name][2](row), tmp_path / "f", [(None,), (value,)])


def test_values_of_a_slice_are_made_of_its_elements_only() -> None:
    lists = pa.array([[number] * 3 for number in range(100)])
    pairs = pa.array([[(str(number), number)] for number in range(100)], pa.map_(pa.string(), pa.int64()))
    for column in (lists, pairs, pa.array([None, *lists.to_pylist()]), pa.array([], lists.type)):
        for begin, end in ((0, 0), (0, 3), (40, 45), (99, 100)):
            assert to_values(column[begin:end]) == to_values(column)[begin:end]
