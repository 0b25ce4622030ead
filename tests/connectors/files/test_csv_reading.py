"""CSV files: the rows Flink reads, errors that say where, cuts that change nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from scurry.common import Row
from scurry.common.typeinfo import Types
from scurry.connectors.files.formats.csv.arrow_columns import ArrowCsvColumns
from scurry.connectors.files.formats.csv.format import CsvFormat, CsvQuotes
from scurry.connectors.files.formats.csv.parser import CsvParser, CsvSyntaxError
from scurry.connectors.files.formats.csv.schema import CsvColumn, CsvDialect
from scurry.connectors.files.formats.rows import ColumnRows
from scurry.connectors.source import BatchLimits, ChunkSizer
from scurry.datastream.connectors.file_system import FileSource
from scurry.datastream.formats.csv import CsvReaderFormat, CsvSchema
from scurry.errors import ArgumentError, ArgumentTypeError, MalformedRecordError
from scurry.table import DataTypes
from support.cases import cases

Drive = Callable[..., Any]
reuse_fixture = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

FLINK = json.loads((Path(__file__).parents[2] / "fixtures/flink/connectors/csv_read.json").read_text())


def schema(calls: list[list[Any]]) -> CsvSchema:
    builder = CsvSchema.builder()
    for method, *arguments in calls:
        types = [getattr(DataTypes, a["type"][0])(*a["type"][1:]) if isinstance(a, dict) else a for a in arguments]
        getattr(builder, method)(*types)
    return builder.build()


def source(tmp_path: Path, text: str, columns: CsvSchema) -> FileSource:
    path = tmp_path / "f.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return FileSource.for_record_stream_format(CsvReaderFormat.for_schema(columns), str(path)).build()


def two_columns() -> Any:
    return CsvSchema.builder().add_number_column("id").add_string_column("name")


@pytest.mark.parametrize("case", FLINK, ids=[case["name"] for case in FLINK])
def test_a_file_gives_what_flink_gives(case: dict[str, Any], tmp_path: Path, drive: Drive) -> None:
    driver = drive(source(tmp_path, case["text"], schema(case["schema"])))
    if "rows" in case:
        assert list(map(repr, driver.all())) == case["rows"]
    else:
        with pytest.raises(MalformedRecordError):
            driver.all()


class TestErrors:
    def test_name_file_line_text_and_column(self, tmp_path: Path, drive: Drive) -> None:
        text = "".join(f"{i},x\n" for i in range(5000)) + "oops,y\n5001,z\n"
        with pytest.raises(MalformedRecordError) as caught:
            drive(source(tmp_path, text, two_columns().build())).all()
        assert (caught.value.line, caught.value.text) == (5001, "oops,y")
        assert str(caught.value) == (
            f"{tmp_path}/f.csv:5001: malformed record 'oops,y': column 'id': 'oops' is no whole number (BIGINT); "
            "correct the file or the CsvSchema"
        )

    def test_name_the_line_when_the_file_is_read_in_parts(self, tmp_path: Path, drive: Drive) -> None:
        text = "é,1\n".replace("é", "1") * 50 + '2,"a\nb"\n' + "oops,1\n"
        driver = drive(source(tmp_path, text, two_columns().build()), 1, BatchLimits(max_bytes=100))
        with pytest.raises(MalformedRecordError, match="f.csv:53: malformed record 'oops,1'"):
            driver.all()

    def test_shorten_the_text(self, tmp_path: Path, drive: Drive) -> None:
        with pytest.raises(MalformedRecordError) as caught:
            drive(source(tmp_path, "x" * 1000, two_columns().build())).all()
        assert caught.value.text == "x" * 200 + "..."

    def test_advise_larger_batches_when_a_split_opens_a_quote(self, tmp_path: Path) -> None:
        text = '1,"a\nb"\n' * 10
        files = source(tmp_path, text, two_columns().build())
        with pytest.raises(MalformedRecordError, match="scurry.batch.max-bytes"):
            list(files.read([(str(tmp_path / "f.csv"), 0, 4, len(text))], ChunkSizer()))

    def test_do_not_give_that_advice_at_the_end_of_the_file(self, tmp_path: Path, drive: Drive) -> None:
        with pytest.raises(MalformedRecordError, match="not closed; correct the file"):
            drive(source(tmp_path, '1,"a\n', two_columns().build())).all()


class TestCuts:
    @reuse_fixture
    @given(
        names=st.lists(st.text(st.sampled_from("ab\"', #\n"), max_size=5), min_size=1, max_size=20),
        limit=st.integers(1, 60),
        header=st.booleans(),
        skip=st.booleans(),
        comments=st.booleans(),
    )
    def test_between_batches_change_nothing(
        self, tmp_path: Path, drive: Drive, names: list[str], limit: int, header: bool, skip: bool, comments: bool
    ) -> None:
        columns = two_columns().set_use_header(header).set_skip_first_data_row(skip).set_allow_comments(comments)
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        text = "\ufeff" + ("id,name\n" if header else "") + ("not,data\n" if skip else "")
        text += "".join(
            f"{i},{name}\n{'# c' * comments}\n"[: None if comments else -1] for i, name in enumerate(quoted)
        )
        rows = drive(source(tmp_path, text, columns.build()), 1, BatchLimits(max_bytes=limit)).all()
        assert [tuple(row) for row in rows] == list(enumerate(names))

    @pytest.mark.parametrize("escape", [None, "\\"])
    def test_within_a_batch_respect_quoted_line_breaks(self, tmp_path: Path, escape: str | None) -> None:
        dialect = CsvDialect((CsvColumn("id", DataTypes.BIGINT()), CsvColumn("name")), escape=escape)
        text = "".join(f'{i},"a\n""{i},\n"\n' for i in range(50)).encode()
        quotes = CsvQuotes(dialect)
        for end in range(1, len(text)):
            whole = quotes.whole_records(text[:end])
            assert whole == 0 or text[whole - 3 : whole] == b'\n"\n'

    def test_do_not_fall_into_a_quoted_field_after_a_stray_quote(self) -> None:
        quotes = CsvQuotes(CsvDialect((CsvColumn("a"), CsvColumn("b"))))
        data = b'x"y,1\nz,"a\nb'
        assert quotes.whole_records(data) == len(b'x"y,1\n')


def values_of(dialect: CsvDialect, data: bytes) -> list[list[Any]]:
    return list(CsvParser(dialect).rows(data.decode()))


TYPES = {
    "STRING": DataTypes.STRING(),
    "TINYINT": DataTypes.TINYINT(),
    "BIGINT": DataTypes.BIGINT(),
    "FLOAT": DataTypes.FLOAT(),
    "DOUBLE": DataTypes.DOUBLE(),
    "DECIMAL": DataTypes.DECIMAL(6, 2),
    "BOOLEAN": DataTypes.BOOLEAN(),
}
ORDINARY = {
    "STRING": ["a b", "", " x ", "1", "true", "NA", "a'b", "é", "0x1F"],
    "BIGINT": ["1", "-1", "007", " 1 ", "9223372036854775807", "NA", ""],
    "TINYINT": ["1", "-128", "NA"],
    "DOUBLE": ["1", "1.5", "-.5", "5.", "1e3", "-0", " 2.5 ", "NA"],
    "DECIMAL": ["1", "1.5", "-2.345", " 3", "12345.67", ".5", "1e2", "NA"],
    "BOOLEAN": ["true", "false", "True", " true", "NA"],
}
odd = st.one_of(
    st.text(st.sampled_from("ab 1.-+eE0x#'\t"), max_size=4),
    st.sampled_from(["+1", "NaN", "inf", "1d", "1_0", "0x1F", "128", "99999999999999999999", "TRUE", "1e400"]),
    st.sampled_from(['a"b', '"a"b', '"a" ', ' "a"', '"', ",", "#x", "\ufeff1", "\n", "\r"]),
)


@st.composite
def files(draw: st.DrawFn) -> tuple[list[str], str]:
    """Column types, and the text of a file that mostly fits them."""
    kinds = draw(st.lists(st.sampled_from(sorted(ORDINARY)), min_size=1, max_size=3))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    rows = draw(st.lists(st.tuples(*[st.sampled_from(ORDINARY[kind]) for kind in kinds]), min_size=1, max_size=5))
    quoted = draw(st.booleans())
    table = [['"' + text.replace('"', '""') + '"' if quoted else text for text in row] for row in rows]
    if draw(st.booleans()):
        draw(st.sampled_from(table))[draw(st.integers(0, len(kinds) - 1))] = draw(odd)
    return kinds, "".join(",".join(row) + end for row in table)


class TestFastReader:
    """What pyarrow is given, it reads exactly as the exact parser does."""

    @given(
        file=files(),
        null=st.sampled_from([None, "NA", ""]),
        quote=st.sampled_from(['"', '"', "'", None]),
        comments=st.booleans(),
    )
    @example((["STRING", "STRING"], '"a,"b",c",1\n'), None, '"', False)
    @settings(max_examples=cases(400))
    def test_agrees_with_the_exact_one(
        self, file: tuple[list[str], str], null: str | None, quote: str | None, comments: bool
    ) -> None:
        kinds, text = file
        columns = tuple(CsvColumn(f"c{i}", TYPES[kind]) for i, kind in enumerate(kinds))
        dialect = CsvDialect(columns, quote=quote, null_value=null, allow_comments=comments)
        data = text.encode()
        if not ArrowCsvColumns.understands(dialect, dialect.names) or not CsvQuotes(dialect).regular(data):
            return
        fast = ArrowCsvColumns(dialect, dialect.names).read(data)
        if fast is None:
            return
        event("read fast")
        read = [list(row) for row in ColumnRows(fast, dialect.names)]
        assert repr(read) == repr(values_of(dialect, data))

    @pytest.mark.parametrize(
        ("text", "regular"),
        [
            (b'"a","b"\n', True),
            (b'a,"x""y"\n"",b\n', True),
            (b'"a\nb",c', True),
            (b'a"b,c\n', False),
            (b'"a"b,c\n', False),
            (b'"a,b\n', False),
            (b'x,",",","\n', True),
            (b'"a,"b",c"\n', False),
            (b'"""",a\n', True),
            (b'"a" ,b\n', False),
        ],
    )
    def test_is_given_regular_quotes_only(self, text: bytes, regular: bool) -> None:
        assert CsvQuotes(CsvDialect()).regular(text) is regular

    def test_is_used_for_ordinary_files(self) -> None:
        dialect = CsvDialect((CsvColumn("a", DataTypes.BIGINT()), CsvColumn("b", DataTypes.DOUBLE()), CsvColumn("c")))
        assert ArrowCsvColumns(dialect, dialect.names).read(b'1,2.5,x\n-3,1e-7,"y,z"\n') is not None


