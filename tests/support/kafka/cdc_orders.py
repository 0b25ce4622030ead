"""Changes of a table of orders, as PostgreSQL's connector of Debezium writes them, and what SQL makes of them."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path

from support.faults.job_directory import Place
from support.kafka.broker import Kafka

__all__ = ["CUSTOMERS", "PARTITIONS", "Orders", "script"]

PARTITIONS, IDS = 2, 60
#: id, name, region
CUSTOMERS = [(1, "ann", "north"), (2, "bob", "south"), (3, "cid", "north"), (4, "dan", "west")]


class Orders:
    """A table `id, customer, amount` whose changes are in a topic, those of an id in one partition.

    Attributes:
        topic: The topic.
        rows: What the table contains: customer and amount by id.
    """

    def __init__(self, kafka: Kafka, changes: int, seed: int) -> None:
        """Change the table, and write all changes into a new topic."""
        self.topic = kafka.topic(PARTITIONS)
        self.rows: dict[int, tuple[int, int]] = {}
        chance = random.Random(seed)
        messages: list[list[str]] = [[] for _ in range(PARTITIONS)]
        for number in range(changes):
            id = chance.randrange(IDS)
            before = self.rows.get(id)
            # Customer 5 does not exist.
            after = None if before and chance.random() < 0.25 else (chance.randint(1, 5), chance.randint(1, 99))
            if after is None:
                del self.rows[id]
            else:
                self.rows[id] = after
            messages[id % PARTITIONS].append(_message(id, before, after, number))
        for partition, some in enumerate(messages):
            kafka.write(self.topic, some, partition)

    @property
    def enriched(self) -> dict[int, tuple[str, int]]:
        """Name of the customer and amount by id, of orders whose customer exists."""
        names = {id: name for id, name, _ in CUSTOMERS}
        return {id: (names[one], amount) for id, (one, amount) in self.rows.items() if one in names}

    @property
    def totals(self) -> list[tuple[str, int, int]]:
        """Number and sum of the orders of each region."""
        regions = {id: region for id, _, region in CUSTOMERS}
        found: dict[str, list[int]] = defaultdict(list)
        for customer, amount in self.rows.values():
            if customer in regions:
                found[regions[customer]].append(amount)
        return sorted((region, len(amounts), sum(amounts)) for region, amounts in found.items())


def _message(id: int, before: tuple[int, int] | None, after: tuple[int, int] | None, number: int) -> str:
    def row(values: tuple[int, int] | None) -> dict[str, int] | None:
        return None if values is None else {"id": id, "customer": values[0], "amount": values[1]}

    operation = "c" if before is None else "d" if after is None else "u"
    source = {"connector": "postgresql", "schema": "public", "table": "orders", "lsn": number, "txId": number}
    message = {
        "before": row(before),
        "after": row(after),
        "source": source,
        "op": operation,
        "ts_ms": 1_700_000_000_000,
    }
    return json.dumps(message)


def script(place: Place, kafka: Kafka, orders: Orders, enriched: str, login: str) -> Path:
    """Write the script of the job.

    Args:
        place: The job.
        kafka: The broker.
        orders: What is read.
        enriched: The topic of the orders with the names of their customers.
        login: Options of tables in PostgreSQL, in which `customers` and `totals` are.
    """
    broker = f"'properties.bootstrap.servers' = '{kafka.address}'"
    statements = [
        f"SET 'execution.checkpointing.dir' = '{place.checkpoints}'",
        "SET 'scurry.batch.max-records' = '100'",
        "SET 'restart-strategy.type' = 'none'",
        "SET 'parallelism.default' = '2'",
        "CREATE TABLE orders (id INT, customer INT, amount INT, p AS PROCTIME(), PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"('connector' = 'kafka', 'topic' = '{orders.topic}', {broker}, 'format' = 'debezium-json', "
        "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset')",
        "CREATE TABLE customers (id INT, name STRING, region STRING, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"('connector' = 'jdbc', 'table-name' = 'customers', {login})",
        "CREATE TABLE enriched (id INT, name STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"('connector' = 'upsert-kafka', 'topic' = '{enriched}', {broker}, 'key.format' = 'json', "
        "'value.format' = 'json')",
        "CREATE TABLE totals (region STRING, orders BIGINT, amount INT, PRIMARY KEY (region) NOT ENFORCED) WITH "
        f"('connector' = 'jdbc', 'table-name' = 'totals', {login})",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO enriched SELECT o.id, c.name, o.amount FROM orders AS o "
        "JOIN customers FOR SYSTEM_TIME AS OF o.p AS c ON o.customer = c.id; "
        "INSERT INTO totals SELECT region, COUNT(*), SUM(amount) FROM orders AS o JOIN customers AS c "
        "ON o.customer = c.id GROUP BY region; END",
    ]
    path = place.root / "job.sql"
    path.write_text(";\n".join(statements) + ";\n")
    return path
