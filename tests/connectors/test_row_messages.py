"""Rows as CSV and JSON messages; the expectations are recorded from Flink 2.3 (fixtures/flink/connectors)."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.common import Row, Types
from scurry.common.time import Instant
from scurry.common.typeinfo import LocalTimeTypeInfo
from scurry.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from scurry.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from scurry.errors import ArgumentError, ArgumentTypeError, MalformedRecordError, TypeMismatchError, UnsupportedError

PLAIN = Types.ROW_NAMED(["a", "i", "d", "b"], [Types.STRING(), Types.INT(), Types.DOUBLE(), Types.BOOLEAN()])
NESTED = Types.ROW_NAMED(
    ["l", "r"],
    [Types.BASIC_ARRAY(Types.STRING()), Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])],
)
ROWS = [Row("x y", 1, 1.5, True), Row(None, None, None, None), Row("a,b", -1, 1e10, False), Row('q"', 0, 0.1, True)]

Write = CsvRowSerializationSchema.Builder
LOCAL = LocalTimeTypeInfo.TimeType
Read = CsvRowDeserializationSchema.Builder


class TestCsvWriting:
    @pytest.mark.parametrize(
        ("builder", "row", "message"),
        [
            (Write(PLAIN), ROWS[0], b'"x y",1,1.5,true\n'),
            (Write(PLAIN), ROWS[1], b",,,\n"),
            (Write(PLAIN), ROWS[2], b'"a,b",-1,1.0E10,false\n'),
            (Write(PLAIN), ROWS[3], b'"q""",0,0.1,true\n'),
            (Write(PLAIN).set_null_literal("NA"), ROWS[1], b"NA,NA,NA,NA\n"),
            (Write(PLAIN).set_line_delimiter("\r\n"), ROWS[0], b'"x y",1,1.5,true\r\n'),
            (Write(PLAIN).set_line_delimiter(""), ROWS[0], b'"x y",1,1.5,true'),
            (Write(PLAIN).set_field_delimiter("|"), ROWS[0], b'"x y"|1|1.5|true\n'),
            (Write(PLAIN).disable_quote_character(), ROWS[2], b"a,b,-1,1.0E10,false\n"),
            (Write(PLAIN).set_quote_character("'"), ROWS[2], b"'a,b',-1,1.0E10,false\n"),
            (Write(PLAIN).set_escape_character("\\"), ROWS[3], b'"q""",0,0.1,true\n'),
            (Write(NESTED), Row(["p q", "r"], Row(1, "z")), b'"p q;r",1;z\n'),
            (Write(NESTED), Row(None, None), b",\n"),
            (Write(NESTED).set_array_element_delimiter(":"), Row(["p q", "r"], Row(1, "z")), b'"p q:r",1:z\n'),
        ],
    )
    def test_gives_the_bytes_of_flink(self, builder: Any, row: Row, message: bytes) -> None:
        assert pickle.loads(pickle.dumps(builder.build())).serialize(row) == message

    def test_shows_times_and_big_numbers_as_java_does(self) -> None:
        types = [Types.BIG_DEC(), Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP(), Types.BIG_INT(),
                 Types.PRIMITIVE_ARRAY(Types.BYTE())]  # fmt: skip
        row = Row(Decimal("1.50"), datetime.date(2020, 1, 2), datetime.time(10, 11, 12),
                  datetime.datetime(2020, 1, 2, 10, 11, 12), 1234567890123456789012, b"abc")  # fmt: skip
        message = Write(Types.ROW(types)).build().serialize(row)
        assert message == b'1.50,2020-01-02,10:11:12,"2020-01-02 10:11:12.0",1234567890123456789012,YWJj\n'

    @pytest.mark.parametrize(
        ("declared", "value", "text"),
        # recorded from Flink 2.3
        [
            (Types.BIG_DEC(), Decimal("1E-10"), "1E-10"),
            (Types.BIG_DEC(), Decimal(100), "100"),
            (Types.BIG_DEC(), Decimal("123.4500"), "123.4500"),
            (Types.SQL_TIMESTAMP(), datetime.datetime(1, 1, 1), '"0001-01-01 00:00:00.0"'),
            (Types.SQL_TIMESTAMP(), datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000), '"1969-12-31 23:59:59.999"'),
            (Types.SQL_TIME(), datetime.time(0, 0, 0, 123_000), "00:00:00"),
            (Types.INSTANT(), Instant(0, 5_000_000), '"1970-01-01 00:00:00.005Z"'),
            (Types.INSTANT(), Instant(1577836800, 123_456_789), '"2020-01-01 00:00:00.123456789Z"'),
            (Types.INSTANT(), Instant(1577836800, 120_000_000), '"2020-01-01 00:00:00.12Z"'),
            (LocalTimeTypeInfo(LOCAL.LOCAL_DATE), datetime.date(2020, 1, 2), "2020-01-02"),
            (LocalTimeTypeInfo(LOCAL.LOCAL_TIME), datetime.time(10, 11), "10:11"),
            (LocalTimeTypeInfo(LOCAL.LOCAL_TIME), datetime.time(10, 11, 12, 123_400), "10:11:12.123400"),
            (LocalTimeTypeInfo(LOCAL.LOCAL_DATE_TIME), datetime.datetime(2020, 1, 2, 10, 11), '"2020-01-02 10:11:00"'),
            (Types.DOUBLE(), float("nan"), "NaN"),
            (Types.DOUBLE(), 2e23, "1.9999999999999998E23"),
            (Types.STRING(), "x" * 25, f'"{"x" * 25}"'),
            (Types.STRING(), "\U0001f600", "\U0001f600"),
            (Types.STRING(), "a\\b", '"a\\b"'),
            (Types.OBJECT_ARRAY(Types.BIG_DEC()), [Decimal(100), Decimal("1.50")], "100;1.50"),
            (Types.BASIC_ARRAY(Types.STRING()), ["p q", None, "", "r"], '"p q;;;r"'),
            (Types.ROW([Types.INT(), Types.STRING(), Types.BIG_DEC()]), Row(1, None, Decimal(100)), "1;;100"),
        ],
    )
    def test_gives_the_texts_of_flink(self, declared: Any, value: Any, text: str) -> None:
        assert Write(Types.ROW([declared, Types.INT()])).build().serialize(Row(value, 1)).decode() == f"{text},1\n"

    @pytest.mark.parametrize(
        "declared",
        [
            Types.MAP(Types.STRING(), Types.INT()),
            Types.OBJECT_ARRAY(Types.ROW([Types.INT()])),
            Types.ROW([Types.INT(), Types.BASIC_ARRAY(Types.STRING())]),
        ],
    )
    def test_refuses_types_that_flink_refuses(self, declared: Any) -> None:
        with pytest.raises(UnsupportedError, match="column 'f0'"):
            Write(Types.ROW([declared])).build()

    def test_refuses_what_is_no_such_row(self) -> None:
        with pytest.raises(TypeMismatchError):
            Write(PLAIN).build().serialize(("too", "short"))


