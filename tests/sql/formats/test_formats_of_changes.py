"""Formats of changes: messages of Debezium, Canal, Maxwell and GoldenGate as rows, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scurry.common.types import RowKind
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.message_format import BoundFormat, bound_format
from scurry.sql.formats.messages import DecodingError
from scurry.sql.types import IntType, VarCharType
from scurry.sql.types.values import from_values, to_values

COLUMNS = [FormatColumn("id", IntType()), FormatColumn("name", VarCharType(0x7FFFFFFF))]
INSERT, BEFORE, AFTER, DELETE = (
    RowKind.INSERT.value,
    RowKind.UPDATE_BEFORE.value,
    RowKind.UPDATE_AFTER.value,
    RowKind.DELETE.value,
)


def bound(identifier: str, kind: str = "scan", **options: str) -> BoundFormat:
    given = {f"{identifier}.{key.replace('_', '-')}": value for key, value in options.items()}
    return bound_format(Options(given), "", identifier, COLUMNS, kind)


def decoded(identifier: str, *messages: Any, metadata: tuple[str, ...] = (), **options: str) -> list[tuple[Any, ...]]:
    texts = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    found = bound(identifier, **options).decoder(["id", "name"], metadata).decode_messages(texts)
    assert found.kinds is not None
    return list(zip(found.kinds, *map(to_values, found.batch.columns), strict=True))


OLD, NEW = {"id": 1, "name": "old"}, {"id": 1, "name": "new"}


@pytest.mark.parametrize(
    ("identifier", "insert", "update", "delete"),
    [
        (
            "debezium-json",
            {"before": None, "after": OLD, "op": "c"},
            {"before": OLD, "after": NEW, "op": "u"},
            {"before": NEW, "after": None, "op": "d"},
        ),
        (
            "ogg-json",
            {"after": OLD, "op_type": "I"},
            {"before": OLD, "after": NEW, "op_type": "U"},
            {"before": NEW, "op_type": "D"},
        ),
        (
            "canal-json",
            {"data": [OLD], "type": "INSERT", "old": None},
            {"data": [NEW], "type": "UPDATE", "old": [{"name": "old"}]},
            {"data": [NEW], "type": "DELETE"},
        ),
        (
            "maxwell-json",
            {"data": OLD, "type": "insert"},
            {"data": NEW, "old": {"name": "old"}, "type": "update"},
            {"data": NEW, "type": "delete"},
        ),
    ],
)
def test_messages_are_changes(identifier: str, insert: Any, update: Any, delete: Any) -> None:
    assert decoded(identifier, insert, update, delete) == [
        (INSERT, 1, "old"),
        (BEFORE, 1, "old"),
        (AFTER, 1, "new"),
        (DELETE, 1, "new"),
    ]


@pytest.mark.parametrize(
    ("identifier", "added", "removed"),
    [
        (
            "debezium-json",
            '{"before":null,"after":{"id":1,"name":"a"},"op":"c"}',
            '{"before":{"id":1,"name":"a"},"after":null,"op":"d"}',
        ),
        (
            "ogg-json",
            '{"before":null,"after":{"id":1,"name":"a"},"op_type":"I"}',
            '{"before":{"id":1,"name":"a"},"after":null,"op_type":"D"}',
        ),
        (
            "canal-json",
            '{"data":[{"id":1,"name":"a"}],"type":"INSERT"}',
            '{"data":[{"id":1,"name":"a"}],"type":"DELETE"}',
        ),
        (
            "maxwell-json",
            '{"data":{"id":1,"name":"a"},"type":"insert"}',
            '{"data":{"id":1,"name":"a"},"type":"delete"}',
        ),
    ],
)
def test_an_update_is_written_as_a_deletion_and_an_insertion(identifier: str, added: str, removed: str) -> None:
    import pyarrow as pa

    columns = [from_values([1] * 4, COLUMNS[0].type), from_values(["a"] * 4, COLUMNS[1].type)]
    batch = pa.RecordBatch.from_arrays(columns, names=["id", "name"])
    written = bound(identifier, "sink").encoder().encode_changes(batch, [INSERT, BEFORE, AFTER, DELETE])
    assert [each.decode() for each in written] == [added, removed, added, removed]


def test_debezium_messages_with_a_schema_have_the_change_below_payload() -> None:
    message = {"schema": {}, "payload": {"before": None, "after": NEW, "op": "r"}}
    assert decoded("debezium-json", message, schema_include="true") == [(INSERT, 1, "new")]


def test_metadata_are_columns_after_the_others() -> None:
    message = {"after": NEW, "op": "c", "ts_ms": 5, "source": {"db": "d", "table": "t", "ts_ms": 3}}
    keys = ("ingestion-timestamp", "source.timestamp", "source.table")
    assert decoded("debezium-json", message, metadata=keys) == [(INSERT, 1, "new", 5, 3, "t")]


def test_an_update_without_the_former_row_names_replica_identity() -> None:
    with pytest.raises(DecodingError, match='The "before" field of UPDATE message is null'):
        decoded("debezium-json", {"before": None, "after": NEW, "op": "u"})


def test_messages_that_cannot_be_read_are_skipped_if_asked() -> None:
    wrong = ({"op": "x"}, {"before": {"id": 1}, "after": {"id": {}}, "op": "u"}, b"{")
    assert decoded("debezium-json", *wrong, {"after": OLD, "op": "c"}, ignore_parse_errors="true")[-1] == (
        INSERT,
        1,
        "old",
    )


def test_canal_reads_chosen_tables() -> None:
    chosen = {"data": [NEW], "type": "INSERT", "database": "shop", "table": "orders_1"}
    other = {"data": [OLD], "type": "INSERT", "database": "shop", "table": "users"}
    found = bound_format(Options({"canal-json.table.include": "orders_.*"}), "", "canal-json", COLUMNS, "scan")
    messages = [json.dumps(each).encode() for each in (chosen, other)]
    assert to_values(found.decoder(["name"], ()).decode_messages(messages).batch.column(0)) == ["new"]


def test_empty_messages_have_no_rows() -> None:
    assert decoded("debezium-json", b"") == []


def test_sinks_write_no_schema() -> None:
    with pytest.raises(ValidationError, match="'debezium-json.schema-include' option been set to true"):
        bound("debezium-json", "sink", schema_include="true")
