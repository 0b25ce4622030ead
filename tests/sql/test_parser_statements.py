"""Every kind of statement has a class of its own, and says all that was written."""

from __future__ import annotations

import pytest

from scurry.errors import SqlParserError
from scurry.sql.syntax import nodes, parse, parse_statements, unparse
from scurry.sql.syntax.nodes import (
    AlterTable,
    ComputedColumn,
    CreateTable,
    Explain,
    Identifier,
    Insert,
    MetadataColumn,
    PhysicalColumn,
    Statement,
    StatementSet,
)

KINDS = {
    "CREATE TABLE t (a INT) WITH ('k' = 'v')": "CreateTable",
    "CREATE TABLE t LIKE u (INCLUDING ALL)": "CreateTable",
    "CREATE TABLE t AS SELECT 1": "CreateTable",
    "CREATE OR REPLACE TABLE t AS SELECT 1": "CreateTable",
    "REPLACE TABLE t AS SELECT 1": "CreateTable",
    "CREATE TEMPORARY VIEW v AS SELECT 1": "CreateView",
    "CREATE CATALOG c WITH ('k' = 'v')": "CreateCatalog",
    "CREATE DATABASE d COMMENT 'c'": "CreateDatabase",
    "CREATE FUNCTION f AS 'm.f' LANGUAGE PYTHON": "CreateFunction",
    "CREATE TEMPORARY SYSTEM FUNCTION f AS 'm.f'": "CreateFunction",
    "CREATE MODEL m INPUT (a INT) OUTPUT (b INT) WITH ('k' = 'v')": "CreateModel",
    "CREATE CONNECTION c WITH ('k' = 'v')": "CreateConnection",
    "CREATE MATERIALIZED TABLE t FRESHNESS = INTERVAL '1' HOUR REFRESH_MODE = FULL AS SELECT 1": (
        "CreateMaterializedTable"
    ),
    "CREATE OR ALTER MATERIALIZED TABLE t AS SELECT 1": "CreateMaterializedTable",
    "DROP TEMPORARY TABLE IF EXISTS t": "DropTable",
    "DROP VIEW v": "DropView",
    "DROP CATALOG c": "DropCatalog",
    "DROP DATABASE d CASCADE": "DropDatabase",
    "DROP TEMPORARY SYSTEM FUNCTION f": "DropFunction",
    "DROP MODEL m": "DropModel",
    "DROP CONNECTION c": "DropConnection",
    "DROP MATERIALIZED TABLE t": "DropMaterializedTable",
    "ALTER TABLE t RENAME TO u": "AlterTable",
    "ALTER VIEW v AS SELECT 1": "AlterView",
    "ALTER DATABASE d SET ('k' = 'v')": "AlterDatabase",
    "ALTER CATALOG c RESET ('k')": "AlterCatalog",
    "ALTER FUNCTION f AS 'm.f'": "AlterFunction",
    "ALTER MODEL m RENAME TO n": "AlterModel",
    "ALTER CONNECTION c SET ('k' = 'v')": "AlterConnection",
    "ALTER MATERIALIZED TABLE t SUSPEND": "AlterMaterializedTable",
    "INSERT INTO t SELECT 1": "Insert",
    "UPSERT INTO t VALUES (1)": "Insert",
    "UPDATE t SET a = 1": "Update",
    "DELETE FROM t WHERE a": "Delete",
    "MERGE INTO t USING u ON a WHEN MATCHED THEN UPDATE SET a = 1": "Merge",
    "TRUNCATE TABLE t": "TruncateTable",
    "CALL p(1)": "CallProcedure",
    "EXECUTE INSERT INTO t SELECT 1": "Execute",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END": "Execute",
    "EXECUTE PLAN 'p'": "ExecutePlan",
    "COMPILE PLAN 'p' IF NOT EXISTS FOR INSERT INTO t SELECT 1": "CompilePlan",
    "COMPILE AND EXECUTE PLAN 'p' FOR INSERT INTO t SELECT 1": "CompileAndExecutePlan",
    "EXPLAIN PLAN FOR SELECT 1": "Explain",
    "BEGIN STATEMENT SET": "BeginStatementSet",
    "END": "EndStatementSet",
    "ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS": "AnalyzeTable",
    "USE CATALOG c": "UseCatalog",
    "USE c.d": "UseDatabase",
    "USE MODULES core, hive": "UseModules",
    "LOAD MODULE hive WITH ('k' = 'v')": "LoadModule",
    "UNLOAD MODULE hive": "UnloadModule",
    "SET 'k' = 'v'": "Set",
    "RESET 'k'": "Reset",
    "ADD JAR 'x.jar'": "AddJar",
    "REMOVE JAR 'x.jar'": "RemoveJar",
    "STOP JOB 'j' WITH SAVEPOINT WITH DRAIN": "StopJob",
    "SHOW CATALOGS LIKE 'a%'": "ShowCatalogs",
    "SHOW DATABASES IN c": "ShowDatabases",
    "SHOW TABLES FROM c.d NOT LIKE 'a%'": "ShowTables",
    "SHOW VIEWS": "ShowViews",
    "SHOW MATERIALIZED TABLES": "ShowMaterializedTables",
    "SHOW COLUMNS FROM t": "ShowColumns",
    "SHOW USER FUNCTIONS": "ShowFunctions",
    "SHOW PROCEDURES": "ShowProcedures",
    "SHOW MODELS": "ShowModels",
    "SHOW CONNECTIONS": "ShowConnections",
    "SHOW FULL MODULES": "ShowModules",
    "SHOW PARTITIONS t PARTITION (a = 1)": "ShowPartitions",
    "SHOW CURRENT CATALOG": "ShowCurrentCatalog",
    "SHOW CURRENT DATABASE": "ShowCurrentDatabase",
    "SHOW JARS": "ShowJars",
    "SHOW JOBS": "ShowJobs",
    "SHOW CREATE TABLE t": "ShowCreateTable",
    "SHOW CREATE VIEW v": "ShowCreateView",
    "SHOW CREATE CATALOG c": "ShowCreateCatalog",
    "SHOW CREATE MODEL m": "ShowCreateModel",
    "SHOW CREATE MATERIALIZED TABLE t": "ShowCreateMaterializedTable",
    "DESCRIBE EXTENDED t": "DescribeTable",
    "DESC CATALOG c": "DescribeCatalog",
    "DESCRIBE DATABASE d": "DescribeDatabase",
    "DESCRIBE FUNCTION f": "DescribeFunction",
    "DESCRIBE MODEL m": "DescribeModel",
    "DESCRIBE CONNECTION c": "DescribeConnection",
    "DESCRIBE JOB 'j'": "DescribeJob",
}


