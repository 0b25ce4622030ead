"""Topics of pipelines: the messages are those of Flink CDC's Kafka sink, and tables of their format read them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from scurry.common.types import RowKind
from scurry.connectors.kafka.sink import KafkaSink
from scurry.errors import ScurryError, ValidationError
from scurry.sql.catalog.table_options import Options
from scurry.sql.connectors.contract import Changes
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.registry import find_message_format
from scurry.sql.pipelines.changes import SinkTable
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.pipelines.messages import MessageTarget
from scurry.sql.types import DecimalType, IntType, VarCharType
from scurry.sql.types.values import batch_of_rows

INSERT, BEFORE, AFTER, DELETE = (
    kind.value for kind in (RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE)
)
NAMES, TYPES = ("id", "name", "price"), (IntType(False), VarCharType(9), DecimalType(5, 2))
ORDERS = SinkTable("app.orders", TableColumns(NAMES, TYPES, ("id",)))
ROWS = [[1, "a", None], [1, "a", None], [1, "b", Decimal("2.5")], [2, "ü", None]]
KINDS = [INSERT, BEFORE, AFTER, DELETE]


def messages(
    rows: list[list[Any]], kinds: list[int] | None, table: SinkTable = ORDERS, **options: str
) -> list[tuple[Any, ...]]:
    given = {name.replace("__", "-").replace("_", "."): text for name, text in options.items()}
    target = MessageTarget(tuple({"properties.bootstrap.servers": "nowhere:1", **given}.items()))
    target.check()
    sink = target.sink(table)
    assert isinstance(sink, KafkaSink)
    batch = batch_of_rows(rows, list(table.columns.names), list(table.columns.types))
    changes = Changes(batch, None if kinds is None else np.array(kinds, dtype=np.int8))
    return list(sink.serializer.records([changes], None))


def texts(found: list[tuple[Any, ...]]) -> list[str]:
    return [value.decode() for _, _, value, _, _ in found]


def test_an_update_is_one_message_of_debezium_json() -> None:
    found = messages(ROWS, KINDS)
    source = '"source":{"db":"app","table":"orders"}'
    assert texts(found) == [
        f'{{"before":null,"after":{{"id":1,"name":"a","price":null}},"op":"c",{source}}}',
        '{"before":{"id":1,"name":"a","price":null},"after":{"id":1,"name":"b","price":2.5},"op":"u",' + source + "}",
        f'{{"before":{{"id":2,"name":"ü","price":null}},"after":null,"op":"d",{source}}}',
    ]
    assert [(topic, key.decode()) for topic, key, *_ in found] == [
        ("app.orders", '{"TableId":"app.orders","id":1}'),
        ("app.orders", '{"TableId":"app.orders","id":1}'),
        ("app.orders", '{"TableId":"app.orders","id":2}'),
    ]


def test_an_update_is_one_message_of_canal_json() -> None:
    end = '"database":"app","table":"orders","pkNames":["id"]}'
    assert texts(messages(ROWS, KINDS, value_format="canal-json")) == [
        '{"old":null,"data":[{"id":1,"name":"a","price":null}],"type":"INSERT",' + end,
        '{"old":[{"id":1,"name":"a","price":null}],"data":[{"id":1,"name":"b","price":2.5}],"type":"UPDATE",' + end,
        '{"old":null,"data":[{"id":2,"name":"ü","price":null}],"type":"DELETE",' + end,
    ]


@pytest.mark.parametrize("form", ["debezium-json", "canal-json"])
def test_tables_of_the_format_read_the_changes(form: str) -> None:
    columns = [FormatColumn(name, kind) for name, kind in zip(NAMES, TYPES, strict=True)]
    decoder = find_message_format(form, "scan").message_decoder(columns, NAMES, (), Options({}))
    found = decoder.decode_messages([value for _, _, value, _, _ in messages(ROWS, KINDS, value_format=form)])
    assert found.batch.to_pylist() == batch_of_rows(ROWS, list(NAMES), list(TYPES)).to_pylist()
    assert list(found.kinds) == KINDS  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kinds", "operations"),
    [
        (None, ["c", "c"]),
        # the row before is not known
        ([AFTER, AFTER], ["u", "u"]),
        # the row after is not there
        ([BEFORE, INSERT], ["d", "c"]),
        ([DELETE, BEFORE], ["d", "d"]),
        ([BEFORE, AFTER], ["u"]),
    ],
)
def test_operations(kinds: list[int] | None, operations: list[str]) -> None:
    found = texts(messages(ROWS[:2], kinds))
    assert [text.split('"op":"')[1][0] for text in found] == operations


def test_formats_have_their_options() -> None:
    options = {"debezium-json.encode.ignore-null-fields": "true"}
    target = MessageTarget(tuple({"properties.bootstrap.servers": "nowhere:1", **options}.items()))
    sink: Any = target.sink(ORDERS)
    changes = Changes(batch_of_rows([[1, None, None]], list(NAMES), list(TYPES)), None)
    ((_, _, value, _, _),) = sink.serializer.records([changes], None)
    assert value.decode() == '{"after":{"id":1},"op":"c","source":{"db":"app","table":"orders"}}'


def test_keys_of_csv_and_headers() -> None:
    more = {"sink.add-tableId-to-header-enabled": "true", "sink.custom-header": "by:scurry, to:all"}
    target = MessageTarget(tuple({"properties.bootstrap.servers": "nowhere:1", "key.format": "csv", **more}.items()))
    target.check()
    sink: Any = target.sink(ORDERS)
    changes = Changes(batch_of_rows(ROWS[:1], list(NAMES), list(TYPES)), None)
    ((_, key, _, _, headers),) = sink.serializer.records([changes], None)
    assert key == b"app.orders,1"
    names = [("namespace", b""), ("schemaName", b"app"), ("tableName", b"orders")]
    assert headers == [*names, ("by", b"scurry"), ("to", b"all")]


def test_a_table_without_a_primary_key_has_its_name_as_key() -> None:
    loose = SinkTable("app.loose", TableColumns(("a",), (IntType(),)))
    ((topic, key, *_),) = messages([[1]], None, loose)
    assert (topic, key) == ("app.loose", b'{"TableId":"app.loose"}')


def test_tables_go_to_the_topics_of_the_mapping() -> None:
    options = (("properties.bootstrap.servers", "nowhere:1"), ("sink.tableId-to-topic.mapping", "app.orders:o;x.y:z"))
    sink: Any = MessageTarget(options).sink(ORDERS)
    assert sink.serializer.topic == "o"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partition.strategy": "all-to-zero"}, "'partition.strategy' = 'all-to-zero': rows go to partitions by"),
        ({"sink.custom-header": "by"}, "'sink.custom-header' is name:text,name:text, and 'by' is none"),
        ({"sink.add-tableId-to-header-enabled": "yes"}, "'sink.add-tableId-to-header-enabled' is true or false"),
        ({"sink.debezium-json.include-schema.enabled": "true"}, "sink.debezium-json.include-schema.enabled"),
        ({"value.format": "debezium"}, "debezium"),
    ],
)
def test_what_is_not_there_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ScurryError, match=message):
        target = MessageTarget(tuple({"properties.bootstrap.servers": "nowhere:1", **options}.items()))
        target.check()
        target.sink(ORDERS)


def test_a_column_with_the_name_of_the_field_of_keys_is_refused() -> None:
    table = SinkTable("app.x", TableColumns(("TableId",), (IntType(),)))
    with pytest.raises(ValidationError, match="table app.x has a column 'TableId', which is a field of keys"):
        messages([[1]], None, table)
