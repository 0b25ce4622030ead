"""Choose the database of connection options by their JDBC URL."""

from __future__ import annotations

from scurry.connectors.jdbc.connection import Connection
from scurry.connectors.jdbc.database import Database
from scurry.errors import UnsupportedError


def database_of(options: Connection) -> Database:
    """Return the database of connection options.

    Raises:
        UnsupportedError: The URL's database is not supported.
        ArgumentError: The URL or the driver's name is wrong.
        ExtraMissingError: The driver is not installed.
    """
    from scurry.connectors.jdbc.duckdb import DuckDb
    from scurry.connectors.jdbc.mysql import MySql
    from scurry.connectors.jdbc.postgres import Postgres
    from scurry.connectors.jdbc.sqlite import Sqlite

    url = options.get_db_url()
    databases: dict[str, type[Database]] = {
        "jdbc:postgresql:": Postgres,
        "jdbc:mysql:": MySql,
        "jdbc:mariadb:": MySql,
        "jdbc:sqlite:": Sqlite,
        "jdbc:duckdb:": DuckDb,
    }
    for prefix, database in databases.items():
        if url.startswith(prefix):
            return database(options)
    scheme = ":".join(url.split(":")[:2]) if url.startswith("jdbc:") else url.split(":")[0]
    raise UnsupportedError(
        f"no driver for {scheme}: URLs; there are {', '.join(databases)}. For other databases write with "
        "Spark's own JDBC, DataStream.to_spark('jdbc', {...}), and read with env.from_spark(spark.read.jdbc(...)), "
        "their JDBC driver in spark.jars.packages"
    )