class TestTypes:
    def test_declare_a_row_with_named_fields(self) -> None:
        columns = CsvSchema.builder().add_number_column("i", DataTypes.INT()).add_array_column("l").build()
        assert CsvReaderFormat.for_schema(columns).produced_type == Types.ROW_NAMED(
            ["i", "l"], [Types.INT(), Types.LIST(Types.STRING())]
        )

    @pytest.mark.parametrize(
        ("kind", "text", "value"),
        [("DOUBLE", "0x1p3", 8.0), ("DOUBLE", "-Infinity", -math.inf), ("FLOAT", "0.1", 0.10000000149011612)],
    )
    def test_read_what_java_reads(self, kind: str, text: str, value: float) -> None:
        assert CsvColumn("v", TYPES[kind]).parser(CsvDialect())(text) == value

    @given(st.text(max_size=6))
    @example("1e400")
    def test_of_numbers_read_a_number_of_their_type_or_fail_by_value_error(self, text: str) -> None:
        types = {"TINYINT": int, "BIGINT": int, "FLOAT": float, "DOUBLE": float, "DECIMAL": Decimal}
        for kind, expected in types.items():
            try:
                value = CsvColumn("v", TYPES[kind]).parser(CsvDialect())(text)
            except ValueError:
                continue
            # As in Flink a decimal number with too many digits is NULL.
            assert type(value) is expected or (kind == "DECIMAL" and value is None)


