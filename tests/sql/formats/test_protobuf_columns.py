"""The format `protobuf`: messages as rows and rows as messages, as Flink 2.3 reads and writes them.

`cases.json` has what Flink answered (`record_protobuf.py`); its descriptors are those of the `.proto` files beside it.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, json_format

from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.json import JsonFormat
from scurry.sql.formats.messages import DecodingError
from scurry.sql.formats.protobuf import ProtobufFormat
from scurry.sql.statements.text import parse_type
from scurry.sql.types import RowType

FIXTURES = Path(__file__).parents[2] / "fixtures" / "protobuf"
RECORDED = json.loads((FIXTURES / "cases.json").read_text(encoding="utf-8"))
DESCRIPTORS = json_format.ParseDict(
    json.loads((FIXTURES / "descriptors.json").read_text()), descriptor_pb2.FileDescriptorSet()
)
READ = [case for case in RECORDED["cases"] if "refused" not in case]
REFUSED = [case for case in RECORDED["cases"] if "refused" in case]


@pytest.fixture(scope="module")
def descriptor_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("protobuf") / "shop.bin"
    file.write_bytes(DESCRIPTORS.SerializeToString())
    return str(file)


def columns_of(text: str) -> list[FormatColumn]:
    row = parse_type(f"ROW<{text}>")
    assert isinstance(row, RowType)
    return [FormatColumn(field.name, field.data_type) for field in row.fields]


def options_of(case: dict[str, Any], descriptor_file: str) -> Options:
    given = {"message-class-name": case["class"], "descriptor-file": descriptor_file, **case.get("options", {})}
    return Options({f"protobuf.{key}": value for key, value in given.items()}, "protobuf.")


def bound(case: dict[str, Any], descriptor_file: str) -> tuple[ProtobufFormat, list[FormatColumn], Options]:
    made = ProtobufFormat()
    options = options_of(case, descriptor_file)
    made.check(options)
    return made, columns_of(case["columns"]), options


def from_json(rows: list[Any], columns: list[FormatColumn]) -> pa.RecordBatch:
    names = [column.name for column in columns]
    decoder = JsonFormat().message_decoder(columns, names, (), Options({}, "json."))
    return decoder.decode([json.dumps(row).encode() for row in rows])


def to_json(batch: pa.RecordBatch, columns: list[FormatColumn]) -> list[Any]:
    encoder = JsonFormat().message_encoder(columns, Options({}, "json."))
    return [json.loads(text) for text in encoder.encode(batch)]


@pytest.mark.parametrize("case", READ, ids=range(len(READ)))
def test_messages_are_written_as_flink_writes_them(case: dict[str, Any], descriptor_file: str) -> None:
    factory, columns, options = bound(case, descriptor_file)
    encoder = pickle.loads(pickle.dumps(factory.message_encoder(columns, options)))
    rows = case.get("rows", [])
    written = encoder.encode(from_json([each["row"] for each in rows], columns))
    assert [message.hex() for message in written] == [each["message"] for each in rows]


#: What Flink fails to read although the column may have the type: its number of an enum is no BIGINT.
ENUM_AS_BIGINT = "ClassCastException"


@pytest.mark.parametrize("case", READ, ids=range(len(READ)))
def test_messages_are_read_as_flink_reads_them(case: dict[str, Any], descriptor_file: str) -> None:
    factory, columns, options = bound(case, descriptor_file)
    names = [column.name for column in columns]
    decoder = pickle.loads(pickle.dumps(factory.message_decoder(columns, names, (), options)))
    for each in case.get("messages", ()):
        message = bytes.fromhex(each["message"])
        if each.get("failed", "").startswith(ENUM_AS_BIGINT):
            continue
        if "failed" in each:
            with pytest.raises(DecodingError, match="Failed to deserialize PB object"):
                decoder.decode([message])
            continue
        found = to_json(decoder.decode([message]), columns)
        assert found == ([] if each["row"] is None else [each["row"]]), each["message"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["columns"])
def test_columns_that_do_not_fit_are_refused_in_flinks_words(case: dict[str, Any], descriptor_file: str) -> None:
    kind, _, words = case["refused"].partition(": ")
    with pytest.raises(ValidationError) as refused:
        factory, columns, options = bound(case, descriptor_file)
        factory.message_decoder(columns, [column.name for column in columns], (), options)
    expected = f"get {case['class']} descriptors error!" if kind == "ClassNotFoundException" else words.rstrip(".")
    assert expected.lower() in str(refused.value).lower()


@pytest.fixture
def generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module as protoc generates it."""
    files = [file.SerializeToString() for file in DESCRIPTORS.file]
    (tmp_path / "shop_pb2.py").write_text(
        "from google.protobuf import descriptor_pool, message_factory\n"
        f"files = descriptor_pool.DescriptorPool()\nfor each in {files!r}:\n"
        "    files.AddSerializedFile(each)\n"
        "Order = message_factory.GetMessageClass(files.FindMessageTypeByName('shop.order.Order'))\n"
        "text = 'no class'\n"
    )
    (tmp_path / "broken_pb2.py").write_text("import nowhere_at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("shop_pb2", "broken_pb2"):
        sys.modules.pop(name, None)


def test_the_class_is_one_of_python(generated: None) -> None:
    factory = ProtobufFormat()
    options = Options({"protobuf.message-class-name": "shop_pb2.Order"}, "protobuf.")
    factory.check(options)
    columns = columns_of("t STRING, i INT")
    message = factory.message_encoder(columns, options).encode(from_json([{"t": "a", "i": 1}], columns))
    assert [each.hex() for each in message] == ["0801520161"]
    sys.modules.pop("shop_pb2")
    shipped = pickle.loads(pickle.dumps(factory.message_decoder(columns, ["i"], (), options)))
    assert shipped.decode(message).to_pylist() == [{"i": 1}]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("com.shop.Order", "there is no such Python class: name one that protoc has generated"),
        ("Order", "there is no such Python class"),
        ("shop_pb2.Nope", "the module shop_pb2 has no Nope"),
        ("shop_pb2.text", "shop_pb2.text is 'no class', not a message class"),
        ("broken_pb2.Order", "the module broken_pb2 cannot be imported: No module named 'nowhere_at_all'"),
    ],
)
def test_a_class_that_cannot_be_loaded_is_named(generated: None, name: str, reason: str) -> None:
    with pytest.raises(ValidationError, match=f"get {name} descriptors error!\n{reason}"):
        ProtobufFormat().check(Options({"protobuf.message-class-name": name}, "protobuf."))


@pytest.mark.parametrize("name", ["shop.order.Order", "com.shop.order.OrderOuterClass.Order", "com.shop.former.Order"])
def test_a_message_of_a_descriptor_file_has_its_own_name_and_that_of_its_java_class(
    descriptor_file: str, name: str
) -> None:
    ProtobufFormat().check(options_of({"class": name}, descriptor_file))


def test_a_wrong_descriptor_file_is_named(descriptor_file: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"does not define it; its messages are: shop.former.Item"):
        ProtobufFormat().check(options_of({"class": "Nope"}, descriptor_file))
    with pytest.raises(ValidationError, match="there is no file"):
        ProtobufFormat().check(options_of({"class": "Nope"}, str(tmp_path / "nope")))
    (tmp_path / "text").write_text("message Order {}")
    with pytest.raises(ValidationError, match="is no FileDescriptorSet, as protoc --descriptor_set_out writes"):
        ProtobufFormat().check(options_of({"class": "Nope"}, str(tmp_path / "text")))
