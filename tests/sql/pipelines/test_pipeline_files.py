"""What a file of a pipeline may say, and the errors that name line and column of what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.connectors.cdc.capture import TableId
from scurry.connectors.cdc.mysql.reading import MySqlCapture
from scurry.connectors.cdc.postgres.reading import PostgresCapture
from scurry.errors import ValidationError
from scurry.sql.pipelines.definition import Pipeline, read_pipeline
from scurry.sql.pipelines.selectors import Route, TableSelector, targets

PIPELINE = r"""source:
  type: mysql
  hostname: localhost
  port: 3306
  username: root
  password: correct-horse
  tables: app_db.\.*
  server-id: 5400-5404
sink:
  type: jdbc
  url: jdbc:sqlite:/tmp/there.db
  exclude.schema.changes: [drop, rename.column]
route:
  - source-table: app_db.orders_[0-9]+
    sink-table: ods.orders
  - source-table: app_db.\.*
    sink-table: ods.<>_copy
    replace-symbol: <>
    description: all others
transform:
  - source-table: app_db.web_order
    projection: id, UPPER(name) AS name
    filter: id > 10 AND order_id IS NOT NULL
    primary-keys: id
    table-options: a=b,c=d
pipeline:
  name: Copy of app_db
  parallelism: 2
  schema.change.behavior: evolve
"""


def read(tmp_path: Path, text: str = PIPELINE) -> Pipeline:
    path = tmp_path / "copy.yaml"
    path.write_text(text)
    return read_pipeline(path)


def test_a_pipeline_says_what_is_copied_where(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert (found.name, found.parallelism, found.plan.rules.behavior) == ("Copy of app_db", 2, "evolve")
    accepted = {"add.column", "alter.column.type", "create.table", "truncate.table"}
    assert found.plan.rules.accepted == accepted
    assert isinstance(found.capture, MySqlCapture)
    assert found.capture.settings.tables == r"(?:app_db)\.(?:.*)"
    assert found.capture.settings.server_ids == (5400, 5404)
    (transform,) = found.plan.transforms
    assert transform.projection == "id, UPPER(name) AS name"
    assert transform.options == (("a", "b"), ("c", "d"))


def test_tables_of_postgres_have_a_database_and_a_schema(tmp_path: Path) -> None:
    text = r"""source:
  type: postgres
  hostname: localhost
  username: u
  password: p
  tables: shop.public.\.*, shop.other.x
  tables.exclude: shop.public.audit_\.*
  slot.name: copy
sink:
  type: log
