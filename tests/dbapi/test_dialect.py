"""The dialect of SQLAlchemy: how it writes statements, and what it sees of catalogs."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry
from sqlalchemy.schema import CreateSchema, CreateTable, DropSchema

from scurry import dbapi
from scurry.dbapi.sqlalchemy import NestedType, ScurryDialect
from support.gateway import TOKEN, Gateway

# The entry points of pyproject.toml, which an installation that is older has not.
for _name in ("scurry", "scurry.gateway"):
    registry.register(_name, "scurry.dbapi.sqlalchemy", "ScurryDialect")

T = sa.table("t", sa.column("n", sa.Integer), sa.column("s", sa.String), sa.column("at", sa.DateTime))


def written(statement: Any, literal: bool = True) -> str:
    compiled = statement.compile(dialect=ScurryDialect(), compile_kwargs={"literal_binds": literal})
    return " ".join(str(compiled).split())


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    """An engine of this process, whose tables are files."""
    init = tmp_path / "init.sql"
    (tmp_path / "tables").mkdir()
    init.write_text(f"CREATE CATALOG c WITH ('type' = 'filesystem', 'path' = '{tmp_path}/tables');")
    made = sa.create_engine(f"scurry:///c?init_file={init}", table_options={"format": "json"})
    yield made
    made.dispose()


def run(engine: sa.Engine, *statements: str) -> None:
    with engine.connect() as connection:
        for each in statements:
            connection.exec_driver_sql(each)


# ---------------------------------------------------------------------- statements


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (sa.select(sa.literal(5)).where(sa.literal(1) == 1),
         "SELECT CAST(5 AS INT) AS anon_1 FROM (VALUES (1)) AS one_row(x) WHERE 1 = 1"),
        (sa.select(T.c.n).offset(2), "SELECT t.n FROM t LIMIT 2147483647 OFFSET 2 ROWS"),
        (sa.select(T.c.n / T.c.n), "SELECT t.n / CAST(t.n AS DOUBLE) AS anon_1 FROM t"),
        (sa.select(T.c.n).limit(5).offset(2), "SELECT t.n FROM t LIMIT 5 OFFSET 2 ROWS"),
        (sa.select(T.c.n).where(T.c.n != 1), "SELECT t.n FROM t WHERE t.n <> 1"),
        (sa.select(sa.column("select")), "SELECT `select`"),
        (sa.select(sa.column("a`b")), "SELECT `a``b`"),
        (sa.select(T.c.n).where(sa.true()), "SELECT t.n FROM t WHERE true"),
        (sa.select(sa.cast(T.c.n, sa.String)), "SELECT CAST(t.n AS STRING) AS n FROM t"),
        (sa.select(T.c.n).where(T.c.s == "it's"), "SELECT t.n FROM t WHERE t.s = 'it''s'"),
        (sa.select(T.c.n).where(T.c.at > datetime.datetime(2020, 1, 2, 3)),
         "SELECT t.n FROM t WHERE t.at > TIMESTAMP '2020-01-02 03:00:00'"),
        (sa.select(T.c.n).where(T.c.at > sa.func.now() - datetime.timedelta(hours=1)),
         "SELECT t.n FROM t WHERE t.at > now() - INTERVAL '3600.000' SECOND(10, 3)"),
        (sa.select(T.c.n).where(T.c.n.in_([])),
         "SELECT t.n FROM t WHERE t.n IN (CAST(NULL AS INT)) AND (1 <> 1)"),
        (sa.select(T.c.n).where(T.c.s.regexp_match("^a")), "SELECT t.n FROM t WHERE REGEXP(t.s, '^a')"),
        (sa.insert(T).values(n=None, s="a"), "INSERT INTO t (n, s) VALUES (CAST(NULL AS INT), CAST('a' AS STRING))"),
        (CreateSchema("c.d", if_not_exists=True), "CREATE DATABASE IF NOT EXISTS c.d"),
        (DropSchema("d", cascade=True), "DROP DATABASE d CASCADE"),
    ],
)  # fmt: skip
def test_statements_are_those_of_flink(statement: Any, text: str) -> None:
    assert (
        written(statement, literal=not isinstance(statement, CreateSchema | DropSchema)).replace("`at`", "at") == text
    )


def test_a_table_is_written_with_its_key_partitions_and_options() -> None:
    table = sa.Table(
        "t", sa.MetaData(),
        sa.Column("id", sa.BigInteger, primary_key=True, comment="it's"), sa.Column("d", sa.Date),
        sa.Column("m", NestedType("MAP<STRING, INT>")), sa.Column("a", sa.ARRAY(sa.Float)),
        sa.Column("twice", sa.Integer, sa.Computed("id * 2")),
        scurry_with={"connector": "filesystem"}, scurry_partitioned_by=["d"], comment="all",
    )  # fmt: skip
    assert written(CreateTable(table), literal=False) == (
        "CREATE TABLE t ( id BIGINT NOT NULL COMMENT 'it''s', d DATE, m MAP<STRING, INT>, a ARRAY<DOUBLE>, "
        "twice AS id * 2, PRIMARY KEY (id) NOT ENFORCED ) COMMENT 'all' PARTITIONED BY (`d`) "
        "WITH ('connector' = 'filesystem')"
    )


def test_constraints_that_nobody_keeps_are_left_out_with_a_warning() -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer, unique=True))
    with pytest.warns(sa.exc.SAWarning, match="scurry has no unique constraints: that of 't' is left out"):
        assert written(CreateTable(table), literal=False) == "CREATE TABLE t ( id INT )"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (sa.Column("id", sa.Integer, server_default="1"), "columns of Flink's SQL have not: use default="),
        (sa.Column("id", sa.Integer, index=True), r"no indexes, such as 'ix_t_id'.*to_sql\(..., index=False\)"),
    ],
)
def test_definitions_that_there_are_not_are_refused(engine: sa.Engine, column: sa.Column[Any], message: str) -> None:
    with pytest.raises(sa.exc.CompileError, match=message):
        sa.Table("t", sa.MetaData(), column).create(engine)


# ---------------------------------------------------------------------- catalogs


def test_tables_views_and_schemas_are_listed(engine: sa.Engine) -> None:
    run(
        engine,
        "CREATE TABLE t (n INT)",
        "CREATE VIEW v AS SELECT 1 AS n",
        "CREATE DATABASE d",
        "CREATE TABLE d.u (n INT)",
    )
    found = sa.inspect(engine)
    assert (found.get_table_names(), found.get_view_names(), found.get_table_names("c.d")) == (["t"], ["v"], ["u"])
    assert found.get_schema_names() == ["d", "default", "default_catalog.default_database"]
    assert [found.has_table(*each) for each in (("t",), ("v",), ("u",), ("u", "d"), ("u", "nope"))] == [
        True, True, False, True, False,
    ]  # fmt: skip


def test_columns_come_with_types_keys_and_comments(engine: sa.Engine) -> None:
    run(
        engine,
        "CREATE TABLE t (b INT, a DECIMAL(10, 2) NOT NULL COMMENT 'it''s', c AS a * 2, PRIMARY KEY (b, a) NOT ENFORCED)"
        " COMMENT 'all'",
    )
    found = sa.inspect(engine)
    b, a, c = found.get_columns("t")
    assert (b["name"], str(b["type"]), b["nullable"]) == ("b", "INTEGER", False)
    assert (a["name"], str(a["type"]), a["nullable"], a["comment"]) == ("a", "DECIMAL(10, 2)", False, "it's")
    assert "computed" in c
    assert found.get_pk_constraint("t")["constrained_columns"] == ["b", "a"]
    assert found.get_table_comment("t") == {"text": "all"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("VARCHAR(5)", "VARCHAR(5)"), ("STRING", "STRING"), ("BYTES", "BYTES"), ("BINARY(3)", "BINARY(3)"),
        ("DOUBLE", "DOUBLE"), ("FLOAT", "FLOAT"), ("TIMESTAMP(6)", "TIMESTAMP(6)"), ("TIME(3)", "TIME(3)"),
        ("TIMESTAMP_LTZ(6)", "TIMESTAMP_LTZ(6)"), ("ARRAY<ARRAY<INT>>", "ARRAY<ARRAY<INT>>"),
        ("MAP<STRING, INT>", "MAP<STRING, INT>"), ("ROW<`a` INT, `b` STRING>", "ROW<`a` INT, `b` STRING>"),
        ("TIMESTAMP(6) *ROWTIME*", "TIMESTAMP(6)"),
    ],
)  # fmt: skip
def test_a_type_is_read_and_written_alike(text: str, kind: str) -> None:
    from scurry.dbapi.sqlalchemy.types import type_of

    assert type_of(text).compile(dialect=ScurryDialect()) == kind


@pytest.mark.parametrize("method", ["get_columns", "get_pk_constraint", "get_foreign_keys", "get_indexes"])
def test_a_table_that_is_not_there_is_named(engine: sa.Engine, method: str) -> None:
    with pytest.raises(sa.exc.NoSuchTableError, match="nope"):
        getattr(sa.inspect(engine), method)("nope")


def test_the_query_of_a_view_is_shown(engine: sa.Engine) -> None:
    run(engine, "CREATE VIEW v AS SELECT 1 AS n")
    assert sa.inspect(engine).get_view_definition("v").split() == ["SELECT", "1", "AS", "`n`"]


# ---------------------------------------------------------------------- rows


def test_rows_are_written_and_read(engine: sa.Engine) -> None:
    table = sa.Table(
        "t", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("s", sa.String),
        sa.Column("x", sa.Numeric(10, 2)), sa.Column("at", sa.DateTime), sa.Column("b", sa.LargeBinary),
    )  # fmt: skip
    rows = [(1, "it's", Decimal("1.50"), datetime.datetime(2020, 1, 2, 3, 4, 5, 6), b"\0"), (2, None, None, None, None)]
    table.create(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), [dict(zip(table.c.keys(), row, strict=True)) for row in rows])
        assert connection.execute(sa.select(table).order_by(table.c.id)).all() == rows
        assert connection.execute(sa.select(table.c.id).where(table.c.id.in_([2, 3]))).scalars().all() == [2]


def test_all_connections_of_an_engine_of_this_process_see_its_tables(engine: sa.Engine) -> None:
    run(engine, "CREATE TEMPORARY VIEW v AS SELECT 7 AS n")
    with engine.connect() as one, engine.connect() as other:
        assert [each.exec_driver_sql("SELECT n FROM v").scalar() for each in (one, other)] == [7, 7]


def test_an_endless_query_is_read_as_it_comes() -> None:
    engine = sa.create_engine("scurry://?runtime_mode=streaming")
    run(engine, "CREATE TEMPORARY TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')")
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT 1 FROM g")
        assert [next(iter(rows)) for _ in range(2)] == [(1,), (1,)]
        rows.close()
    engine.dispose()


def test_a_statement_may_have_a_time_limit() -> None:
    engine = sa.create_engine("scurry://?runtime_mode=streaming")
    run(engine, "CREATE TEMPORARY TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1')")
    with engine.connect() as connection:
        with pytest.raises(sa.exc.OperationalError, match=r"the query has not ended within 0.1 s"):
            connection.execution_options(timeout=0.1).exec_driver_sql("SELECT n FROM g").all()
    engine.dispose()


@pytest.mark.filterwarnings("ignore:pandas only supports SQLAlchemy")
def test_pandas_reads_and_writes(engine: sa.Engine) -> None:
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None], "d": pandas.to_datetime(["2020-01-01", "2020-01-02"])})
    frame.to_sql("f", engine, index=False)
    found = pandas.read_sql("SELECT * FROM f ORDER BY a", engine)
    pandas.testing.assert_frame_equal(found, frame, check_dtype=False)
    assert list(pandas.read_sql_table("f", engine).columns) == ["a", "b", "d"]
    with dbapi.connect() as connection:
        assert pandas.read_sql("SELECT ? AS n", connection, params=(3,)).to_dict() == {"n": {0: 3}}


# ---------------------------------------------------------------------- gateways


def test_a_gateway_is_reached_by_its_address_and_token(gateway: Gateway) -> None:
    host, port = gateway.url.removeprefix("http://").split(":")
    url = sa.URL.create("scurry", password=TOKEN, host=host, port=int(port))
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.literal("ok"))).scalar() == "ok"
    assert TOKEN not in repr(engine.url) + str(engine.url) + repr(engine)
    engine.dispose()


def test_a_session_that_has_gone_is_replaced(gateway: Gateway) -> None:
    engine = sa.create_engine(gateway.url.replace("http://", f"scurry+gateway://:{TOKEN}@"), pool_pre_ping=True)
    run(engine, "SELECT 1")
    gateway.sessions.close_all()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    engine.dispose()


def test_the_package_registers_its_dialect() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["sqlalchemy.dialects"] == dict.fromkeys(
        ["scurry", "scurry.dbapi", "scurry.gateway"], "scurry.dbapi.sqlalchemy:ScurryDialect"
    )
