"""Whole databases of MariaDB and PostgreSQL, copied and followed: rows, changes and new columns arrive."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import JobError, ScurryError, ValidationError
from scurry.sql.pipelines.definition import read_pipeline
from scurry.sql.pipelines.running import check_tables
from support.cdc.databases import MariaDbShop, PostgresShop
from support.pipelines.running import run_until, written


@pytest.fixture
def maria(mariadb_server: Any) -> Any:
    shop = MariaDbShop(mariadb_server)
    shop.run("DROP DATABASE IF EXISTS ods")
    yield shop
    shop.close()


@pytest.fixture
def postgres(postgres_server: Any) -> Any:
    postgres_server.empty()
    shop = PostgresShop(postgres_server)
    yield shop
    shop.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")
    shop.close()


def of_maria(shop: MariaDbShop, more: str, tables: str = r"shop.\.*") -> str:
    return f"""source:
  type: mysql
  hostname: 127.0.0.1
  port: {shop.server.port}
  username: root
  password: ""
  tables: {tables}
{more}"""


def of_postgres(shop: PostgresShop, more: str, tables: str = r"scurry.public.\.*") -> str:
    return f"""source:
  type: postgres
  hostname: 127.0.0.1
  port: {shop.server.port}
  username: scurry
  password: correct-horse
  tables: {tables}
  slot.name: copy
{more}"""


def has(shop: Any, query: str, rows: list[tuple[Any, ...]]) -> Callable[[], bool]:
    """Whether a query has some rows; a table may not be there yet."""

    def check() -> bool:
        try:
            return bool(shop.rows(query) == rows)
        except Exception:
            return False

    return check


@pytest.mark.servers
class TestMariaDb:
    def create(self, shop: MariaDbShop) -> None:
        shop.run(
            "CREATE TABLE orders (id int PRIMARY KEY, amount decimal(10, 2), at timestamp(3) NULL, `order` varchar(9))",
            "CREATE TABLE users (name varchar(20) PRIMARY KEY, admin boolean)",
            "INSERT INTO orders VALUES (1, 1.5, '2024-01-02 03:04:05.678', 'x'), (2, NULL, NULL, NULL)",
            "INSERT INTO users VALUES ('ann', true)",
        )

    def sink(self, shop: MariaDbShop) -> str:
        return f"""sink:
  type: jdbc
  url: jdbc:mariadb://127.0.0.1:{shop.server.port}/
  username: root
  password: ""
  sink.buffer-flush.max-rows: 3
route:
  - source-table: shop.\\.*
    sink-table: ods.<>
    replace-symbol: <>
"""

    def test_a_database_is_copied_into_another_one_and_followed(self, maria: MariaDbShop, tmp_path: Path) -> None:
        self.create(maria)
        path = written(tmp_path / "copy.yaml", of_maria(maria, self.sink(maria)))
        steps: Iterator[tuple[str, list[tuple[Any, ...]], list[str]]] = iter([
            ("SELECT id FROM ods.orders ORDER BY id", [(1,), (2,)],
             ["UPDATE orders SET amount = 2 WHERE id = 2", "DELETE FROM orders WHERE id = 1",
              "INSERT INTO orders VALUES (3, 3, NULL, 'z')", "UPDATE users SET name = 'bob'"]),
            ("SELECT id, `order` FROM ods.orders ORDER BY id", [(2, None), (3, "z")],
             ["ALTER TABLE orders ADD COLUMN size int", "INSERT INTO orders VALUES (4, 4, NULL, 'w', 40)",
              "UPDATE orders SET size = 20 WHERE id = 2"]),
            ("SELECT id, size FROM ods.orders ORDER BY id", [(2, 20), (3, None), (4, 40)], []),
        ])  # fmt: skip
        query, rows, statements = next(steps)

        def condition() -> bool:
            nonlocal query, rows, statements
            if not has(maria, query, rows)():
                return False
            maria.run(*statements)
            found = next(steps, None)
            if found is None:
                return True
            query, rows, statements = found
            return False

        run_until(path, condition)
        assert maria.rows("SELECT name, admin FROM ods.users") == [("bob", 1)]
        orders = "SELECT id, amount, at FROM {}.orders ORDER BY id"
        assert maria.rows(orders.format("ods")) == maria.rows(orders.format("shop"))

    def test_tables_of_one_kind_become_one_table(self, maria: MariaDbShop, tmp_path: Path) -> None:
        maria.run(
            "CREATE TABLE orders_1 (id int PRIMARY KEY, name varchar(9))",
            "CREATE TABLE orders_2 (id int PRIMARY KEY, name varchar(9), extra int)",
            "INSERT INTO orders_1 VALUES (1, 'a')",
            "INSERT INTO orders_2 VALUES (2, 'b', 7), (3, 'no', 8)",
        )
        more = (
            self.sink(maria).replace("ods.<>", "ods.orders")
            + """transform:
  - source-table: shop.\\.*
    projection: \\*, UPPER(name) AS upper_name
    filter: name <> 'no'
