"""Messages of Protocol Buffers as rows and as they are."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.timestamp_pb2 import Timestamp

from scurry.common import Row, Types
from scurry.datastream.formats.protobuf import (
    ProtobufDeserializationSchema,
    ProtobufRowDeserializationSchema,
    ProtobufRowSerializationSchema,
    ProtobufSerializationSchema,
)
from scurry.errors import ArgumentTypeError, MalformedRecordError, TypeMismatchError, UnsupportedError

Field = descriptor_pb2.FieldDescriptorProto


def field(message: Any, name: str, kind: str, repeated: bool = False, of: str = "", optional: bool = False) -> Any:
    label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
    made = message.field.add(name=name, number=len(message.field) + 1, type=getattr(Field, f"TYPE_{kind}"), label=label)
    if of:
        made.type_name = of
    if optional:
        made.proto3_optional = True
        made.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{name}")
    return made


def shop_classes() -> tuple[Any, Any]:
    """What protoc generates for a message with fields of every kind, and for one that contains itself."""
    file = descriptor_pb2.FileDescriptorProto(name="orders.proto", package="shop", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    colour = file.enum_type.add(name="Colour")
    for number, name in enumerate(("RED", "BLUE")):
        colour.value.add(name=name, number=number)
    item = file.message_type.add(name="Item")
    field(item, "name", "STRING")
    tree = file.message_type.add(name="Tree")
    field(tree, "value", "INT32")
    field(tree, "children", "MESSAGE", repeated=True, of=".shop.Tree")
    order = file.message_type.add(name="Order")
    for kind in ("INT32", "SINT64", "UINT32", "FIXED64", "DOUBLE", "FLOAT", "BOOL", "STRING", "BYTES"):
        field(order, kind.lower(), kind)
    field(order, "colour", "ENUM", of=".shop.Colour")
    field(order, "note", "STRING", optional=True)
    field(order, "item", "MESSAGE", of=".shop.Item")
    field(order, "items", "MESSAGE", repeated=True, of=".shop.Item")
    field(order, "numbers", "INT32", repeated=True)
    field(order, "colours", "ENUM", repeated=True, of=".shop.Colour")
    field(order, "at", "MESSAGE", of=".google.protobuf.Timestamp")
    for name, kind, of in (("counts", "INT64", ""), ("stock", "MESSAGE", ".shop.Item")):
        entry = order.nested_type.add(name=f"{name.capitalize()}Entry")
        entry.options.map_entry = True
        field(entry, "key", "STRING")
        field(entry, "value", kind, of=of)
        field(order, name, "MESSAGE", repeated=True, of=f".shop.Order.{entry.name}")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(Timestamp.DESCRIPTOR.file.serialized_pb)
    pool.Add(file)
    order_class, tree_class = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in ("shop.Order", "shop.Tree")
    )
    return order_class, tree_class


Order, Tree = shop_classes()

FULL = Row(
    int32=-1, sint64=-(1 << 60), uint32=1 << 31, fixed64=1 << 63, double=0.5, float=0.25, bool=True, string="é",
    bytes=b"\x00\xff", colour="BLUE", note="", item=Row(name="tea"), items=[Row(name="a"), Row(name="b")],
    numbers=[1, 2], colours=["RED", "BLUE"], at=Row(seconds=5, nanos=7), counts={"x": 1}, stock={"y": Row(name="c")},
)  # fmt: skip
EMPTY = Row(
    int32=0, sint64=0, uint32=0, fixed64=0, double=0.0, float=0.0, bool=False, string="", bytes=b"", colour="RED",
    note=None, item=None, items=[], numbers=[], colours=[], at=None, counts={}, stock={},
)  # fmt: skip


def reading(*options: Any, **more: Any) -> Any:
    return pickle.loads(pickle.dumps(ProtobufRowDeserializationSchema(Order, *options, **more)))


def writing(cls: Any = Order) -> Any:
    return pickle.loads(pickle.dumps(ProtobufRowSerializationSchema(cls)))


class TestRows:
    def test_have_all_that_is_in_a_message(self) -> None:
        assert reading().deserialize(writing().serialize(FULL)) == FULL

    def test_are_read_from_what_others_write(self) -> None:
        message = Order(int32=-1, colour=1, item={"name": "tea"}, numbers=[1], counts={"x": 1})
        row = reading().deserialize(message.SerializeToString())
        assert (row.int32, row.colour, row.item, row.numbers) == (-1, "BLUE", Row(name="tea"), [1])
        assert row.counts == {"x": 1}

    def test_are_written_as_others_do(self) -> None:
        message = Order.FromString(writing().serialize(FULL))
        assert (message.colour, list(message.colours), message.stock["y"].name, message.at.nanos) == (1, [0, 1], "c", 7)

    def test_have_none_where_a_message_says_that_nothing_was_set(self) -> None:
        assert reading().deserialize(b"") == EMPTY

    def test_have_defaults_there_if_wanted(self) -> None:
        row = reading(read_default_values=True).deserialize(b"")
        assert (row.note, row.item) == ("", None)

    def test_a_message_without_fields_is_not_none(self) -> None:
        message = writing().serialize({"item": {}})
        assert reading().deserialize(message).item == Row(name="")

    def test_are_written_from_dicts_and_positions_too(self) -> None:
        assert writing().serialize(FULL.as_dict(recursive=True)) == writing().serialize(tuple(FULL))
        assert writing().serialize({"int32": None, "string": "x"}) == Order(string="x").SerializeToString()

    def test_unknown_values_of_enums_are_numbers(self) -> None:
        assert reading().deserialize(Order(colour=7).SerializeToString()).colour == "7"

    def test_have_types_by_those_of_the_fields(self) -> None:
        item = Types.ROW_NAMED(["name"], [Types.STRING()])
        expected = [
            Types.INT(), Types.LONG(), Types.LONG(), Types.BIG_INT(), Types.DOUBLE(), Types.FLOAT(), Types.BOOLEAN(),
            Types.STRING(), Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.STRING(), Types.STRING(), item,
            Types.OBJECT_ARRAY(item), Types.OBJECT_ARRAY(Types.INT()), Types.OBJECT_ARRAY(Types.STRING()),
            Types.ROW_NAMED(["seconds", "nanos"], [Types.LONG(), Types.INT()]), Types.MAP(Types.STRING(), Types.LONG()),
            Types.MAP(Types.STRING(), item),
        ]  # fmt: skip
        declared = reading().get_produced_type()
        assert declared == Types.ROW_NAMED(list(FULL.as_dict()), expected)
        assert declared.converter()(FULL) == FULL

    def test_cannot_contain_themselves_but_messages_can(self) -> None:
        with pytest.raises(UnsupportedError, match=r"shop\.Tree contains itself"):
            ProtobufRowDeserializationSchema(Tree)
        message = writing(Tree).serialize({"value": 1, "children": [{"value": 2}]})
        assert ProtobufDeserializationSchema(Tree).deserialize(message) == Tree(value=1, children=[Tree(value=2)])


class TestWrongValues:
    @pytest.mark.parametrize(
        ("value", "complaint"),
        [
            ({"int32": 1 << 31}, "field 'int32' of the message shop.Order"),
            ({"int32": "x"}, "field 'int32'"),
            ({"string": 5}, "field 'string'"),
            ({"colour": "GREEN"}, "its values are RED, BLUE, in field 'colour'"),
            ({"colours": ["RED", "GREEN"]}, "its values are RED, BLUE, in field 'colours'"),
            ({"numbers": 5}, "field 'numbers'"),
            ({"counts": []}, "field 'counts'"),
            ({"item": 5}, "it is made from a Row, dict, tuple or list, in field 'item'"),
            ({"items": [{"nam": "x"}]}, "it has no field 'nam'; did you mean 'name'?, in field 'items'"),
            ((1, 2), "it has 18 fields, not 2"),
        ],
    )
    def test_are_refused(self, value: Any, complaint: str) -> None:
        with pytest.raises(TypeMismatchError, match=re.escape(complaint)):
            writing().serialize(value)


class TestMessages:
    def test_are_read_and_written_as_they_are(self) -> None:
        write = pickle.loads(pickle.dumps(ProtobufSerializationSchema(Timestamp)))
        read = pickle.loads(pickle.dumps(ProtobufDeserializationSchema(Timestamp)))
        assert read.deserialize(write.serialize(Timestamp(seconds=5))) == Timestamp(seconds=5)

    def test_of_another_class_are_refused(self) -> None:
        with pytest.raises(TypeMismatchError, match="use ProtobufRowSerializationSchema"):
            ProtobufSerializationSchema(Timestamp).serialize({"seconds": 5})

    @pytest.mark.parametrize("schema", [ProtobufRowDeserializationSchema, ProtobufDeserializationSchema])
    def test_that_are_none_are_refused_or_skipped(self, schema: Any) -> None:
        with pytest.raises(MalformedRecordError, match="Protobuf message.*parsing"):
            schema(Order).deserialize(b"\xff")
        assert schema(Order, ignore_parse_errors=True).deserialize(b"\xff") is None

    def test_need_a_generated_class(self) -> None:
        with pytest.raises(ArgumentTypeError, match="protoc"):
            ProtobufRowSerializationSchema(dict)
