"""A file that cannot be decoded is named, with the place."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from scurry.common import Configuration
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.delta import DeltaSource
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.formats.orc import OrcColumnarRowInputFormat
from scurry.datastream.formats.parquet import ParquetColumnarRowInputFormat
from scurry.errors import JobError, MalformedRecordError
from scurry.table import DataTypes

LINES = b"".join(b"line %d of a file whose bytes differ %d\n" % (n, n * n % 977) for n in range(20_000))
NUMBERS = pa.table({"number": pa.array([n * n % 100_003 for n in range(60_000)], pa.int64())})
ROW = DataTypes.ROW([DataTypes.FIELD("number", DataTypes.BIGINT())])

TEXT_FILES: dict[str, Callable[[bytes], bytes]] = {
    "lines.gz": gzip.compress,
    "lines.bz2": bz2.compress,
    "lines.xz": lzma.compress,
    "lines.deflate": zlib.compress,
    "lines.zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def columns(write: Any) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def overwritten(data: bytes) -> bytes:
    """Half of the bytes are something else."""
    middle = bytearray(data)
    middle[len(data) // 4 : len(data) // 4 * 3] = b"\xa5" * (len(data) // 4 * 3 - len(data) // 4)
    return bytes(middle)


def error_of(file: Path, source: Any) -> str:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "orders").map(lambda value: value)
    with pytest.raises(JobError) as failed:
        env.execute("doomed")
    return str(failed.value)


def assert_named(text: str, file: Path) -> None:
    assert f"MalformedRecordError: {file}: damaged or cut off behind record " in text, text
    assert "in operator 'orders' built at " in text
    assert len(text.splitlines()) <= 4, text


@pytest.mark.parametrize("damage", [cut, overwritten])
@pytest.mark.parametrize("name", TEXT_FILES)
def test_a_compressed_text_file_is_named(tmp_path: Path, name: str, damage: Callable[[bytes], bytes]) -> None:
    file = tmp_path / name
    file.write_bytes(damage(TEXT_FILES[name](LINES)))
    assert_named(
        error_of(file, FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(file)).build()), file
    )


def test_a_parquet_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "numbers.parquet"
    file.write_bytes(overwritten(columns(lambda buffer: pq.write_table(NUMBERS, buffer, row_group_size=15_000))))
    source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(ROW), str(file)).build()
    text = error_of(file, source)
    assert f"MalformedRecordError: {file}: " in text and "malformed record ''" not in text


def test_an_orc_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "numbers.orc"
    file.write_bytes(overwritten(columns(lambda buffer: orc.write_table(NUMBERS, buffer, compression="zlib"))))
    assert_named(
        error_of(file, FileSource.for_bulk_file_format(OrcColumnarRowInputFormat(ROW), str(file)).build()), file
    )


def test_an_orc_file_cut_off_is_named(tmp_path: Path) -> None:
    file = tmp_path / "numbers.orc"
    file.write_bytes(cut(columns(lambda buffer: orc.write_table(NUMBERS, buffer))))
    assert_named(
        error_of(file, FileSource.for_bulk_file_format(OrcColumnarRowInputFormat(ROW), str(file)).build()), file
    )


def test_a_file_of_a_delta_table_is_named(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path), NUMBERS)
    (file,) = tmp_path.glob("*.parquet")
    file.write_bytes(cut(file.read_bytes()))
    text = error_of(file, DeltaSource.for_bounded_row_data(str(tmp_path)).build())
    assert f"MalformedRecordError: {file.name}: damaged or cut off behind record 0: ArrowInvalid: " in text, text


def test_records_before_the_damage_are_counted() -> None:
    read = naming_damage(chain([[1, 2, 3]], map(zlib.decompress, [b"no"])), "/data/x.gz", 100, 30)
    assert next(read) == [1, 2, 3]
    with pytest.raises(MalformedRecordError, match=r"/data/x.gz: damaged .* behind record 3, read from byte 100 on"):
        next(read)


@pytest.mark.parametrize("error", [FileNotFoundError(2, "no such file"), PermissionError(13, "no"), KeyError("x")])
def test_other_errors_stay_as_they_are(error: Exception) -> None:
    def blocks() -> Any:
        raise error
        yield

    with pytest.raises(type(error)):
        next(naming_damage(blocks(), "x", 0, 30))