pipeline:
  name: merged
  parallelism: 2
"""
        )
        path = written(tmp_path / "copy.yaml", of_maria(maria, more))
        query = "SELECT id, name, extra, upper_name FROM ods.orders ORDER BY id"
        run_until(path, has(maria, query, [(1, "a", None, "A"), (2, "b", 7, "B")]))

    def test_a_job_goes_on_where_it_was_with_the_columns_of_its_start(self, maria: MariaDbShop, tmp_path: Path) -> None:
        self.create(maria)
        more = self.sink(maria) + "pipeline:\n  schema.change.behavior: ignore\n"
        path = written(tmp_path / "copy.yaml", of_maria(maria, more, "shop.users"))
        names = "SELECT name FROM ods.users ORDER BY name"
        changed: list[None] = []

        def second_batch() -> bool:
            if not changed and has(maria, names, [("ann",)])():
                changed.append(None)
                maria.run("INSERT INTO users VALUES ('bob', true)")
            return has(maria, names, [("ann",), ("bob",)])()  # the first one is committed

        run_until(path, second_batch, tmp_path / "checkpoints")
        maria.run("ALTER TABLE users ADD COLUMN age int", "INSERT INTO users VALUES ('eve', NULL, 44)")
        maria.run("UPDATE ods.users SET admin = 0 WHERE name = 'ann'")  # 1 again if it is read again
        found = [("ann", 0), ("bob", 1), ("eve", None)]
        run_until(path, has(maria, "SELECT * FROM ods.users ORDER BY name", found), tmp_path / "checkpoints")

    def test_a_change_that_the_behavior_refuses_ends_the_job(self, maria: MariaDbShop, tmp_path: Path) -> None:
        self.create(maria)
        more = self.sink(maria) + "pipeline:\n  schema.change.behavior: exception\n"
        path = written(tmp_path / "copy.yaml", of_maria(maria, more, "shop.users"))
        seen: list[bool] = []

        def never() -> bool:
            if not seen and has(maria, "SELECT name FROM ods.users", [("ann",)])():
                seen.append(True)
                maria.run("ALTER TABLE users ADD COLUMN age int", "INSERT INTO users VALUES ('bob', NULL, 44)")
            return False

        with pytest.raises(JobError) as error:
            run_until(path, never)
        cause = error.value.cause
        assert "table shop.users has new columns age: 'schema.change.behavior' is exception" in str(cause)

    def test_a_table_without_a_primary_key_is_refused_at_the_start(self, maria: MariaDbShop, tmp_path: Path) -> None:
        maria.run("CREATE TABLE loose (a int)")
        with pytest.raises(ScurryError, match=r"copy.yaml:.*table shop.loose has no primary key"):
            check_tables(read_pipeline(written(tmp_path / "copy.yaml", of_maria(maria, self.sink(maria)))))

    def test_an_expression_that_is_wrong_is_named_with_its_place(self, maria: MariaDbShop, tmp_path: Path) -> None:
        self.create(maria)
        more = self.sink(maria) + "transform:\n  - source-table: shop.users\n    projection: name, amin\n"
        path = written(tmp_path / "copy.yaml", of_maria(maria, more))
        with pytest.raises(ValidationError, match=r"copy.yaml:20:5: transform\[1\] of table shop.users: .*amin"):
            check_tables(read_pipeline(path))

    @pytest.mark.parametrize(
        ("given", "instead", "message"),
        [
            ("port: ", "port: 1", "copy.yaml:3:3: source: cannot read from 127.0.0.1:1"),
            ("shop.\\.*", "shop.nothing", "copy.yaml:.*Can't find any matched tables"),
        ],
    )
    def test_what_is_not_there_is_named(
        self, maria: MariaDbShop, tmp_path: Path, given: str, instead: str, message: str
    ) -> None:
        self.create(maria)
        text = of_maria(maria, self.sink(maria))
        line = next(each for each in text.splitlines() if given in each)
        text = text.replace(line, f"  {instead}" if given == "port: " else f"  tables: {instead}", 1)
        with pytest.raises(ScurryError, match=message):
            check_tables(read_pipeline(written(tmp_path / "copy.yaml", text)))


@pytest.mark.postgres
class TestPostgres:
    def create(self, shop: PostgresShop) -> None:
        shop.run(
            "CREATE TABLE orders (id int PRIMARY KEY, amount numeric(10, 2), at timestamptz(3), tags text[])",
            "ALTER TABLE orders REPLICA IDENTITY FULL",
            "INSERT INTO orders VALUES (1, 1.5, '2024-01-02 03:04:05.678Z', '{a,b}'), (2, NULL, NULL, NULL)",
        )

    CHANGES = (
        "UPDATE orders SET amount = 2 WHERE id = 2",
        "DELETE FROM orders WHERE id = 1",
        "ALTER TABLE orders ADD COLUMN size int",
        "INSERT INTO orders VALUES (3, 3, NULL, '{}', 30)",
    )

    def sink(self, shop: PostgresShop) -> str:
        return f"""sink:
  type: jdbc
  url: {shop.server.url}
  username: scurry
  password: correct-horse
