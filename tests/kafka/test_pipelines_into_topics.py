"""A database of PostgreSQL becomes topics of a broker: rows, then changes, in the formats of Flink CDC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.cdc.databases import PostgresShop
from support.kafka.broker import Kafka
from support.pipelines.running import run_until, written

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@pytest.mark.parametrize(
    ("form", "guarantee", "operations"),
    [
        ("debezium-json", "exactly-once", ["c", "c", "u", "d", "c"]),
        ("canal-json", "at-least-once", ["INSERT", "INSERT", "UPDATE", "DELETE", "INSERT"]),
    ],
)
def test_a_database_becomes_topics(
    form: str, guarantee: str, operations: list[str], kafka: Kafka, postgres_server: Any, tmp_path: Path
) -> None:
    postgres_server.empty()
    shop = PostgresShop(postgres_server)
    shop.run(
        "CREATE TABLE orders (id int PRIMARY KEY, name text)",
        "ALTER TABLE orders REPLICA IDENTITY FULL",
        "INSERT INTO orders VALUES (1, 'a'), (2, 'b')",
    )
    topic = f"{form}.orders"  # the broker creates it
    text = f"""source:
  type: postgres
  hostname: 127.0.0.1
  port: {shop.server.port}
  username: scurry
  password: correct-horse
  tables: scurry.public.\\.*
  slot.name: {form.replace("-", "_")}
sink:
  type: kafka
  properties.bootstrap.servers: {kafka.address}
  value.format: {form}
  sink.delivery-guarantee: {guarantee}
  sink.transactional-id-prefix: pipeline-{form}
  sink.custom-header: by:scurry
route:
  - source-table: public.\\.*
    sink-table: {form}.<>
    replace-symbol: <>
"""
    changed: list[None] = []

    def messages() -> list[Any]:
        return kafka.messages(topic) if topic in kafka.admin.list_topics(timeout=10).topics else []

    def condition() -> bool:
        found = len(messages())
        if found == 2 and not changed:
            changed.append(None)
            shop.run(
                "UPDATE orders SET name = 'c' WHERE id = 2",
                "DELETE FROM orders WHERE id = 1",
                "ALTER TABLE orders ADD COLUMN size int",
                "INSERT INTO orders VALUES (3, 'd', 30)",
            )
        return found >= 5

    run_until(written(tmp_path / "copy.yaml", text), condition)
    found = messages()
    values = [json.loads(each.value()) for each in found]
    assert [value.get("op") or value["type"] for value in values] == operations
    assert [json.loads(each.key())["id"] for each in found] == [1, 2, 2, 1, 3]
    assert found[0].headers() == [("by", b"scurry")]
    last = values[-1]["after"] if form == "debezium-json" else values[-1]["data"][0]
    assert last == {"id": 3, "name": "d", "size": 30}
    shop.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")
    shop.close()