class TestCsvReading:
    @pytest.mark.parametrize(
        ("message", "values"),
        [
            (b"x,1,1.5,true", ["x", 1, 1.5, True]),
            (b"x,1,1.5,true\n", ["x", 1, 1.5, True]),
            (b"x, 1 , 2 ,TRUE", ["x", 1, 2.0, True]),
            (b'"a,b",1,1,no', ["a,b", 1, 1.0, False]),
            (b"#c,1,1,true", ["#c", 1, 1.0, True]),
            (b"x,1,1.5,true\ny,2,2,true", ["x", 1, 1.5, True]),
        ],
    )
    def test_gives_the_rows_of_flink(self, message: bytes, values: list[Any]) -> None:
        row = pickle.loads(pickle.dumps(Read(PLAIN).build())).deserialize(message)
        assert (list(row), row.as_dict()["i"]) == (values, values[1])

    @pytest.mark.parametrize(
        "message", [b",,,", b"x,1", b"x,1,1,true,9", b"", b"\n", b"x,z,1,true", b"x,1.5,1,true", b'"x', b"\xff,1,1,no"]
    )
    def test_refuses_what_flink_refuses(self, message: bytes) -> None:
        with pytest.raises(MalformedRecordError, match="CSV message"):
            Read(PLAIN).build().deserialize(message)

    @pytest.mark.parametrize(
        ("message", "values"),
        [
            (b",,,", ["", None, None, False]),
            (b"x,1", ["x", 1, None, None]),
            (b"x,1,1,true,9", None),
            (b"", None),
            (b"\n", ["", None, None, None]),
            (b"x,z,1,true", ["x", None, 1.0, True]),
        ],
    )
    def test_forgives_what_flink_forgives(self, message: bytes, values: list[Any] | None) -> None:
        row = Read(PLAIN).set_ignore_parse_errors(True).build().deserialize(message)
        assert (None if row is None else list(row)) == values

    @pytest.mark.parametrize(
        ("builder", "message", "values"),
        [
            (Read(PLAIN).set_null_literal("NA"), b'"NA",NA,NA,NA', [None] * 4),
            (Read(PLAIN).set_null_literal("NA"), b",1,1,true", ["", 1, 1.0, True]),
            (Read(PLAIN).set_escape_character("\\"), b"a\\,b,1,1,true", ["a,b", 1, 1.0, True]),
            (Read(PLAIN).set_field_delimiter("|").set_quote_character("'"), b"'a|b'|1|1|true", ["a|b", 1, 1.0, True]),
            (Read(NESTED), b"p;q,1;z", [["p", "q"], Row(x=1, y="z")]),
            (Read(NESTED).set_array_element_delimiter(":"), b"p:q,1:z", [["p", "q"], Row(x=1, y="z")]),
            (Read(NESTED), b",", [[], None]),
        ],
    )
    def test_follows_the_builder(self, builder: Any, message: bytes, values: list[Any]) -> None:
        assert list(builder.build().deserialize(message)) == values

    @pytest.mark.parametrize(
        ("builder", "message"), [(Read(PLAIN).set_allow_comments(True), b"#c,1,1,true"), (Read(NESTED), b"p,1;z;3")]
    )
    def test_refuses_comments_alone_and_nested_rows_of_another_size(self, builder: Any, message: bytes) -> None:
        with pytest.raises(MalformedRecordError):
            builder.build().deserialize(message)

    def test_brings_back_what_was_written(self) -> None:
        types = [Types.BIG_DEC(), Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP(), Types.BIG_INT(),
                 Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.LIST(Types.LONG())]  # fmt: skip
        row = Row(Decimal("1.50"), datetime.date(2020, 1, 2), datetime.time(10, 11, 12),
                  datetime.datetime(2020, 1, 2, 10, 11, 12), 12345678901234567890, b"abc", [1, 2])  # fmt: skip
        declared = Types.ROW(types)
        assert list(Read(declared).build().deserialize(Write(declared).build().serialize(row)) or ()) == list(row)

    @pytest.mark.parametrize(
        ("declared", "text", "value"),
        # recorded from Flink 2.3; None where it fails
        [
            (Types.BIG_DEC(), " 1 ", Decimal(1)),
            (Types.BIG_DEC(), "1E2", Decimal("1E+2")),
            (Types.BIG_DEC(), "", None),
            (Types.BIG_INT(), " 5 ", 5),
            (Types.BIG_INT(), "1.5", None),
            (Types.SQL_DATE(), "2020-1-2", datetime.date(2020, 1, 2)),
            (Types.SQL_DATE(), " 2020-01-02", None),
            (Types.SQL_DATE(), "20200102", None),
            (Types.SQL_TIME(), "1:2:3", datetime.time(1, 2, 3)),
            (Types.SQL_TIME(), "10:11", None),
            (Types.SQL_TIME(), "10:11:12.5", None),
            (
                Types.SQL_TIMESTAMP(),
                "2020-01-02 10:11:12.123456789",
                datetime.datetime(2020, 1, 2, 10, 11, 12, 123_456),
            ),
            (Types.SQL_TIMESTAMP(), " 2020-1-2 1:2:3", datetime.datetime(2020, 1, 2, 1, 2, 3)),
            (Types.SQL_TIMESTAMP(), "2020-01-02T10:11:12", None),
            (Types.SQL_TIMESTAMP(), "2020-01-02", None),
            (Types.INSTANT(), "1970-01-01 00:00:00.005Z", Instant(0, 5_000_000)),
            (Types.INSTANT(), "1970-01-01T00:00:00.005Z", None),
            (Types.PRIMITIVE_ARRAY(Types.BYTE()), "YWJj", b"abc"),
            (Types.PRIMITIVE_ARRAY(Types.BYTE()), "Y W", None),
            (Types.OBJECT_ARRAY(Types.INT()), "1; 2 ", [1, 2]),
            (Types.OBJECT_ARRAY(Types.INT()), ";", None),
        ],
    )
    def test_reads_the_texts_that_flink_reads(self, declared: Any, text: str, value: Any) -> None:
        reader = Read(Types.ROW([declared, Types.INT()]))
        if value is not None:
            assert list(reader.build().deserialize(f"{text},1".encode()) or ()) == [value, 1]
            return
        with pytest.raises(MalformedRecordError, match="field: f0"):
            reader.build().deserialize(f"{text},1".encode())
        forgiven = list(reader.set_ignore_parse_errors(True).build().deserialize(f"{text},1".encode()) or ())
        assert forgiven == [[None, None] if text == ";" else None, 1]

    @pytest.mark.parametrize(("text", "row"), [("1", Row(1, None)), ("1;a;b", Row(1, "a")), (";", Row(None, ""))])
    def test_forgives_nested_rows_as_flink_does(self, text: str, row: Row) -> None:
        reader = Read(Types.ROW([Types.ROW([Types.INT(), Types.STRING()]), Types.INT()]))
        with pytest.raises(MalformedRecordError):
            reader.build().deserialize(f"{text},1".encode())
        forgiven = reader.set_ignore_parse_errors(True).build().deserialize(f"{text},1".encode())
        assert forgiven is not None
        assert list(forgiven[0]) == list(row)

    def test_names_a_type_it_cannot_hold(self) -> None:
        with pytest.raises(UnsupportedError, match="MAP<STRING, INT>"):
            Read(Types.ROW([Types.MAP(Types.STRING(), Types.INT())])).build()

    @pytest.mark.parametrize("builder", [Read, Write])
    def test_needs_a_row_type(self, builder: Any) -> None:
        with pytest.raises(ArgumentTypeError, match="Types.ROW"):
            builder(Types.STRING())