"""

    ROUTE = "route:\n  - source-table: public.\\.*\n    sink-table: ods.<>\n    replace-symbol: <>\n"

    def test_a_database_is_copied_and_followed(self, postgres: PostgresShop, tmp_path: Path) -> None:
        self.create(postgres)
        more = self.sink(postgres) + self.ROUTE
        path = written(tmp_path / "copy.yaml", of_postgres(postgres, more, "scurry.public.orders"))
        changed: list[bool] = []

        def condition() -> bool:
            if not changed and has(postgres, "SELECT id FROM ods.orders ORDER BY id", [(1,), (2,)])():
                changed.append(True)
                postgres.run(*self.CHANGES)
            return has(postgres, "SELECT id, size FROM ods.orders ORDER BY id", [(2, None), (3, 30)])()

        run_until(path, condition)
        query = "SELECT id, amount, at, tags FROM {}.orders ORDER BY id"
        assert postgres.rows(query.format("ods")) == postgres.rows(query.format("public"))

    def test_a_database_becomes_topics_of_a_log(self, postgres: PostgresShop, tmp_path: Path) -> None:
        from scurry.connectors.log.directory import LogDirectory
        from scurry.connectors.log.topics import read_records

        self.create(postgres)
        more = f"sink:\n  type: log\n  path: {tmp_path}/log\n"
        path = written(tmp_path / "copy.yaml", of_postgres(postgres, more))
        changed: list[bool] = []

        def messages() -> list[Any]:
            if "public.orders" not in LogDirectory(f"{tmp_path}/log").topics():
                return []
            found = read_records(f"{tmp_path}/log", "public.orders", 100)
            return [json.loads(each.value) for each in found if each.value is not None]

        def condition() -> bool:
            found = messages()
            if len(found) == 2 and not changed:
                changed.append(True)
                postgres.run(*self.CHANGES)
            return len(found) == 5

        run_until(path, condition)
        last = messages()[-1]
        assert (last["op"], last["after"]["id"], last["after"]["size"]) == ("c", 3, 30)

    @pytest.mark.parametrize("lake", ["delta", "iceberg"])
    def test_a_database_becomes_tables_of_a_lake(self, lake: str, postgres: PostgresShop, tmp_path: Path) -> None:
        self.create(postgres)
        postgres.run("ALTER TABLE orders DROP COLUMN tags")
        options = {
            "delta": f"  path: {tmp_path}/lake\n",
            "iceberg": f"""  catalog.properties.type: sql
  catalog.properties.uri: sqlite:///{tmp_path}/catalog.db
  catalog.properties.warehouse: file://{tmp_path}/lake
""",
        }
        more = f"sink:\n  type: {lake}\n{options[lake]}" + self.ROUTE
        path = written(tmp_path / "copy.yaml", of_postgres(postgres, more))
        changed: list[bool] = []

        def rows() -> list[tuple[Any, ...]]:
            if lake == "delta":
                from deltalake import DeltaTable

                table = DeltaTable(f"{tmp_path}/lake/ods/orders").to_pyarrow_table()
            else:
                from pyiceberg.catalog import load_catalog

                uri, warehouse = f"sqlite:///{tmp_path}/catalog.db", f"file://{tmp_path}/lake"
                catalog = load_catalog("default", type="sql", uri=uri, warehouse=warehouse)
                table = catalog.load_table("ods.orders").scan().to_arrow()
            return sorted((row["id"], row["amount"], row.get("size")) for row in table.to_pylist())

        def condition() -> bool:
            found = [(id, size) for id, _, size in rows()]
            if not changed and found == [(1, None), (2, None)]:
                changed.append(True)
                postgres.run(*(each.replace(" '{}',", "") for each in self.CHANGES))
            return found == [(2, None), (3, 30)]

        run_until(path, condition)
        assert rows() == postgres.rows("SELECT id, amount, size FROM orders ORDER BY id")
