"""Rows and dicts as Avro messages; the expectations are recorded from Flink 2.3 (fixtures/flink/connectors)."""

from __future__ import annotations

import ast
import datetime
import json
import pickle
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Row, Types
from scurry.datastream.formats.avro import (
    AvroDeserializationSchema,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    AvroSerializationSchema,
    GenericRecordAvroTypeInfo,
)
from scurry.errors import (
    ArgumentError,
    ArgumentTypeError,
    ExtraMissingError,
    MalformedRecordError,
    SourceNotFoundError,
    TypeMismatchError,
    UnsupportedError,
)

RECORDED = Path(__file__).parents[1] / "fixtures" / "flink" / "connectors" / "avro_messages.expected"
INNER = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "string"}]}
FIXED = {"type": "fixed", "name": "F", "size": 2}
KINDS: dict[str, Any] = {
    **{name: name for name in ("boolean", "int", "long", "float", "double", "bytes", "string", "null")},
    "fixed": FIXED,
    "enum": {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]},
    "array": {"type": "array", "items": "int"},
    "array-null": {"type": "array", "items": ["null", "string"]},
    "map": {"type": "map", "values": "long"},
    "map-array": {"type": "map", "values": {"type": "array", "items": "string"}},
    "record": INNER,
    "records": {"type": "array", "items": INNER},
    "nullable": ["null", "int"],
    "nullable-last": ["int", "null"],
    "one": ["int"],
    "several": ["null", "int", "string"],
    "date": {"type": "int", "logicalType": "date"},
    "time-millis": {"type": "int", "logicalType": "time-millis"},
    "time-micros": {"type": "long", "logicalType": "time-micros"},
    "timestamp-millis": {"type": "long", "logicalType": "timestamp-millis"},
    "timestamp-micros": {"type": "long", "logicalType": "timestamp-micros"},
    "local-timestamp-millis": {"type": "long", "logicalType": "local-timestamp-millis"},
    "decimal-bytes": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
    "decimal-fixed": {
        "type": "fixed", "logicalType": "decimal", "name": "D", "size": 5, "precision": 10, "scale": 2,
    },
    "uuid": {"type": "string", "logicalType": "uuid"},
}  # fmt: skip


def of(kind: Any) -> str:
    return json.dumps({"type": "record", "name": "Outer", "fields": [{"name": "v", "type": kind}]})


def reading(kind: Any) -> AvroRowDeserializationSchema:
    schema = AvroRowDeserializationSchema(avro_schema_string=of(kind))
    return pickle.loads(pickle.dumps(schema))  # type: ignore[no-any-return]


def writing(kind: Any) -> AvroRowSerializationSchema:
    schema = AvroRowSerializationSchema(avro_schema_string=of(kind))
    return pickle.loads(pickle.dumps(schema))  # type: ignore[no-any-return]


def recorded() -> list[Any]:
    """Name, bytes, and the text of the row Flink reads in them."""
    found = re.findall(r"^read (\S+) (b'.*'|b\".*\") Row.* -> (.*)$", RECORDED.read_text(), re.MULTILINE)
    return [pytest.param(KINDS[name], ast.literal_eval(message), text, id=f"{name} {text}")
            for name, message, text in found if name in KINDS]  # fmt: skip


class TestRows:
    def test_as_many_kinds_are_recorded_as_are_known(self) -> None:
        assert len(recorded()) > len(KINDS)

    @pytest.mark.parametrize(("kind", "message", "text"), recorded())
    def test_are_those_of_flink(self, kind: Any, message: bytes, text: str) -> None:
        schema = reading(kind)
        assert schema.get_produced_type().to_java_string(schema.deserialize(message)) == text

    @pytest.mark.parametrize(("kind", "message", "text"), recorded())
    def test_become_the_bytes_they_were_read_from(self, kind: Any, message: bytes, text: str) -> None:
        assert writing(kind).serialize(reading(kind).deserialize(message)) == message

    def test_have_the_type_of_flink(self) -> None:
        fields = {
            "fixed": Types.PRIMITIVE_ARRAY(Types.BYTE()),
            "enum": Types.STRING(),
            "array": Types.OBJECT_ARRAY(Types.INT()),
            "array-null": Types.BASIC_ARRAY(Types.STRING()),
            "map-array": Types.MAP(Types.STRING(), Types.BASIC_ARRAY(Types.STRING())),
            "records": Types.OBJECT_ARRAY(Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])),
            "nullable-last": Types.INT(),
            "several": Types.PICKLED_BYTE_ARRAY(),
            "time-micros": Types.SQL_TIME(),
            "timestamp-micros": Types.SQL_TIMESTAMP(),
            "local-timestamp-millis": Types.LONG(),
            "decimal-fixed": Types.BIG_DEC(),
        }
        for name, declared in fields.items():
            assert reading(KINDS[name]).get_produced_type() == Types.ROW_NAMED(["v"], [declared]), name

    def test_are_written_by_name_or_by_position(self) -> None:
        schema = AvroRowSerializationSchema(avro_schema_string=json.dumps(INNER))
        assert schema.serialize(Row(y="z", x=1)) == schema.serialize(Row(1, "z")) == schema.serialize((1, "z"))

    def test_decimals_get_the_scale_of_the_schema(self) -> None:
        """Flink writes 12.3 as if it were 1.23, and fails for fixed decimals of fewer bytes."""
        for name in ("decimal-bytes", "decimal-fixed"):
            message = writing(KINDS[name]).serialize(Row(Decimal("12.3")))
            assert reading(KINDS[name]).deserialize(message) == Row(v=Decimal("12.30"))

    def test_a_type_may_be_named_where_it_comes_again(self) -> None:
        fields = [{"name": "a", "type": INNER}, {"name": "b", "type": ["null", "Inner"]}]
        text = json.dumps({"type": "record", "name": "Outer", "fields": fields})
        row = Row(a=Row(x=1, y="p"), b=Row(x=2, y="q"))
        message = AvroRowSerializationSchema(avro_schema_string=text).serialize(row)
        assert AvroRowDeserializationSchema(avro_schema_string=text).deserialize(message) == row