def json_writer(declared: Any) -> JsonRowSerializationSchema:
    schema: JsonRowSerializationSchema = pickle.loads(
        pickle.dumps(JsonRowSerializationSchema.builder().with_type_info(declared).build())
    )
    return schema


def json_reader(declared: Any = PLAIN) -> Any:
    return JsonRowDeserializationSchema.builder().type_info(declared)


TYPES = Types.ROW_NAMED(
    ["dec", "date", "time", "ts", "arr", "map", "row", "bytes", "l", "bi", "x"],
    [Types.BIG_DEC(), Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP(), Types.BASIC_ARRAY(Types.STRING()),
     Types.MAP(Types.STRING(), Types.LONG()), NESTED.get_field_types()[1], Types.PRIMITIVE_ARRAY(Types.BYTE()),
     Types.LONG(), Types.BIG_INT(), Types.DOUBLE()],
)  # fmt: skip
TYPED = Row(
    dec=Decimal("1.50"), date=datetime.date(2020, 1, 2), time=datetime.time(10, 11, 12),
    ts=datetime.datetime(2020, 1, 2, 10, 11, 12, 345_000), arr=["p q", None], map={"k": 5000000001},
    row=Row(x=1, y=None),
    bytes=b"abc", l=5000000007, bi=123456789012345678901234567890, x=1e-5,
)  # fmt: skip
TYPED_JSON = (
    b'{"dec":1.50,"date":"2020-01-02","time":"10:11:12Z","ts":"2020-01-02T10:11:12.345Z","arr":["p q",null],'
    b'"map":{"k":5000000001},"row":{"x":1,"y":null},"bytes":"YWJj","l":5000000007,'
    b'"bi":123456789012345678901234567890,"x":1.0E-5}'
)


