"""Databases whose changes are captured: how tests write them, and how tables and streams reach them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.cdc.capture import ChangeCapture, Startup
from scurry.connectors.cdc.mysql.reading import MySqlCapture
from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.connectors.cdc.postgres.reading import PostgresCapture
from scurry.connectors.cdc.postgres.settings import PostgresSettings


class PostgresShop:
    """A database of PostgreSQL."""

    dialect = "postgres"

    def __init__(self, server: Any) -> None:
        self.server = server
        self.reconnect()

    def reconnect(self) -> None:
        """Connects anew, to a server that has been started again."""
        import psycopg

        self._connection = psycopg.connect(self.server.conninfo, autocommit=True)

    def again(self) -> PostgresShop:
        """The database, by a connection of its own."""
        return PostgresShop(self.server)

    def restart(self) -> None:
        """Kills the server, and starts it with its data."""
        self.server.kill()
        self.server.start()
        self.reconnect()

    def run(self, *statements: str) -> None:
        """Executes statements, each a transaction."""
        for statement in statements:
            self._connection.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query).fetchall()

    def transaction(self, statements: Sequence[str]) -> None:
        with self._connection.transaction():
            self.run(*statements)

    def create(self, identity: str = "FULL") -> None:
        """Creates the table `items` with a number and a text as key."""
        self.run(
            "CREATE TABLE items (id integer PRIMARY KEY, name text, price numeric(10, 2))",
            f"ALTER TABLE items REPLICA IDENTITY {identity}",
        )

    def capture(self, table: str = "items", **settings: Any) -> ChangeCapture:
        values = {
            "hostname": "127.0.0.1", "port": self.server.port, "username": "scurry", "password": "correct-horse",
            "database": "scurry", "tables": rf"public\.({table})", "chosen_by": f"table-name: {table}", "slot": "shop",
            "startup": Startup(), "chunk_rows": 10,
        }  # fmt: skip
        return PostgresCapture(PostgresSettings(**(values | settings)))

    def options(self, table: str = "items", **options: str) -> str:
        """The options of a table in SQL."""
        values = {
            "connector": "postgres-cdc", "hostname": "127.0.0.1", "port": str(self.server.port), "username": "scurry",
            "password": "correct-horse", "database-name": "scurry", "schema-name": "public", "table-name": table,
            "slot.name": "shop",
        }  # fmt: skip
        return ", ".join(f"'{key}' = '{value}'" for key, value in (values | options).items() if value)

    def close(self) -> None:
        self._connection.close()


class MariaDbShop:
    """A database of MariaDB."""

    dialect = "mysql"

    def __init__(self, server: Any, empty: bool = True) -> None:
        self.server = server
        self.reconnect(None)
        if empty:
            self.run("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop CHARACTER SET utf8mb4")
        self.run("USE shop")

    def reconnect(self, database: str | None = "shop") -> None:
        """Connects anew, to a server that has been started again."""
        import pymysql

        server = {"host": "127.0.0.1", "port": self.server.port, "user": "root"}
        self._connection = pymysql.connect(**server, database=database, autocommit=True)

    def again(self) -> MariaDbShop:
        """The database as it is, by a connection of its own."""
        return MariaDbShop(self.server, False)

    def restart(self) -> None:
        """Kills the server, and starts it with its data."""
        self.server.kill()
        self.server.start()
        self.reconnect()

    def run(self, *statements: str) -> None:
        """Executes statements, each a transaction."""
        with self._connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def transaction(self, statements: Sequence[str]) -> None:
        self.run("BEGIN", *statements, "COMMIT")

    def create(self, identity: str = "FULL") -> None:
        """Creates the table `items` with a number as key."""
        self.run("CREATE TABLE items (id integer PRIMARY KEY, name text, price numeric(10, 2))")

    def capture(self, table: str = "items", **settings: Any) -> ChangeCapture:
        values = {
            "hostname": "127.0.0.1", "port": self.server.port, "username": "root", "password": "",
            "tables": rf"shop\.({table})", "chosen_by": f"table-name: {table}",
        }  # fmt: skip
        return MySqlCapture(MySqlSettings(**(values | settings)))

    def options(self, table: str = "items", **options: str) -> str:
        """The options of a table in SQL."""
        values = {
            "connector": "mysql-cdc", "hostname": "127.0.0.1", "port": str(self.server.port), "username": "root",
            "password": "", "database-name": "shop", "table-name": table,
        }  # fmt: skip
        return ", ".join(f"'{key}' = '{value}'" for key, value in (values | options).items())

    def close(self) -> None:
        self._connection.close()
