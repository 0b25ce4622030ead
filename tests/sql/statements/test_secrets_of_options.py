"""Secrets in the options of tables, in any option of any connector, reach no text that leaves the session."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.common.redaction import is_secret
from scurry.errors import ScurryError, UnsupportedError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.connectors.contract import SinkTarget
from scurry.sql.connectors.factories import CONNECTORS, create_sink, create_source, find_factory
from scurry.sql.formats.registry import FORMATS, find_format
from scurry.sql.statements.compiled.catalog_objects import FunctionNames, kept_table
from scurry.sql.statements.compiled.encoding import Encoder
from scurry.table import PlanReference, TableEnvironment
from support.statements.tables import environment

SECRET = "S3CRETmarker"
#: Texts in which a secret may be: addresses of databases and brokers, signed addresses, settings of logins.
TEXTS = [
    f"jdbc:postgresql://h/x?user=u&password={SECRET}",
    f"jdbc:postgresql://h/x?sslpassword={SECRET}&ssl=true",
    f"https://ann:{SECRET}@host:8081/path",
    f"s3a://key:{SECRET}@bucket/path",
    f"https://account.blob.core.windows.net/c?sv=2020&sig={SECRET}",
    f'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{SECRET}";',
    f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={SECRET};EndpointSuffix=core.windows.net",
    f"basic.auth.user.info:u:x,token={SECRET}",
]
OTHERS = {
    "kafka": ("properties.sasl.jaas.config", "properties.ssl.key.password", "properties.client.id"),
    "upsert-kafka": ("properties.sasl.jaas.config", "properties.ssl.keystore.password"),
    "spark": ("options.password", "options.url", "options.fs.s3a.secret.key", "options.header"),
    "jdbc": ("properties.sslpassword",),
}


def keys_of(env: TableEnvironment, connector: str) -> list[str]:
    found = described(env, {"connector": connector})
    context = env._session.context_of(found.identifier, found.table)
    declared = [option.key for option in find_factory(connector).options(context)]
    of_formats = [f"{name}.{option.key}" for name in FORMATS for option in find_format(name).options]
    return [*declared, *of_formats, *OTHERS.get(connector, ())]


def described(env: TableEnvironment, options: dict[str, str]) -> Any:
    listed = ", ".join(f"'{key}' = '{value.replace(chr(39), chr(39) * 2)}'" for key, value in options.items())
    env.execute_sql("DROP TABLE IF EXISTS t")
    env.execute_sql(f"CREATE TABLE t (k STRING, v INT) WITH ({listed})")
    found = env._session.catalogs.find_table(env._session.catalogs.qualify(["t"]))
    assert found is not None
    return found


def texts(env: TableEnvironment, options: dict[str, str]) -> Iterator[str]:
    """All that says something of a table with these options."""
    found = described(env, options)
    session = env._session
    encoder = Encoder(lambda table: kept_table(session, encoder, table), FunctionNames(session).name_of)
    yield json.dumps(kept_table(session, encoder, found))
    context = session.context_of(found.identifier, found.table)
    makers: list[Callable[[], object]] = [lambda: create_source(context), lambda: create_sink(context, SinkTarget())]
    for make in makers:
        try:
            make()
        except ScurryError as error:
            yield f"{error} {getattr(error, '__notes__', '')}"
    assert isinstance(found.table, CatalogTable)
    yield repr(found.table)


QUERIES = [
    "SELECT * FROM t /*+ OPTIONS('properties.sasl.jaas.config' = '{jaas}') */",
    "SELECT COUNT(*) FROM t /*+ OPTIONS('properties.ssl.key.password' = '{secret}') */",
]


@pytest.mark.parametrize("query", QUERIES)
def test_plans_and_jobs_do_not_show_the_secrets_of_hints(query: str) -> None:
    env = environment()
    env.execute_sql("""CREATE TABLE t (k STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'format' = 'raw',
        'properties.bootstrap.servers' = 'h:1', 'properties.group.id' = 'g')""")
    env.execute_sql("CREATE TABLE o (k STRING) WITH ('connector' = 'print')")
    query = query.format(secret=SECRET, jaas=TEXTS[5]).replace("COUNT(*)", "MAX(k)")
    assert SECRET not in env.explain_sql(query)
    assert SECRET not in env.explain_sql(f"INSERT INTO o {query}")
    with pytest.raises(UnsupportedError, match="a plan keeps no secrets, and a hint of table .* has 'properties"):
        env.compile_plan_sql(f"INSERT INTO o {query}")
    with pytest.raises(ScurryError) as raised:
        env.explain_sql(query.replace("'properties.", "'propertis."))
    assert SECRET not in str(raised.value)


def test_a_url_with_a_password_comes_from_the_catalog() -> None:
    env = environment()
    create = f"""CREATE TABLE db (k STRING) WITH ('connector' = 'jdbc', 'table-name' = 'x',
        'url' = 'jdbc:postgresql://h/d?password={SECRET}')"""
    env.execute_sql("CREATE TABLE t (k STRING) WITH ('connector' = 'datagen')")
    env.execute_sql(create)
    text = env.compile_plan_sql("INSERT INTO db SELECT k FROM t").as_json_string()
    assert SECRET not in text
    (sink,) = env.load_plan(PlanReference.from_json_string(text))._plan.sinks
    assert SECRET in dict(sink.table.table.options)["url"]


@pytest.mark.parametrize("connector", CONNECTORS)
def test_no_option_of_any_connector_shows_its_secret(connector: str) -> None:
    env = environment()
    shown = []
    for key in keys_of(env, connector):
        for value in [SECRET] if is_secret(key) else TEXTS:
            options = {"connector": connector, "format": "json", key: value}
            shown += [(key, value, text) for text in texts(env, options) if SECRET in text]
    assert not shown