class TestWrongValues:
    @pytest.mark.parametrize(
        ("kind", "value", "complaint"),
        [
            ("int", 1 << 31, "an int is an int of 32 bits, in field 'v' of the Avro record Outer"),
            ("long", 1 << 63, "of 64 bits"),
            ("int", True, "an int is an int"),
            ("int", None, "an int is an int"),
            ("int", "x", "an int is an int"),
            ("boolean", 1, "it is a bool"),
            ("string", None, "on field v"),
            ("string", 5, "on field v"),
            ("double", "x", "could not convert"),
            ("bytes", "x", "they are bytes"),
            (FIXED, b"a", "length 1"),
            (KINDS["enum"], "GREEN", "GREEN"),
            (KINDS["array"], "ab", "an array is a list"),
            (KINDS["array"], [1, "x"], "an int is an int"),
            (KINDS["map"], [], "a map is a dict"),
            (INNER, Row(1), "it has 2 fields, not 1, in field 'v'"),
            (INNER, {"x": 1, "why": "z"}, "no field 'why'"),
            (INNER, {"x": 1}, "the fields y are missing"),
            (INNER, 5, "a record is a Row, dict, tuple or list"),
            (KINDS["date"], "2020-01-02", "it is a date"),
            (KINDS["timestamp-millis"], 5, "it is a datetime"),
            (KINDS["decimal-bytes"], Decimal("12.345"), "cale"),
            (KINDS["several"], 1.5, "1.5"),
        ],
    )
    def test_are_refused(self, kind: Any, value: Any, complaint: str) -> None:
        with pytest.raises(TypeMismatchError, match=re.escape(complaint)):
            writing(kind).serialize(Row(value))


class TestWrongMessages:
    @pytest.mark.parametrize(
        ("kind", "message", "complaint"),
        [("string", b"\x10ab", "Avro message"), ("int", b"", "ends too early"), (KINDS["enum"], b"\x08", "Error")],
    )
    def test_are_refused(self, kind: Any, message: bytes, complaint: str) -> None:
        with pytest.raises(MalformedRecordError, match=complaint):
            reading(kind).deserialize(message)

    def test_what_follows_a_value_is_not_looked_at(self) -> None:
        assert reading("int").deserialize(b"\x02\x02") == Row(v=1)


