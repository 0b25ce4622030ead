from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.common import ByteArraySchema, Encoder, Row, SimpleStringSchema, Types
from scurry.common.serialization import DeserializationSchema, RowFieldExtractorSchema, SerializationSchema
from scurry.errors import TypeMismatchError


def test_text_goes_there_and_back_in_its_charset() -> None:
    for charset in ("UTF-8", "UTF-16BE", "ISO-8859-1"):
        schema = SimpleStringSchema(charset)
        assert schema.deserialize(schema.serialize("é")) == "é"
    assert SimpleStringSchema("ISO-8859-1").serialize("é") == b"\xe9"


def test_text_beyond_the_charset_is_replaced_as_in_java() -> None:
    assert SimpleStringSchema("ISO-8859-1").serialize("€") == b"?"
    assert SimpleStringSchema().deserialize(b"a\xff") == "a\ufffd"


@pytest.mark.parametrize(
    ("charset", "message"),
    [("UTF-16", b"\xfe\xff\x00\xe9"), ("utf_16", b"\xfe\xff\x00\xe9"), ("UTF-32", b"\x00\x00\x00\xe9")],
)
def test_utf_16_and_utf_32_are_big_endian_as_in_java(charset: str, message: bytes) -> None:
    schema = SimpleStringSchema(charset)
    assert schema.serialize("é") == message
    assert schema.serialize("") == b""
    assert Encoder(charset).encode("é") == message + b"\n"
    assert schema.deserialize(message) == "é"
    assert schema.deserialize_all([message, b""]) == ["é", ""]


def test_a_byte_order_mark_tells_the_byte_order() -> None:
    schema = SimpleStringSchema("UTF-16")
    assert [schema.deserialize(m) for m in (b"\x00a", b"\xfe\xff\x00a", b"\xff\xfea\x00")] == ["a", "a", "a"]
    assert SimpleStringSchema("UTF-32").deserialize(b"\xff\xfe\x00\x00a\x00\x00\x00") == "a"


def test_unknown_charset_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown charset"):
        SimpleStringSchema("UTF-9")


def test_schemas_refuse_records_of_another_kind() -> None:
    for schema, value in ((SimpleStringSchema(), 5), (ByteArraySchema(), "a"), (RowFieldExtractorSchema(0), ("a",))):
        with pytest.raises(TypeMismatchError):
            schema.serialize(value)


def test_bytes_stay_bytes() -> None:
    assert ByteArraySchema().serialize(bytearray(b"a")) == b"a"
    assert ByteArraySchema().deserialize(b"a") == b"a"


def test_row_field_is_extracted() -> None:
    assert RowFieldExtractorSchema(1).serialize(Row("a", b"key")) == b"key"
    assert RowFieldExtractorSchema(0).serialize(Row(None)) == RowFieldExtractorSchema(0).serialize(None) == b""
    with pytest.raises(TypeMismatchError, match="field 0 must be bytes"):
        RowFieldExtractorSchema(0).serialize(Row("a"))
    with pytest.raises(ValueError, match="non-negative"):
        RowFieldExtractorSchema(-1)


def test_schemas_tell_the_type_they_produce() -> None:
    assert SimpleStringSchema().get_produced_type() == Types.STRING()
    assert ByteArraySchema().get_produced_type() == Types.PRIMITIVE_ARRAY(Types.BYTE())
    assert DeserializationSchema().get_produced_type() == Types.PICKLED_BYTE_ARRAY()


def test_base_schemas_ask_to_be_overridden() -> None:
    with pytest.raises(NotImplementedError, match="serialize"):
        SerializationSchema().serialize(1)


def test_encoder_writes_lines_as_java_shows_the_values() -> None:
    encoder = Encoder.simple_string_encoder()
    assert encoder.encode("text") == b"text\n"
    assert encoder.encode(1e10, Types.DOUBLE()) == b"1.0E10\n"
    assert encoder.encode((True, "é"), Types.TUPLE([Types.BOOLEAN(), Types.STRING()])) == "(true,é)\n".encode()
    row = Row._from_values(["a", None], ("f0", "f1"))
    assert encoder.encode(row, Types.ROW([Types.STRING(), Types.INT()])) == b"+I[a, null]\n"
    assert Encoder.simple_string_encoder("ISO-8859-1").encode("é") == b"\xe9\n"


@pytest.mark.parametrize("charset", ["UTF-8", "ISO-8859-1", "US-ASCII", "UTF-16", "UTF-7", "IBM037"])
@given(st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_lines_that_are_encoded_at_once_are_those_of_each_text(charset: str, texts: list[str]) -> None:
    encoder = Encoder.simple_string_encoder(charset)
    assert encoder._lines(texts) == b"".join(map(encoder.encode, texts))