@pytest.mark.parametrize("text", KINDS)
def test_a_statement_has_the_class_of_its_kind_and_spans_its_text(text: str) -> None:
    statement = parse(text)
    assert (type(statement).__name__, statement.span.source) == (KINDS[text], text)


# Flink writes the patterns of SHOW in upper case.
@pytest.mark.parametrize("text", [text for text in KINDS if " LIKE 'a" not in text])
def test_the_canonical_text_of_a_statement_is_read_as_the_same_tree(text: str) -> None:
    statement = parse(text)
    assert parse(unparse(statement)) == statement


def test_every_class_of_statements_is_parsed() -> None:
    abstract = {"Statement", "Query", "Show", "ShowCreate", "Drop"}
    classes = {name for name in dir(nodes) if _is_statement(name)} - abstract
    queries = {"Select", "SetOperation", "Values", "ExplicitTable", "OrderBy", "With"}
    # Flink 2.3 does not read these by themselves.
    within_others = {"StatementSet", "ShowCreateDatabase", "ShowCreateFunction", "ShowCreateConnection"}
    assert classes - queries - within_others == set(KINDS.values())


def _is_statement(name: str) -> bool:
    found = getattr(nodes, name)
    return isinstance(found, type) and issubclass(found, Statement)


def table(text: str) -> CreateTable:
    statement = parse(text)
    assert isinstance(statement, CreateTable)
    return statement


def test_a_table_has_columns_of_three_kinds_keys_and_a_watermark() -> None:
    schema = table(
        """CREATE TABLE t (
          a INT NOT NULL COMMENT 'first',
          b AS a + 1,
          c TIMESTAMP(3) METADATA FROM 'ts' VIRTUAL,
          PRIMARY KEY (a) NOT ENFORCED,
          WATERMARK FOR c AS c - INTERVAL '1' SECOND
        )"""
    ).schema
    assert schema is not None
    first, second, third = schema.columns
    assert isinstance(first, PhysicalColumn) and not first.type.nullable and first.comment == "first"
    assert isinstance(second, ComputedColumn)
    assert isinstance(third, MetadataColumn) and (third.key, third.virtual) == ("ts", True)
    assert [(each.kind, each.enforced) for each in schema.constraints] == [("PRIMARY KEY", False)]
    assert schema.watermark is not None
    assert schema.watermark.column == Identifier(("c",))


