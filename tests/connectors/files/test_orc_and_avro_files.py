"""ORC and Avro files, as they are written and read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.orc as orc
import pytest

from scurry.common import Configuration, Row
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource
from scurry.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroReaderFormat,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from scurry.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from scurry.errors import (
    ArgumentError,
    ArgumentTypeError,
    ExtraMissingError,
    MalformedRecordError,
    TypeMismatchError,
    UnsupportedError,
)
from scurry.table.types import DataTypes
from support.connectors.column_values import NULLS, ROW_OF_ALL, VALUES

Drive = Callable[..., Any]
Run = Callable[..., Any]

NUMBER = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])
AVRO = AvroSchema.parse_string(
    '{"type":"record","name":"Order","fields":[{"name":"n","type":"long"},{"name":"note","type":["null","string"],'
    '"default":null},{"name":"tags","type":{"type":"array","items":"string"},"default":[]}]}'
)


def written(base: Path, run_sink: Run, factory: Any, *batches: list[Any]) -> list[Path]:
    builder = FileSink.for_bulk_format(str(base), factory)
    run_sink(builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build(), *batches)
    return sorted(base.iterdir())


def read(drive: Drive, file_format: Any, *paths: Path, **options: Any) -> Any:
    return drive(FileSource.for_bulk_file_format(file_format, *map(str, paths)).build(), **options).all()


def settings(**values: str) -> Configuration:
    configuration = Configuration()
    for key, value in values.items():
        configuration.set_string(key.replace("_", "."), value)
    return configuration


class TestOrc:
    def test_values_of_all_types_come_back(self, tmp_path: Path, run_sink: Run, drive: Drive) -> None:
        written(tmp_path, run_sink, OrcBulkWriters.for_row_type(ROW_OF_ALL), [Row(*VALUES), Row(*NULLS)])
        assert [list(row) for row in read(drive, OrcColumnarRowInputFormat(ROW_OF_ALL), tmp_path)] == [VALUES, NULLS]

    def test_rounds_decimals_to_their_scale(self, tmp_path: Path, run_sink: Run, drive: Drive) -> None:
        row_type = DataTypes.ROW([DataTypes.FIELD("m", DataTypes.DECIMAL(10, 2))])
        written(tmp_path, run_sink, OrcBulkWriters.for_row_type(row_type), [(Decimal("1.235"),), (Decimal("-1.2349"),)])
        found = read(drive, OrcColumnarRowInputFormat(row_type), tmp_path)
        assert [row[0] for row in found] == [Decimal("1.24"), Decimal("-1.23")]

    def test_is_the_same_however_it_is_cut(self, tmp_path: Path, drive: Drive) -> None:
        factory = OrcBulkWriters.for_row_type(NUMBER, settings(orc_compress="NONE", orc_stripe_size="1000"))
        with open(tmp_path / "f.orc", "wb") as stream:
            writer = factory.create(stream)
            writer.write([(n * n,) for n in range(100_000)])
            writer.finish()
        assert orc.ORCFile(str(tmp_path / "f.orc")).nstripes > 5
        for max_bytes in (1 << 30, 10_000):
            found = read(drive, OrcColumnarRowInputFormat(NUMBER), tmp_path, limits=BatchLimits(max_bytes=max_bytes))
            assert [row.n for row in found] == [n * n for n in range(100_000)]

    def test_columns_are_found_by_name(self, tmp_path: Path, run_sink: Run, drive: Drive) -> None:
        written(tmp_path, run_sink, OrcBulkWriters.for_row_type(ROW_OF_ALL), [Row(*VALUES)])
        chosen = DataTypes.ROW([DataTypes.FIELD("N", DataTypes.BIGINT()), DataTypes.FIELD("none", DataTypes.INT())])
        [row] = read(drive, OrcColumnarRowInputFormat(chosen, is_case_sensitive=False), tmp_path)
        assert (row.N, row.none) == (1 << 40, None)

    def test_a_column_of_another_type_is_named(self, tmp_path: Path, run_sink: Run, drive: Drive) -> None:
        written(tmp_path, run_sink, OrcBulkWriters.for_row_type(ROW_OF_ALL), [Row(*VALUES)])
        wrong = DataTypes.ROW([DataTypes.FIELD("s", DataTypes.BIGINT())])
        with pytest.raises(MalformedRecordError, match=r"column 's' is string, declared is BIGINT"):
            read(drive, OrcColumnarRowInputFormat(wrong), tmp_path)

    def test_settings_have_hadoops_names(self, tmp_path: Path, run_sink: Run) -> None:
        factory = OrcBulkWriters.for_row_type(NUMBER, settings(orc_compress="SNAPPY"), settings(orc_compress="NONE"))
        [path] = written(tmp_path, run_sink, factory, [Row(1)])
        assert orc.ORCFile(str(path)).compression == "SNAPPY"
        with pytest.raises(UnsupportedError, match=r"'orc\.bloom' has no effect"):
            OrcBulkWriters.for_row_type(NUMBER, settings(orc_bloom="x"))
        with pytest.raises(UnsupportedError, match=r"orc\.compress=LZO; use NONE, ZLIB"):
            OrcBulkWriters.for_row_type(NUMBER, settings(orc_compress="LZO"))
        with pytest.raises(ArgumentError, match="positive number of bytes"):
            OrcBulkWriters.for_row_type(NUMBER, settings(orc_stripe_size="much"))

    def test_needs_a_row_type_of_types_that_files_have(self) -> None:
        for make in (OrcBulkWriters.for_row_type, OrcColumnarRowInputFormat):
            with pytest.raises(UnsupportedError, match="files cannot hold"):
                make(DataTypes.ROW([DataTypes.FIELD("t", DataTypes.INTERVAL(DataTypes.YEAR()))]))
            with pytest.raises(ArgumentTypeError, match=r"DataTypes\.ROW"):
                make("n BIGINT")  # type: ignore[arg-type]


class TestAvro:
    RECORDS: list[dict[str, Any]] = [{"n": 1, "note": "a", "tags": ["x", "y"]}, {"n": 2, "note": None, "tags": []}]

    @pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "bzip2", "xz", "zstandard"])
    def test_files_are_what_others_read(self, tmp_path: Path, run_sink: Run, drive: Drive, codec: str) -> None:
        factory = AvroBulkWriters.for_generic_record(AVRO, codec)
        [path] = written(tmp_path, run_sink, factory, [self.RECORDS[0], Row(n=2, note=None, tags=[])])
        with open(path, "rb") as file:
            reader = fastavro.reader(file)
            assert (list(reader), reader.codec) == (self.RECORDS, codec)
        assert read(drive, AvroReaderFormat.for_generic_record(AVRO), path) == self.RECORDS
        assert [list(row) for row in read(drive, AvroReaderFormat.for_rows(AVRO), path)] == [
            list(record.values()) for record in self.RECORDS
        ]

    def test_files_of_an_older_schema_are_read_as_the_newer(self, tmp_path: Path, run_sink: Run, drive: Drive) -> None:
        old = AvroSchema.parse_string('{"type":"record","name":"Order","fields":[{"name":"n","type":"int"}]}')
        written(tmp_path, run_sink, AvroBulkWriters.for_generic_record(old), [{"n": 3}])
        assert read(drive, AvroReaderFormat.for_generic_record(AVRO), tmp_path) == [{"n": 3, "note": None, "tags": []}]

    def test_create_input_reads_them(self, tmp_path: Path, run_sink: Run) -> None:
        written(tmp_path, run_sink, AvroBulkWriters.for_generic_record(AVRO), self.RECORDS)
        env = StreamExecutionEnvironment.get_execution_environment(settings(scurry_runner="local"))
        stream = env.create_input(AvroInputFormat(str(tmp_path), AVRO))
        assert stream.get_type() == GenericRecordAvroTypeInfo(AVRO)
        with stream.execute_and_collect() as found:
            assert list(found) == self.RECORDS
        with pytest.raises(ArgumentTypeError, match="InputFormat"):
            env.create_input(AVRO)  # type: ignore[arg-type]

    def test_a_record_that_does_not_fit_is_shown(self, tmp_path: Path, run_sink: Run) -> None:
        with pytest.raises(TypeMismatchError, match="many"):
            written(tmp_path, run_sink, AvroBulkWriters.for_generic_record(AVRO), [{"n": "many", "tags": []}])

    def test_wrong_arguments_are_refused(self) -> None:
        with pytest.raises(UnsupportedError, match="Avro codec 'lzo'; use null"):
            AvroBulkWriters.for_generic_record(AVRO, "lzo")
        with pytest.raises(ArgumentTypeError, match="AvroSchema"):
            AvroReaderFormat.for_rows("{}")  # type: ignore[arg-type]
        with pytest.raises(UnsupportedError, match="only records"):
            AvroReaderFormat.for_rows(AvroSchema('"string"'))

    def test_needs_fastavro(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        factory = AvroBulkWriters.for_generic_record(AVRO)
        monkeypatch.setitem(sys.modules, "fastavro", None)
        with open(tmp_path / "f", "wb") as stream, pytest.raises(ExtraMissingError, match=r"scurry\[avro\]"):
            factory.create(stream)