class TestJsonWriting:
    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (ROWS[0], b'{"a":"x y","i":1,"d":1.5,"b":true}'),
            (ROWS[1], b'{"a":null,"i":null,"d":null,"b":null}'),
            (ROWS[2], b'{"a":"a,b","i":-1,"d":1.0E10,"b":false}'),
            (Row('é\n"/', 1, float("nan"), True), b'{"a":"\xc3\xa9\\n\\"/","i":1,"d":"NaN","b":true}'),
        ],
    )
    def test_gives_the_bytes_of_flink(self, row: Row, message: bytes) -> None:
        assert json_writer(PLAIN).serialize(row) == message

    def test_knows_all_types(self) -> None:
        assert json_writer(TYPES).serialize(TYPED) == TYPED_JSON

    def test_escapes_as_flink_does(self) -> None:
        write = json_writer(Types.ROW_NAMED(["s"], [Types.STRING()])).serialize
        assert write(Row("\x01\x1f\x7f\u2028\b\f\t\r\\/<>&'")) == (
            b'{"s":"\\u0001\\u001F\x7f\xe2\x80\xa8\\b\\f\\t\\r\\\\/<>&\'"}'
        )
        assert write(Row("\U0001f600")) == b'{"s":"\\uD83D\\uDE00"}'

    @pytest.mark.parametrize(
        ("declared", "value", "text"),
        # recorded from Flink 2.3
        [
            (Types.BIG_DEC(), Decimal("123.4500"), "123.4500"),
            (Types.BIG_DEC(), Decimal("1E-10"), "1E-10"),
            (Types.SQL_TIMESTAMP(), datetime.datetime(1, 1, 1), '"0001-01-01T00:00:00Z"'),
            (Types.SQL_TIMESTAMP(), datetime.datetime(2020, 1, 2, 10, 11, 12, 100_000), '"2020-01-02T10:11:12.1Z"'),
            (Types.SQL_TIME(), datetime.time(0, 0, 0, 123_000), '"00:00:00Z"'),
            (Types.SQL_DATE(), datetime.date(1, 1, 1), '"0001-01-01"'),
            (Types.INSTANT(), Instant(0, 5_000_000), '"1970-01-01T00:00:00.005Z"'),
            (Types.INSTANT(), Instant(1577836800, 120_000_000), '"2020-01-01T00:00:00.120Z"'),
            (Types.INSTANT(), Instant(1577836800, 123_456_789), '"2020-01-01T00:00:00.123456789Z"'),
            (Types.DOUBLE(), float("-inf"), '"-Infinity"'),
            (Types.DOUBLE(), 2e23, "1.9999999999999998E23"),
            (Types.MAP(Types.INT(), Types.STRING()), {1: "x"}, '{"1":"x"}'),
            (Types.OBJECT_ARRAY(Types.BIG_DEC()), [Decimal(100), Decimal("1.50")], "[100,1.50]"),
            (Types.LIST(Types.STRING()), ["a", None], '["a",null]'),
            (Types.OBJECT_ARRAY(Types.ROW([Types.INT()])), [Row(1), None], '[{"f0":1},null]'),
        ],
    )
    def test_gives_the_texts_of_flink(self, declared: Any, value: Any, text: str) -> None:
        assert json_writer(Types.ROW([declared])).serialize(Row(value)).decode() == f'{{"f0":{text}}}'

    def test_refuses_a_key_that_is_none(self) -> None:
        with pytest.raises(TypeMismatchError, match="no key None"):
            json_writer(Types.ROW([Types.MAP(Types.STRING(), Types.INT())])).serialize(Row({None: 1}))

    def test_needs_a_row_type(self) -> None:
        with pytest.raises(ArgumentTypeError, match="ROW_NAMED"):
            JsonRowSerializationSchema.builder().build()


