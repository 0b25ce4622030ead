"""What is no record of a file's format: it fails the job, is left out, or goes to the dead letters, with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc
from pyarrow import parquet as pq

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.source import BatchLimits
from scurry.datastream import OutputTag, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, FileSourceBuilder, StreamFormat
from scurry.datastream.formats.avro import AvroBulkWriters, AvroReaderFormat, AvroSchema
from scurry.datastream.formats.csv import CsvReaderFormat, CsvSchema
from scurry.datastream.formats.json import JsonReaderFormat
from scurry.datastream.formats.orc import OrcColumnarRowInputFormat
from scurry.datastream.formats.parquet import ParquetColumnarRowInputFormat
from scurry.errors import JobError, MalformedRecordError, TopologyError
from scurry.table.types import DataTypes

Drive = Callable[..., Any]

PAIR = Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])
SCHEMA = CsvSchema.builder().add_string_column("name").add_number_column("n").build()
AVRO = AvroSchema.parse_string('{"type":"record","name":"Number","fields":[{"name":"n","type":"long"}]}')
COLUMNS = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])


def csv(path: Path) -> FileSourceBuilder:
    return FileSource.for_record_stream_format(CsvReaderFormat.for_schema(SCHEMA), str(path))


def json_lines(path: Path) -> FileSourceBuilder:
    return FileSource.for_record_stream_format(JsonReaderFormat.for_type_info(PAIR), str(path))


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def places(driver: Any) -> list[tuple[int | None, str]]:
    return [(error.line, error.record) for error in driver.malformed]


class TestCsv:
    @pytest.mark.parametrize(
        ("text", "good", "bad"),
        [
            ("a,1\nb\nc,3\n", [1, 3], [(2, "b")]),
            ("a,1\nb,x\nc,3\n", [1, 3], [(2, "b,x")]),
            ("a,1\n\nc,3\n", [1, 3], [(2, "")]),
            ("x\ny\nc,3", [3], [(1, "x"), (2, "y")]),
            ('a,1\n"b\nb",x\nc,3\n', [1, 3], [(2, '"b\nb",x')]),
            ('a,1\n"b"x,2\nc,3\n', [1, 3], [(2, '"b"x,2')]),
            ('a,1\n"b,2\nc,3\n', [1, 3], [(2, '"b,2')]),
            ("a,1\nb,", [1], [(2, "b,")]),
        ],
    )
    def test_goes_on_with_the_next_record(
        self, tmp_path: Path, drive: Drive, text: str, good: list[int], bad: list[tuple[int, str]]
    ) -> None:
        driver = drive(csv(write(tmp_path / "f.csv", text)).build(), tolerant=True)
        assert [row.n for row in driver.all()] == good
        assert places(driver) == bad

    def test_bytes_that_are_no_text_spoil_their_record_only(self, tmp_path: Path, drive: Drive) -> None:
        path = write(tmp_path / "f.csv", "grün,1\nb".encode() + b"\xff,2\nc,3\n")
        driver = drive(csv(path).build(), tolerant=True)
        assert [row.name for row in driver.all()] == ["grün", "c"]
        assert places(driver) == [(2, "b\ufffd,2")]

    def test_lines_are_counted_from_the_beginning_of_the_file_wherever_it_is_cut(
        self, tmp_path: Path, drive: Drive
    ) -> None:
        path = write(tmp_path / "f.csv", "".join(f"r{i},{'x' if i % 7 == 0 else i}\n" for i in range(1, 101)))
        driver = drive(csv(path).build(), limits=BatchLimits(max_bytes=50), tolerant=True)
        assert [row.n for row in driver.all()] == [i for i in range(1, 101) if i % 7]
        assert [line for line, _ in places(driver)] == [i for i in range(1, 101) if i % 7 == 0]

    def test_many_are_no_slower_than_the_rest(self, tmp_path: Path, drive: Drive) -> None:
        path = write(tmp_path / "f.csv", "a,1\nb,x\n" * 20_000)
        driver = drive(csv(path).build(), tolerant=True)
        assert len(driver.all()) == len(driver.malformed) == 20_000
        assert driver.malformed[-1].line == 40_000


class TestJsonLines:
    def test_are_rows(self, tmp_path: Path, drive: Drive) -> None:
        text = '{"name": "a", "n": 1}\r\n\n  \n{"n": 2}\n{"name": "c", "n": 3}'
        driver = drive(json_lines(write(tmp_path / "f.json", text)).build())
        assert [(row.name, row.n) for row in driver.all()] == [("a", 1), (None, 2), ("c", 3)]

    def test_go_on_with_the_next_line(self, tmp_path: Path, drive: Drive) -> None:
        text = '{"n": 1}\n{"n": \n[]\n{"n": "x"}\n{"n": 5}\n'
        driver = drive(json_lines(write(tmp_path / "f.json", text)).build(), tolerant=True)
        assert [row.n for row in driver.all()] == [1, 5]
        assert places(driver) == [(2, '{"n": '), (3, "[]"), (4, '{"n": "x"}')]

    def test_name_file_line_and_record(self, tmp_path: Path, drive: Drive) -> None:
        path = write(tmp_path / "f.json", '{"n": 1}\n{"n": x}\n')
        with pytest.raises(MalformedRecordError, match=r"f\.json:2: malformed record '\{\"n\": x\}'"):
            drive(json_lines(path).build()).all()


class TestWholeFiles:
    @pytest.mark.parametrize(
        ("file_format", "name"),
        [
            (ParquetColumnarRowInputFormat(COLUMNS), "Parquet"),
            (OrcColumnarRowInputFormat(COLUMNS), "ORC"),
            (AvroReaderFormat.for_rows(AVRO), "Avro"),
        ],
    )
    def test_of_another_kind_are_one_malformed_record(
        self, tmp_path: Path, drive: Drive, file_format: Any, name: str
    ) -> None:
        path = write(tmp_path / "f", "something else, that is long enough to be read in several pieces")
        source = FileSource.for_bulk_file_format(file_format, str(path)).build()
        driver = drive(source, limits=BatchLimits(max_bytes=10), tolerant=True)
        assert driver.all() == []
        [error] = driver.malformed
        assert f"no {name} file" in str(error) and str(path) in str(error)


class TestAvro:
    def file(self, path: Path, count: int = 20_000) -> bytes:
        with open(path, "wb") as stream:
            writer = AvroBulkWriters.for_generic_record(AVRO).create(stream)
            writer.write([{"n": n} for n in range(count)])
            writer.finish()
        return path.read_bytes()

    def read(self, drive: Drive, path: Path, max_bytes: int = 1 << 30) -> Any:
        source = FileSource.for_bulk_file_format(AvroReaderFormat.for_rows(AVRO), str(path)).build()
        driver = drive(source, limits=BatchLimits(max_bytes=max_bytes), tolerant=True)
        return [row.n for row in driver.all()], driver.malformed

    def test_is_the_same_however_it_is_cut(self, tmp_path: Path, drive: Drive) -> None:
        self.file(tmp_path / "f.avro")
        for max_bytes in (777, 16_000, 1 << 20):
            assert self.read(drive, tmp_path / "f.avro", max_bytes) == (list(range(20_000)), [])

    def test_goes_on_with_the_next_block(self, tmp_path: Path, drive: Drive) -> None:
        data = bytearray(self.file(tmp_path / "f.avro"))
        sync = bytes(data[-16:])
        second = data.index(sync, data.index(sync) + 16)
        data[second] ^= 0xFF  # the marker at the end of the first block
        numbers, malformed = self.read(drive, write(tmp_path / "f.avro", bytes(data)))
        assert 0 < len(numbers) < 20_000 and numbers[-1] == 19_999
        assert numbers == list(range(numbers[0], 20_000))
        assert len(malformed) == 1 and "block at byte" in str(malformed[0])

    def test_that_is_cut_off_gives_the_blocks_before(self, tmp_path: Path, drive: Drive) -> None:
        data = self.file(tmp_path / "f.avro")
        numbers, malformed = self.read(drive, write(tmp_path / "f.avro", data[:-100]))
        assert 0 < len(numbers) < 20_000 and numbers == list(range(len(numbers)))
        assert "cut off" in str(malformed[0])

    def test_of_another_schema_fails(self, tmp_path: Path, drive: Drive) -> None:
        other = AvroSchema.parse_string('{"type":"record","name":"Number","fields":[{"name":"m","type":"string"}]}')
        self.file(tmp_path / "f.avro")
        source = FileSource.for_bulk_file_format(AvroReaderFormat.for_rows(other), str(tmp_path / "f.avro")).build()
        with pytest.raises(MalformedRecordError, match=r"f\.avro.*schema"):
            drive(source, tolerant=True).all()


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    configuration.set_string("parallelism.default", "1")
    configuration.set_string("scurry.progress", "plain")
    return StreamExecutionEnvironment.get_execution_environment(configuration)


class TestJobs:
    def numbers(self, env: StreamExecutionEnvironment, builder: FileSourceBuilder) -> Any:
        return env.from_source(builder.build(), WatermarkStrategy.no_watermarks(), "numbers")

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return write(tmp_path / "f.csv", "a,1\nb,x\nc,3\nd\n")

    def test_fail_with_file_and_line(self, env: StreamExecutionEnvironment, path: Path) -> None:
        with pytest.raises(JobError, match=r"f\.csv:2: malformed record 'b,x'.*column 'n'"):
            list(self.numbers(env, csv(path)).execute_and_collect())

    def test_drop_them_and_say_how_many(
        self, env: StreamExecutionEnvironment, path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.numbers(env, csv(path).drop_malformed_records()).map(lambda row: row.n).print()
        env.execute()
        printed = capsys.readouterr()
        assert printed.out.split() == ["1", "3"]
        assert "2 malformed records dropped by numbers" in printed.err

    def test_set_them_aside_with_file_and_line(self, env: StreamExecutionEnvironment, path: Path) -> None:
        dead = OutputTag("dead")
        numbers = self.numbers(env, csv(path)).with_dead_letters(dead)
        letters = numbers.get_side_output(dead).map(
            lambda letter: (letter.place, letter.line, letter.record, letter.operator)
        )
        found = list(letters.union(numbers.map(lambda row: row.n)).execute_and_collect())
        assert sorted(map(str, found)) == sorted(
            map(str, [1, 3, (str(path), 2, "b,x", "numbers"), (str(path), 4, "d", "numbers")])
        )

    def test_set_them_aside_behind_watermarks_too(self, env: StreamExecutionEnvironment, path: Path) -> None:
        dead = OutputTag("dead")
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda row, _: row.n)
        numbers = env.from_source(csv(path).build(), strategy, "numbers").with_dead_letters(dead)
        assert [letter.line for letter in numbers.get_side_output(dead).execute_and_collect()] == [2, 4]

    def test_of_lines_of_text_have_nothing_to_set_aside(self, env: StreamExecutionEnvironment, path: Path) -> None:
        lines = self.numbers(env, FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(path)))
        with pytest.raises(TopologyError, match="FileSource"):
            lines.with_dead_letters(OutputTag("dead"))


class TestHints:
    """What to do is said where a text is no record for a usual reason."""

    @pytest.mark.parametrize("text", ['[\n{"name": "a"}\n]', '{\n"name": "a"\n}', '[{"name": "a"},\n{"name": "b"}]'])
    def test_json_over_several_lines(self, tmp_path: Path, drive: Drive, text: str) -> None:
        with pytest.raises(MalformedRecordError, match="line 1.*each line must be one whole record"):
            drive(json_lines(write(tmp_path / "f.json", text)).build()).all()

    @pytest.mark.parametrize(("field", "hinted"), [("", True), (" ", True), ("x", False)])
    def test_an_empty_number_in_csv(self, tmp_path: Path, drive: Drive, field: str, hinted: bool) -> None:
        with pytest.raises(MalformedRecordError) as raised:
            drive(csv(write(tmp_path / "f.csv", f"a,{field}\n")).build()).all()
        assert ('set_null_value("")' in str(raised.value)) is hinted

    def test_the_hint_for_empty_numbers_works(self, tmp_path: Path, drive: Drive) -> None:
        schema = CsvSchema.builder().add_string_column("name").add_number_column("n").set_null_value("").build()
        source = FileSource.for_record_stream_format(
            CsvReaderFormat.for_schema(schema), str(write(tmp_path / "f.csv", "a,\n"))
        )
        assert [row[1] for row in drive(source.build()).all()] == [None]


def columnar(kind: str, path: Path, **fields: Any) -> Any:
    row = DataTypes.ROW([DataTypes.FIELD(name, data_type) for name, data_type in fields.items()])
    formats: Any = {"parquet": ParquetColumnarRowInputFormat, "orc": OrcColumnarRowInputFormat}
    return FileSource.for_bulk_file_format(formats[kind](row_type=row), str(path)).build()


def save(kind: str, path: Path, columns: list[Any], names: list[str]) -> None:
    table = pa.table(columns, names=names)
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        orc.write_table(table, path)


class TestColumns:
    """Columns of Parquet and ORC files that are not as declared."""

    @pytest.mark.parametrize("kind", ["parquet", "orc"])
    @pytest.mark.parametrize("others", [{}, {"d": DataTypes.DATE()}], ids=["lazy rows", "converted rows"])
    def test_texts_that_are_no_utf8_are_named(self, tmp_path: Path, drive: Drive, kind: str, others: Any) -> None:
        offsets, data = pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"ab\xff\xfe")
        texts = pa.Array.from_buffers(pa.utf8(), 2, [None, offsets, data])
        save(kind, tmp_path / "f", [texts, pa.array([None, None], pa.date32())], ["s", "d"])
        with pytest.raises(MalformedRecordError, match=r"/f: column 's' holds b'\\xff\\xfe', which is no UTF-8"):
            drive(columnar(kind, tmp_path / "f", s=DataTypes.STRING(), **others)).all()

    def test_two_of_one_name_are_refused(self, tmp_path: Path, drive: Drive) -> None:
        save("parquet", tmp_path / "f", [pa.array([1]), pa.array([2])], ["n", "n"])
        with pytest.raises(MalformedRecordError, match="the file has 2 columns 'n'; rename all but one"):
            drive(columnar("parquet", tmp_path / "f", n=DataTypes.BIGINT())).all()

    @pytest.mark.parametrize("kind", ["parquet", "orc"])
    def test_those_that_files_lack_are_noted_once(self, tmp_path: Path, kind: str) -> None:
        for file in "ab":
            save(kind, tmp_path / file, [pa.array([1])], ["ID"])
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
        columns = columnar(kind, tmp_path, id=DataTypes.BIGINT())
        env.from_source(columns, WatermarkStrategy.no_watermarks(), "files").print()
        client: Any = env.execute_async("job")
        client.get_job_execution_result().result()
        notes = [note for note in client.execution.log.notes if "is null" in note]
        cause = "column 'id' is null, as files lack it; did you mean 'ID'? There are ID"
        assert [note.partition("): ")[2] for note in notes] == [cause]
        assert notes[0].startswith(f"source 'files' ({__file__}:")