class TestSchemas:
    def test_are_equal_if_their_json_is(self) -> None:
        spaced, dense = AvroSchema.parse_string(json.dumps(INNER, indent=2)), AvroSchema(json.dumps(INNER))
        assert spaced == dense == pickle.loads(pickle.dumps(spaced))
        assert hash(spaced) == hash(dense)
        assert json.loads(str(spaced)) == INNER

    def test_come_from_files(self, tmp_path: Path) -> None:
        (tmp_path / "inner.avsc").write_text(json.dumps(INNER))
        assert AvroSchema.parse_file(str(tmp_path / "inner.avsc")) == AvroSchema(json.dumps(INNER))
        with pytest.raises(SourceNotFoundError, match="other.avsc"):
            AvroSchema.parse_file(str(tmp_path / "other.avsc"))

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("nope", "no JSON"),
            ('"what"', "unknown type 'what'"),
            (of("Missing"), "unknown type 'Missing'"),
            ('{"type": "enum", "name": "E", "symbols": ["a b"]}', "a b"),
        ],
    )
    def test_that_are_none_are_refused(self, text: str, complaint: str) -> None:
        with pytest.raises(ArgumentError, match=complaint):
            AvroSchema.parse_string(text)

    def test_of_rows_must_be_of_a_record(self) -> None:
        with pytest.raises(UnsupportedError, match="only records"):
            AvroRowDeserializationSchema(avro_schema_string='"int"')

    def test_of_rows_do_not_contain_themselves(self) -> None:
        tree = {"type": "record", "name": "Tree", "fields": [{"name": "next", "type": ["null", "Tree"]}]}
        with pytest.raises(UnsupportedError, match="contains itself"):
            AvroRowDeserializationSchema(avro_schema_string=json.dumps(tree))
        leaf = {"next": {"next": None}}
        schema = AvroSchema(json.dumps(tree))
        message = AvroSerializationSchema.for_generic(schema).serialize(leaf)
        assert AvroDeserializationSchema.for_generic(schema).deserialize(message) == leaf

    def test_classes_of_java_are_refused(self) -> None:
        with pytest.raises(UnsupportedError, match="avro_schema_string"):
            AvroRowDeserializationSchema(record_class="org.example.User")

    def test_one_must_be_given(self) -> None:
        with pytest.raises(ArgumentTypeError, match="should be specified"):
            AvroRowSerializationSchema()
        with pytest.raises(ArgumentTypeError, match="text of its JSON"):
            AvroSchema.parse_string(None)  # type: ignore[arg-type]

    def test_without_the_library_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "fastavro", None)
        with pytest.raises(ExtraMissingError, match=r"scurry\[avro\]"):
            AvroSchema.parse_string('{"type": "fixed", "name": "NeverParsedBefore", "size": 1}')


class TestDicts:
    SCHEMA = AvroSchema(
        json.dumps({
            "type": "record", "name": "Event", "fields": [
                {"name": "id", "type": "long"},
                {"name": "at", "type": KINDS["timestamp-micros"]},
                {"name": "tag", "type": "bytes", "default": "\u00ff"},
                {"name": "note", "type": ["null", "string"], "default": None},
                {"name": "due", "type": KINDS["date"], "default": 1},
                {"name": "inner", "type": INNER, "default": {"x": 1, "y": "z"}},
            ],
        })
    )  # fmt: skip
    DEFAULTS = {"tag": b"\xff", "note": None, "due": datetime.date(1970, 1, 2), "inner": {"x": 1, "y": "z"}}
    AT = datetime.datetime(2020, 1, 2, 3, 4, 5, 678901, datetime.UTC)

    def test_are_read_with_all_they_hold(self) -> None:
        value = {"id": 1, "at": self.AT, "tag": b"t", "note": "n", "due": datetime.date.max, "inner": {"x": 0, "y": ""}}
        write = pickle.loads(pickle.dumps(AvroSerializationSchema.for_generic(self.SCHEMA)))
        read = pickle.loads(pickle.dumps(AvroDeserializationSchema.for_generic(self.SCHEMA)))
        assert read.deserialize(write.serialize(value)) == value
        assert read.get_produced_type() == GenericRecordAvroTypeInfo(self.SCHEMA)

    def test_may_lack_what_has_a_default(self) -> None:
        message = AvroSerializationSchema.for_generic(self.SCHEMA).serialize({"id": 1, "at": self.AT})
        found = AvroDeserializationSchema.for_generic(self.SCHEMA).deserialize(message)
        assert found == {"id": 1, "at": self.AT, **self.DEFAULTS}

    def test_timestamps_without_zone_are_in_utc(self) -> None:
        write = AvroSerializationSchema.for_generic(self.SCHEMA)
        assert write.serialize({"id": 1, "at": self.AT.replace(tzinfo=None)}) == write.serialize(
            {"id": 1, "at": self.AT}
        )

    def test_are_read_from_messages_of_another_version(self) -> None:
        fields = [{"name": "gone", "type": "string"}, {"name": "id", "type": "int"}]
        fields.append({"name": "at", "type": KINDS["timestamp-micros"]})
        older = AvroSchema(json.dumps({"type": "record", "name": "Event", "fields": fields}))
        message = AvroSerializationSchema.for_generic(older).serialize({"gone": "g", "id": 7, "at": self.AT})
        found = AvroDeserializationSchema.for_generic(self.SCHEMA, older).deserialize(message)
        assert found == {"id": 7, "at": self.AT, **self.DEFAULTS}

    def test_do_not_share_defaults(self) -> None:
        older, newer = (
            AvroSchema(json.dumps({"type": "record", "name": "R", "fields": fields}))
            for fields in ([], [{"name": "tags", "type": KINDS["array"], "default": []}])
        )
        read = AvroDeserializationSchema.for_generic(newer, older)
        read.deserialize(b"")["tags"].append(1)
        assert read.deserialize(b"") == {"tags": []}

    def test_values_need_not_be_records(self) -> None:
        schema = AvroSchema('{"type": "array", "items": ["null", "int", "string"]}')
        message = AvroSerializationSchema.for_generic(schema).serialize([1, None, "x"])
        assert AvroDeserializationSchema.for_generic(schema).deserialize(message) == [1, None, "x"]