def test_a_column_name_may_be_a_keyword_that_is_not_reserved() -> None:
    schema = table("CREATE TABLE t (name STRING, type INT, `order` INT)").schema
    assert schema is not None
    assert [str(each.name) for each in schema.columns] == ["name", "type", "order"]


def test_properties_keep_their_order_and_places() -> None:
    properties = table("CREATE TABLE t WITH ('b' = '1', 'a' = '2')").properties
    assert properties is not None
    assert [(each.key.value, each.value.value, each.span.column) for each in properties] == [
        ("b", "1", 22),
        ("a", "2", 33),
    ]


def test_an_insertion_has_columns_partition_and_conflict() -> None:
    insert = parse("INSERT INTO t PARTITION (p = 1) (a, b) SELECT 1, 2 ON CONFLICT DO NOTHING")
    assert isinstance(insert, Insert)
    assert ([str(each.column) for each in insert.partition], len(insert.columns), insert.on_conflict) == (
        ["p"], 2, "NOTHING",
    )  # fmt: skip


def test_a_query_in_parentheses_after_the_table_is_no_list_of_columns() -> None:
    insert = parse("INSERT INTO t (SELECT 1)")
    assert isinstance(insert, Insert)
    assert (insert.columns, insert.query) == ((), parse("SELECT 1"))


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("ADD a INT FIRST", "AddSchema"),
        ("ADD (a INT, PRIMARY KEY (a) NOT ENFORCED)", "AddSchema"),
        ("MODIFY a BIGINT AFTER b", "ModifySchema"),
        ("DROP a", "DropColumns"),
        ("DROP (a, b)", "DropColumns"),
        ("DROP CONSTRAINT c", "DropConstraint"),
        ("DROP PRIMARY KEY", "DropPrimaryKey"),
        ("DROP WATERMARK", "DropWatermark"),
        ("DROP DISTRIBUTION", "DropDistribution"),
        ("ADD DISTRIBUTION BY HASH(a) INTO 3 BUCKETS", "AddDistribution"),
        ("MODIFY DISTRIBUTION INTO 3 BUCKETS", "ModifyDistribution"),
        ("ADD IF NOT EXISTS PARTITION (a = 1)", "AddPartitions"),
        ("DROP PARTITION (a = 1), PARTITION (a = 2)", "DropPartitions"),
        ("RENAME TO u", "RenameTo"),
        ("RENAME a TO b", "RenameColumn"),
        ("SET ('k' = 'v')", "SetProperties"),
        ("RESET ('k')", "ResetProperties"),
    ],
)
def test_tables_are_altered_by_actions(action: str, kind: str) -> None:
    statement = parse(f"ALTER TABLE t {action}")
    assert isinstance(statement, AlterTable)
    assert type(statement.action).__name__ == kind


def test_explain_has_its_details_and_a_statement_set() -> None:
    explain = parse("EXPLAIN CHANGELOG_MODE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO u SELECT 2; END")
    assert isinstance(explain, Explain)
    assert isinstance(explain.statement, StatementSet)
    assert (explain.details, len(explain.statement.inserts)) == (("CHANGELOG_MODE",), 2)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("SET execution.runtime-mode = batch;", ("execution.runtime-mode", "batch")),
        ("SET table.exec.mini-batch.allow-latency=10s", ("table.exec.mini-batch.allow-latency", "10s")),
        ("SET pipeline.name = 'a b';", ("pipeline.name", "a b")),
        ("SET 'a' = 'b'", ("a", "b")),
        ("SET;", (None, None)),
    ],
)
def test_clients_set_options_without_quotes(text: str, setting: tuple[str | None, str | None]) -> None:
    (statement,) = parse_statements(text)
    assert isinstance(statement, nodes.Set)
    assert (statement.key, statement.value) == setting


def test_programs_set_no_options_without_quotes() -> None:
    with pytest.raises(SqlParserError, match='Encountered "k" at line 1, column 5'):
        parse("SET k = v")