class TestSchema:
    def test_has_a_size(self) -> None:
        builder = two_columns()
        assert (len(builder), builder.size(), len(builder.build()), builder.build().size()) == (2, 2, 2, 2)

    def test_takes_columns_from_another(self) -> None:
        builder = CsvSchema.builder().add_columns_from(two_columns().build()).add_boolean_column("b")
        assert builder.build()._dialect.names == ("id", "name", "b")
        assert len(builder.clear_columns()) == 0

    def test_needs_columns_to_read(self) -> None:
        with pytest.raises(ArgumentError, match="no columns"):
            CsvReaderFormat.for_schema(CsvSchema.builder().build())

    def test_refuses_types_a_csv_file_cannot_hold(self) -> None:
        with pytest.raises(ArgumentTypeError, match="DateType"):
            CsvSchema.builder().add_number_column("d", DataTypes.DATE())  # type: ignore[arg-type]

    def test_refuses_long_separators(self) -> None:
        with pytest.raises(ArgumentError, match="single character"):
            CsvSchema.builder().set_column_separator("||")

    def test_refuses_a_name_twice(self) -> None:
        with pytest.raises(ArgumentError, match="'id'"):
            two_columns().add_string_column("id")

    def test_only_columns_there_are_lose_their_separator(self) -> None:
        for index in (-1, 2):
            with pytest.raises(ArgumentError, match=f"there is no column {index}: the schema has 2"):
                two_columns().remove_array_element_separator(index)

    def test_arrays_without_any_separator_are_one_value(self, tmp_path: Path, drive: Drive) -> None:
        columns = CsvSchema.builder().add_array_column("l", "").disable_array_element_separator().build()
        assert drive(source(tmp_path, "a;b\n", columns)).all() == [Row(l=["a;b"])]


@given(st.text(st.sampled_from('a",\n\r\\ #'), max_size=30), st.sampled_from([None, "\\"]), st.booleans())
def test_the_exact_parser_reads_or_says_why_not(text: str, escape: str | None, comments: bool) -> None:
    parser = CsvParser(CsvDialect((CsvColumn("a"), CsvColumn("b")), escape=escape, allow_comments=comments))
    try:
        end = 0
        for begin, stop, _ in parser.records(text):
            assert end <= begin < stop or begin == stop == end
            end = stop
    except CsvSyntaxError as error:
        assert 0 <= error.position <= len(text)


def test_a_format_is_pickled_with_its_schema(tmp_path: Path) -> None:
    import pickle

    read = CsvReaderFormat.for_schema(two_columns().build())
    assert isinstance(pickle.loads(pickle.dumps(read)), CsvFormat)
    assert pickle.loads(pickle.dumps(read)).dialect == read.dialect
