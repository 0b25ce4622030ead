"""No connector shows a secret of its tables: neither what it makes of them, nor its refusals of other options."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common.redaction import is_secret
from scurry.errors import ScurryError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import PhysicalColumn, ResolvedSchema, UniqueConstraint
from scurry.sql.connectors import factories
from scurry.sql.connectors.contract import SinkTarget, TableContext
from scurry.sql.connectors.factories import CONNECTORS, find_factory
from scurry.sql.types import IntType, VarCharType

SECRET = "szy7wszy7w"
#: Options that may have a password within them -> a value that has.
WITHIN = {
    "uri": f"mongodb://ann:{SECRET}@host",
    "url": f"http://ann:{SECRET}@host/x",
    "hosts": f"http://ann:{SECRET}@host",
}


def context_of(connector: str, options: dict[str, str]) -> TableContext:
    columns = [PhysicalColumn("k", IntType(False)), PhysicalColumn("v", VarCharType(10))]
    table = CatalogTable(ResolvedSchema(columns, primary_key=UniqueConstraint("pk", ("k",))), None, options, ())
    return TableContext(ObjectIdentifier("c", "d", "t"), table, options, streaming=True)


def declared(connector: str) -> list[str]:
    return [option.key for option in find_factory(connector).options(context_of(connector, {"connector": connector}))]


def settings(connector: str) -> list[dict[str, str]]:
    """The options of a connector, with secrets; then each of the others with a value that it hardly has."""
    keys = declared(connector)
    needed = {"format": "json", "topic": "t", "index": "i", "database": "d", "collection": "c", "table-name": "t"}
    needed |= {"keyspace": "s", "username": "ann", "document-type": "d", "path": "/tmp/none", "hosts": "http://host"}
    needed |= {"uri": "mongodb://host", "url": "http://host", "port": "9042"}
    secrets = {key: SECRET for key in keys if is_secret(key)}
    base = {"connector": connector} | {key: value for key, value in needed.items() if key in keys} | secrets
    found = [base, *(base | {key: value} for key, value in WITHIN.items() if key in keys)]
    return found + [base | {key: "-1 nonsense"} for key in keys if not is_secret(key)]


def told(make: Any) -> str:
    try:
        return repr(make())
    except ScurryError as error:
        return f"{error} {error!r} {getattr(error, '__notes__', '')}"


SECRETIVE = [name for name in CONNECTORS if any(is_secret(key) or key in WITHIN for key in declared(name))]


@pytest.mark.parametrize("connector", SECRETIVE)
def test_no_secret_is_shown(connector: str) -> None:
    for options in settings(connector):
        context = context_of(connector, options)
        for make in (
            lambda context=context: factories.create_source(context),
            lambda context=context: factories.create_sink(context, SinkTarget()),
        ):
            assert "zy7w" not in told(make), options


def test_there_are_connectors_with_secrets() -> None:
    assert {"cassandra", "elasticsearch-7", "http", "jdbc", "mongodb"} <= set(SECRETIVE)
