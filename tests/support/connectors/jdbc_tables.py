"""What the tests of the JDBC connector share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from scurry.datastream.connectors.jdbc import JdbcConnectionOptions


def connection_options(url: str, user: str | None = None, password: str | None = None) -> JdbcConnectionOptions:
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    if user is not None:
        builder = builder.with_user_name(user)
    if password is not None:
        builder = builder.with_password(password)
    return builder.build()


class Tables:
    """What a test sees of a database, past the connector."""

    def __init__(self, options: JdbcConnectionOptions, connect: Callable[[], Any]) -> None:
        self.options = options
        self._connect = connect

    def run(self, sql: str) -> None:
        with closing(self._connect()) as connection:
            connection.execute(sql)
            connection.commit()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(self._connect()) as connection:
            return list(map(tuple, connection.execute(query).fetchall()))
