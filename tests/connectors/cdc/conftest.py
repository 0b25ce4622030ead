"""Databases whose changes are captured, each with a table that is written while it is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.cdc.databases import MariaDbShop, PostgresShop
from support.servers.mariadb import MariaDbServer


@pytest.fixture
def postgres(postgres_server: Any) -> Iterator[PostgresShop]:
    """An empty database of PostgreSQL."""
    postgres_server.empty()
    shop = PostgresShop(postgres_server)
    yield shop
    shop.close()


@pytest.fixture
def mariadb(mariadb_server: MariaDbServer) -> Iterator[MariaDbShop]:
    """An empty database of MariaDB."""
    shop = MariaDbShop(mariadb_server)
    yield shop
    shop.close()