class TestJsonReading:
    @pytest.mark.parametrize(
        ("message", "values"),
        [
            (b'{"a":"x","i":1,"d":1.5,"b":true}', ["x", 1, 1.5, True]),
            (b'{"a":"x"}', ["x", None, None, None]),
            (b'{"a":1,"i":"2","d":"1.5","b":"true"}', ["1", 2, 1.5, True]),
            (b'{"i":1.9}', [None, 1, None, None]),
            (b'{"a":null,"z":1}', [None] * 4),
            (b'{"b":"no"}', [None, None, None, False]),
            (b'{"b":1}', [None, None, None, False]),
            (b'{"a":{"q":1}}', ['{"q":1}', None, None, None]),
            (b'{"a":"x"} {"a":"y"}', ["x", None, None, None]),
            (b'{"a":1.0,"d":1e400}', ["1.0", None, float("inf"), None]),
            (b'{"i":null,"a":true}', ["true", None, None, None]),
            (b'{"a":[1,2]}', ["[1,2]", None, None, None]),
        ],
    )
    def test_gives_the_rows_of_flink(self, message: bytes, values: list[Any]) -> None:
        assert list(pickle.loads(pickle.dumps(json_reader().build())).deserialize(message)) == values

    def test_gives_none_for_null(self) -> None:
        assert json_reader().build().deserialize(b"null") is None

    REFUSED = (b'{"i":"z"}', b'{"i":3000000000}', b"[]", b"nope", b"", b"5", b'{"i": ""}', b'{"i": true}', b"\xff")

    @pytest.mark.parametrize("message", REFUSED)
    def test_refuses_what_flink_refuses(self, message: bytes) -> None:
        with pytest.raises(MalformedRecordError, match="JSON message"):
            json_reader().build().deserialize(message)

    @pytest.mark.parametrize("message", REFUSED)
    def test_forgives_it_if_asked(self, message: bytes) -> None:
        row = json_reader().ignore_parse_errors().build().deserialize(message)
        assert (None if row is None else list(row)) == ([None] * 4 if message.startswith(b"{") else None)

    def test_misses_fields_if_asked(self) -> None:
        with pytest.raises(MalformedRecordError, match="no field 'i'"):
            json_reader().fail_on_missing_field().build().deserialize(b'{"a":"x"}')

    def test_knows_all_types(self) -> None:
        row = json_reader(TYPES).build().deserialize(TYPED_JSON)
        assert row == TYPED
        assert str(row["dec"]) == "1.5"

    @pytest.mark.parametrize(
        "message", [b'{"time":"10:11:12"}', b'{"ts":"2020-01-02 10:11:12"}', b'{"ts":"2020-01-02T10:11:12+02:00"}']
    )
    def test_takes_times_in_utc_only(self, message: bytes) -> None:
        with pytest.raises(MalformedRecordError, match="UTC"):
            json_reader(TYPES).build().deserialize(message)

    @pytest.mark.parametrize(
        ("declared", "text", "value"),
        # recorded from Flink 2.3; None where it fails
        [
            (Types.STRING(), "1.10", "1.1"),
            (Types.STRING(), "1e5", "100000.0"),
            (Types.STRING(), '{"q":1e7}', '{"q":1.0E7}'),
            (Types.STRING(), '["\\u001f\\ud83d\\ude00"]', '["\\u001F\U0001f600"]'),
            (Types.STRING(), "-0.0", "-0.0"),
            (Types.STRING(), "12345678901234567890.123456789", "1.2345678901234567E19"),
            (Types.INT(), '"1.9"', None),
            (Types.INT(), "1e30", None),
            (Types.INT(), '" 5 "', 5),
            (Types.LONG(), "9007199254740993.0", 9007199254740992),
            (Types.SHORT(), "1.0", None),
            (Types.BYTE(), "300", None),
            (Types.FLOAT(), "1e40", float("inf")),
            (Types.DOUBLE(), '"NaN"', float("nan")),
            (Types.DOUBLE(), '"0x1p3"', 8.0),
            (Types.DOUBLE(), "true", None),
            (Types.BOOLEAN(), "[1]", False),
            (Types.BIG_DEC(), "100.00", Decimal("1E+2")),
            (Types.BIG_DEC(), "100", Decimal(100)),
            (Types.BIG_DEC(), "1.10000000000000000001", Decimal("1.10000000000000000001")),
            (Types.BIG_DEC(), "[1]", None),
            (Types.BIG_INT(), "1e3", None),
            (Types.SQL_DATE(), '"2020-1-2"', None),
            (Types.SQL_DATE(), "20200102", None),
            (Types.SQL_TIMESTAMP(), '"2020-01-02T10:11Z"', None),
            (Types.INSTANT(), '"2020-01-02T10:11:12.123456789Z"', Instant(1577959872, 123_456_789)),
            (Types.INSTANT(), '"2020-01-02T10:11:12+01:00"', Instant(1577956272, 0)),
            (Types.INSTANT(), "1577836800.5", Instant(1577836800, 500_000_000)),
            (Types.INSTANT(), "1577836800", Instant(1577836800, 0)),
            (Types.INSTANT(), '"2020-01-02 10:11:12Z"', None),
            (Types.PRIMITIVE_ARRAY(Types.BYTE()), '"Y W"', None),
            (Types.PRIMITIVE_ARRAY(Types.BYTE()), '"_-8="', None),
            (Types.OBJECT_ARRAY(Types.STRING()), '["a",null,1.0]', ["a", None, "1.0"]),
            (Types.OBJECT_ARRAY(Types.STRING()), "{}", None),
        ],
    )
    def test_reads_the_texts_that_flink_reads(self, declared: Any, text: str, value: Any) -> None:
        reader, message = json_reader(Types.ROW([declared])), f'{{"f0":{text}}}'.encode()
        if value is not None:
            assert repr(reader.build().deserialize(message)[0]) == repr(value)
            return
        with pytest.raises(MalformedRecordError, match="field: f0"):
            reader.build().deserialize(message)
        assert reader.ignore_parse_errors().build().deserialize(message)[0] is None

    def test_reads_instants(self) -> None:
        declared = Types.ROW_NAMED(["t"], [Types.INSTANT()])
        row = json_reader(declared).build().deserialize(b'{"t":"1970-01-01T00:00:01.000002Z"}')
        assert row["t"] == Instant(1, 2000)
        assert json_writer(declared).serialize(row) == b'{"t":"1970-01-01T00:00:01.000002Z"}'

    def test_refuses_both_ways_to_treat_errors_at_once(self) -> None:
        with pytest.raises(ArgumentError, match="exclude each other"):
            json_reader().fail_on_missing_field().ignore_parse_errors().build()

    @given(st.text(), st.integers(-(2**31), 2**31 - 1), st.floats(allow_nan=False), st.booleans())
    def test_brings_back_what_was_written(self, text: str, number: int, real: float, flag: bool) -> None:
        row = Row(a=text, i=number, d=real, b=flag)
        assert json_reader().build().deserialize(json_writer(PLAIN).serialize(row)) == row