"""
    capture = read(tmp_path, text).capture
    assert isinstance(capture, PostgresCapture)
    assert capture.settings.database == "shop"
    assert capture.settings.tables == (r"(?!(?:(?:public)\.(?:audit_.*))$)(?:(?:public)\.(?:.*)|(?:other)\.(?:x))")


@pytest.mark.parametrize(
    ("given", "instead", "message"),
    [
        ("hostname:", "hostnam:", "copy.yaml:3:3: source: One or more required options"),
        ("  port: 3306", "  prot: 3306", "copy.yaml:4:3: source: Unsupported options found for 'mysql-cdc'"),
        ("  port: 3306", "  port: x", "copy.yaml:4:3: source: Invalid value for option 'port'"),
        ("type: mysql", "type: mysqll", "copy.yaml:2:3: there is no source of type 'mysqll'"),
        ("type: jdbc", "type: jdbx", "copy.yaml:10:3: there is no sink of type 'jdbx'"),
        ("  url: jdbc:sqlite", "  url: jdbc:db2", "copy.yaml:10:3: sink: no driver for jdbc:db2: URLs"),
        ("sink-table: ods.orders", "sinktable: ods.orders", "copy.yaml:15:5: 'sinktable' is no key of route"),
        ("projection:", "projektion:", "copy.yaml:22:5: 'projektion' is no key of transform"),
        (
            "primary-keys: id",
            "converter-after-transform: SOFT",
            "copy.yaml:24:5: there is no converter 'SOFT'; there is",
        ),
        ("[drop, rename.column]", "drops", "copy.yaml:12:3: 'drops' is no change of schemas; there are add.column"),
        ("a=b,c=d", "a=b,c", "copy.yaml:25:5: 'table-options' is key=value,key=value, and 'c' is none"),
        ("parallelism: 2", "parallelism: two", "copy.yaml:28:3: 'parallelism' is a number from 1, not two"),
        (": evolve", ": evolv", "copy.yaml:29:3: 'schema.change.behavior' is evolv; there are lenient, evolve"),
        ("pipeline:", "pipline:", "copy.yaml:26:1: 'pipline' is no key of the pipeline"),
        ("app_db.orders_[0-9]+", "app_db.orders_[0-9", "copy.yaml:14:5: 'app_db.orders_[0-9' has no regular expr"),
        (r"tables: app_db.\.*", r"tables: \.*", "copy.yaml:7:3: 'tables' of mysql has names database.table"),
        ("  password: correct-horse", "  password: {a: b}", "copy.yaml:6:3: source: One or more required options"),
        ("  hostname: localhost", "  hostname: [localhost]", "copy.yaml:3:3: 'hostname' of source is one value"),
        ("  username: root", "  port: 3307", "copy.yaml:5:3: 'port' is there twice"),
        ("  username: root", "  username: {", "no YAML"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_column(tmp_path: Path, given: str, instead: str, message: str) -> None:
    assert given in PIPELINE
    with pytest.raises(ValidationError) as error:
        read(tmp_path, PIPELINE.replace(given, instead, 1))
    assert message in str(error.value)
    assert "correct-horse" not in error.value.describe()


def test_an_error_suggests_the_key_and_underlines_it(tmp_path: Path) -> None:
    with pytest.raises(ValidationError) as error:
        read(tmp_path, PIPELINE.replace("sink-table: ods.orders", "sink-tabel: ods.orders"))
    assert error.value.describe().splitlines()[1:] == [
        "  hint: did you mean 'sink-table'?",
        "  15 |     sink-tabel: ods.orders",
        "           ^^^^^^^^^^",
    ]


def test_a_line_with_a_password_is_shown_without_it(tmp_path: Path) -> None:
    with pytest.raises(ValidationError) as error:
        read(tmp_path, PIPELINE.replace("  port: 3306\n", "").replace("password:", "pasword: x\n  password:", 1))
    assert "correct-horse" not in error.value.describe()


ORDERS, USERS = TableId("app", "", "orders_7"), TableId("app", "public", "users")


@pytest.mark.parametrize(
    ("pattern", "table", "matches"),
    [
        (r"app.\.*", ORDERS, True),
        (r"app.orders_[0-9]+", ORDERS, True),
        (r"ap.orders_7", ORDERS, False),
        (r"app.users, app.orders_\.", ORDERS, True),
        (r"[app|web].orders_7", ORDERS, False),
        (r"public.users", USERS, True),
        (r"app.public.\.*", USERS, True),
        (r"other.public.users", USERS, False),
        (r"app.public.users.x", USERS, False),
    ],
)
def test_a_dot_parts_names_unless_it_has_a_backslash(pattern: str, table: TableId, matches: bool) -> None:
    assert (TableSelector(pattern).match(table) is not None) is matches


@pytest.mark.parametrize(
    ("routes", "found"),
    [
        ([], ["app.orders_7"]),
        ([Route(TableSelector(r"app.\.*"), "ods.<>", "<>")], ["ods.orders_7"]),
        ([Route(TableSelector(r"(app).orders_(\.*)"), "$1_ods.o$2")], ["app_ods.o7"]),
        ([Route(TableSelector(r"x.\.*"), "never")], ["app.orders_7"]),
        ([Route(TableSelector(r"app.\.*"), "a"), Route(TableSelector(r"app.orders_7"), "b")], ["a", "b"]),
    ],
)
def test_routes_say_where_a_table_goes(routes: list[Route], found: list[str]) -> None:
    assert targets(routes, ORDERS) == found
