# mypy: disable-error-code="misc, untyped-decorator"
"""Pages on statements of SQL, modules, tuning and time zones; each has programs in Python."""

from __future__ import annotations

from typing import Any

from support.documented_programs.registry import Tables, program


def rows(d: Tables, *statements: str) -> list[str]:
    """Execute statements; what they answer, in any order, one after the other."""
    found: list[str] = []
    for statement in statements:
        with d.t_env.execute_sql(statement).collect() as answered:
            found += sorted(str(row) for row in answered)
    return found


@program("create: CREATE TABLE", "streaming")
def _(d: Tables) -> Any:
    d.t_env.execute_sql(
        "CREATE TABLE Items (`user` BIGINT, product STRING, amount INT) "
        "WITH ('connector' = 'datagen', 'number-of-rows' = '2', 'fields.amount.min' = '4', 'fields.amount.max' = '4')"
    )
    d.t_env.execute_sql("CREATE TABLE Rubber (product STRING, amount INT) WITH ('connector' = 'blackhole')")
    d.t_env.execute_sql("INSERT INTO Rubber SELECT product, amount FROM Items WHERE product LIKE '%Rubber%'").wait()
    return d.t_env.sql_query("SELECT SUM(amount) AS total FROM Items")


@program("drop, alter and show: tables, views, databases and functions", "batch")
def _(d: Tables) -> Any:
    rows(d, "ALTER TABLE Orders RENAME TO NewOrders", "CREATE VIEW few AS SELECT a FROM NewOrders")
    found = rows(d, "SHOW TABLES", "SHOW VIEWS", "SHOW CREATE VIEW few", "SHOW COLUMNS FROM NewOrders")
    rows(d, "ALTER VIEW few RENAME TO fewer", "CREATE DATABASE db1", "ALTER DATABASE db1 SET ('k' = 'v')")
    rows(d, "CREATE FUNCTION f1 AS 'module.f1' LANGUAGE PYTHON")
    found += rows(d, "SHOW CATALOGS", "SHOW CURRENT CATALOG", "SHOW DATABASES", "SHOW VIEWS", "SHOW USER FUNCTIONS")
    rows(d, "DROP FUNCTION f1", "DROP VIEW fewer", "DROP DATABASE db1", "DROP TABLE NewOrders")
    return found + rows(d, "SHOW TABLES", "SHOW DATABASES", "SHOW USER FUNCTIONS")


@program("insert: one statement, and several in a job", "batch")
def _(d: Tables) -> Any:
    d.t_env.execute_sql(
        "CREATE TABLE Rubber (product STRING, amount INT) "
        f"WITH ('connector' = 'filesystem', 'path' = '{d.directory}/rubber', 'format' = 'csv')"
    )
    one = d.t_env.execute_sql("INSERT INTO Rubber VALUES ('a', 1)")
    one.wait()
    assert one.get_job_client() is not None
    statements = d.t_env.create_statement_set()
    statements.add_insert_sql("INSERT INTO Rubber SELECT a, CAST(b AS INT) FROM Orders WHERE c = 'z'")
    statements.add_insert_sql("INSERT INTO Rubber SELECT a, 0 FROM Orders WHERE b = 30")
    statements.execute().wait()
    return d.t_env.from_path("Rubber")


@program("describe: DESCRIBE", "batch")
def _(d: Tables) -> Any:
    return rows(d, "DESCRIBE Orders", "DESC Orders")


@program("explain: EXPLAIN PLAN FOR, and its details", "streaming")
def _(d: Tables) -> Any:
    from pyflink.table import ExplainDetail

    d.t_env.execute_sql("CREATE TABLE MyTable1 (`count` BIGINT, word STRING) WITH ('connector' = 'datagen')")
    d.t_env.execute_sql("CREATE TABLE MyTable2 (`count` BIGINT, word STRING) WITH ('connector' = 'datagen')")
    query = "SELECT `count`, word FROM MyTable1 WHERE word LIKE 'F%' UNION ALL SELECT `count`, word FROM MyTable2"
    [row] = d.t_env.execute_sql(f"EXPLAIN PLAN FOR {query}").collect()
    detailed = d.t_env.explain_sql(query, ExplainDetail.CHANGELOG_MODE)
    texts = [d.t_env.explain_sql(query), row[0], detailed]
    # A projection of all columns is no operator in scurry's plan as it is written.
    return [line for text in texts for line in text.splitlines() if "Union" in line or line.startswith("==")]


@program("use, load and unload: catalogs, databases and modules", "batch")
def _(d: Tables) -> Any:
    rows(d, "CREATE CATALOG cat1 WITH ('type' = 'generic_in_memory')")
    found = rows(d, "SHOW MODULES", "SHOW FULL MODULES", "USE CATALOG cat1", "SHOW DATABASES", "CREATE DATABASE db1")
    found += rows(d, "USE db1", "SHOW CURRENT DATABASE", "USE MODULES core", "UNLOAD MODULE core", "SHOW MODULES")
    found += rows(d, "LOAD MODULE core", "SHOW FULL MODULES")
    d.t_env.unload_module("core")
    return [*found, str(d.t_env.list_modules()), str(d.t_env.list_full_modules())]


@program("queries: a table in a query, and a query that is registered", "batch")
def _(d: Tables) -> Any:
    table = d.t_env.from_elements([("Rubber ball", 3), ("Pen", 5), ("Rubber", 4)], ["product", "amount"])
    inlined = d.t_env.sql_query(f"SELECT SUM(amount) AS s FROM {table} WHERE product LIKE '%Rubber%'")
    d.t_env.create_temporary_view("Products", table)
    return inlined.union_all(d.t_env.sql_query("SELECT SUM(amount) AS s FROM Products"))


@program("tuning: mini-batch, two phases, and distinct aggregates that are split")
def _(d: Tables) -> Any:
    config = d.t_env.get_config()
    config.set("table.exec.mini-batch.enabled", "true").set("table.exec.mini-batch.allow-latency", "5 s")
    config.set("table.exec.mini-batch.size", "5000").set("table.optimizer.agg-phase-strategy", "TWO_PHASE")
    config.set("table.optimizer.distinct-agg.split.enabled", "true")
    return d.t_env.sql_query("SELECT a, COUNT(DISTINCT b) AS d, SUM(b) AS s FROM Orders GROUP BY a")


@program("timezone: TIMESTAMP_LTZ as text")
def _(d: Tables) -> Any:
    lines = []
    for zone in ("UTC", "Asia/Shanghai", "America/Los_Angeles"):
        d.t_env.get_config().set_local_timezone(zone)
        query = "SELECT CAST(TO_TIMESTAMP_LTZ(4001, 3) AS STRING), CAST(TO_TIMESTAMP_LTZ(4001, 3) AS TIMESTAMP(3))"
        lines += rows(d, query)
    return lines