SCHEMA = """{"type": "object", "definitions": {"t": {"type": "string"}}, "properties": {
    "a": {"type": "string"}, "n": {"type": "number"}, "k": {"type": "integer"},
    "o": {"type": "object", "properties": {"z": {"type": "boolean"}}},
    "l": {"type": "array", "items": {"$ref": "#/definitions/t"}},
    "dt": {"type": "string", "format": "date-time"}, "d": {"type": "string", "format": "date"},
    "by": {"type": "string", "contentEncoding": "base64"}, "u": {"type": ["string", "null"]}}}"""


class TestJsonSchema:
    def test_describes_a_row(self) -> None:
        schema = JsonRowDeserializationSchema.builder().json_schema(SCHEMA).build()
        row = schema.deserialize(
            b'{"a":"x","n":1.5,"k":3,"o":{"z":true},"l":["p"],"dt":"2020-01-02T10:11:12Z","d":"2020-01-02",'
            b'"by":"YWJj","u":null}'
        )
        moment = datetime.datetime(2020, 1, 2, 10, 11, 12)
        assert list(row or ()) == ["x", Decimal("1.5"), 3, Row(z=True), ["p"], moment, moment.date(), b"abc", None]

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("nope", ArgumentError),
            ('{"oneOf": []}', UnsupportedError),
            ('{"type": ["string", "integer"]}', UnsupportedError),
            ('{"type": "null"}', UnsupportedError),
            ('{"$ref": "other.json"}', UnsupportedError),
            ('{"$ref": "#/nowhere"}', ArgumentError),
            ('{"type": "string", "contentEncoding": "hex"}', UnsupportedError),
        ],
    )
    def test_must_be_understood(self, text: str, error: type[Exception]) -> None:
        with pytest.raises(error, match="JSON schema"):
            JsonRowDeserializationSchema.builder().json_schema(text)
