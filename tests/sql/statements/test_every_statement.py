"""Each kind of statement of Flink runs or is refused by its name, never as a syntax error or by a failure inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.errors import SqlParserError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment

RUN = """
DESCRIBE CATALOG default_catalog
SHOW CREATE TABLE fs
SHOW CREATE VIEW vw
SHOW PARTITIONS fs
SHOW PARTITIONS fs PARTITION (p = 'p1')
SHOW MODELS
CREATE MODEL m INPUT (a INT) OUTPUT (b INT) WITH ('provider' = 'x')
DESCRIBE MODEL m
SHOW CREATE MODEL m
ALTER MODEL m RENAME TO m2
DROP MODEL m2
EXPLAIN SELECT 1
EXPLAIN CHANGELOG_MODE, JSON_EXECUTION_PLAN SELECT 1
EXPLAIN INSERT INTO bh SELECT 1
EXPLAIN STATEMENT SET BEGIN INSERT INTO bh SELECT 1; INSERT INTO bh SELECT 2; END
EXPLAIN CREATE TABLE x WITH ('connector' = 'blackhole') AS SELECT 1 AS a
EXECUTE STATEMENT SET BEGIN INSERT INTO bh SELECT 1; INSERT INTO bh SELECT 2; END
INSERT INTO fs PARTITION (p = 's') SELECT 1, 'a'
INSERT OVERWRITE fs VALUES (1, 'q', 'p1')
COMPILE PLAN '{tmp}/x.json' FOR INSERT INTO bh SELECT 1
COMPILE AND EXECUTE PLAN '{tmp}/x.json' FOR INSERT INTO bh SELECT 1
EXECUTE PLAN '{tmp}/x.json'
ADD JAR '{tmp}/x.jar'
SHOW JARS
SHOW MODULES
SHOW FULL MODULES
ANALYZE TABLE fs PARTITION (p) COMPUTE STATISTICS
DESCRIBE fs
SHOW COLUMNS FROM fs LIKE 'a%'
SHOW TABLES LIKE 'f%'
SHOW VIEWS
SHOW USER FUNCTIONS
SHOW FUNCTIONS
SHOW CURRENT CATALOG
SHOW CURRENT DATABASE
SHOW CATALOGS
SHOW DATABASES
USE CATALOG default_catalog
USE default_database
CREATE DATABASE dd
ALTER DATABASE dd SET ('a' = 'b')
DROP DATABASE dd
CREATE MATERIALIZED TABLE mt WITH ('connector' = 'blackhole') FRESHNESS = INTERVAL '1' MINUTE AS SELECT 1 AS a
SHOW MATERIALIZED TABLES
SHOW CREATE MATERIALIZED TABLE mt
DROP MATERIALIZED TABLE mt
ALTER TABLE fs ADD PARTITION (p = 'p9')
ALTER TABLE fs DROP PARTITION (p = 'p9')
"""
REFUSED = """
DELETE FROM fs WHERE a = 1
UPDATE fs SET b = 'z' WHERE a = 1
TRUNCATE TABLE fs
SHOW PARTITIONS bh
SHOW CREATE CATALOG default_catalog
DESCRIBE DATABASE default_database
DESCRIBE FUNCTION EXTENDED nope
SHOW JOBS
REMOVE JAR '/x.jar'
STOP JOB 'abc' WITH SAVEPOINT
DESCRIBE JOB 'abc'
CALL sys.p(1)
SHOW PROCEDURES
BEGIN STATEMENT SET
END
UPSERT INTO bh SELECT 1
MERGE INTO bh USING dg ON bh.a = dg.a WHEN MATCHED THEN UPDATE SET a = 1
SET 'a' = 'b'
RESET 'a'
LOAD MODULE hive
USE MODULES hive
CREATE CONNECTION c WITH ('type' = 'x')
SHOW CONNECTIONS
SELECT * FROM fs TABLESAMPLE BERNOULLI(10)
SELECT * FROM fs PIVOT (SUM(a) FOR b IN ('x'))
"""


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local")
    made.execute_sql(
        "CREATE TABLE fs (a INT, b STRING, p STRING) PARTITIONED BY (p) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    made.execute_sql("CREATE TABLE bh (a INT) WITH ('connector' = 'blackhole')")
    made.execute_sql("CREATE TABLE dg (a INT, b INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    made.execute_sql("CREATE VIEW vw AS SELECT 1 AS x")
    return made


def test_statements_run(env: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "x.jar").touch()
    for statement in RUN.strip().splitlines():
        result = env.execute_sql(statement.replace("{tmp}", str(tmp_path)))
        if result.get_job_client() is not None:
            result.wait()


def test_statements_that_do_not_run_are_refused_by_name(env: TableEnvironment) -> None:
    for statement in REFUSED.strip().splitlines():
        with pytest.raises((UnsupportedError, ValidationError)) as refused:
            env.execute_sql(statement)
        assert not isinstance(refused.value, SqlParserError), statement


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM fs", "Can't perform delete operation of the table default_catalog.default_database.fs because"),
        ("DELETE FROM nope", "From line 1, column 13 to line 1, column 16: Object 'nope' not found"),
        ("UPDATE fs SET a = 1", "its connector cannot update rows"),
        ("TRUNCATE TABLE fs", "its connector cannot remove all of its rows"),
        ("TRUNCATE TABLE vw", "TRUNCATE TABLE for a view is not allowed"),
        ("TRUNCATE TABLE nope", "Cannot find table '`default_catalog`.`default_database`.`nope`' in any of the"),
        ("SHOW PARTITIONS bh", "Table default_database.bh in catalog default_catalog is not partitioned"),
    ],
)
def test_changes_of_rows_are_refused_in_flinks_words(env: TableEnvironment, statement: str, message: str) -> None:
    with pytest.raises((UnsupportedError, ValidationError), match=message):
        env.execute_sql(statement)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "TABLE(ML_EVALUATE(TABLE fs, MODEL m, DESCRIPTOR(a), DESCRIPTOR(a), 'regression'))",
            "ML_EVALUATE is not supported: Flink 2.3 parses it, and has no plan for it",
        ),
        ("TABLE(VECTOR_SEARCH(TABLE fs, DESCRIPTOR(a), 1, 2))", "Expect search column `a` type is ARRAY<FLOAT> or"),
        ("NOPE(TABLE fs)", "line 1, column 15 to line 1, column 18: There is no process table function 'NOPE'"),
        ("TABLE(NOPE(a => 1))", r"No match found for function signature NOPE\(a => <NUMERIC>\)"),
    ],
)
def test_functions_of_tables_that_are_not_there_are_refused_by_name(
    env: TableEnvironment, call: str, message: str
) -> None:
    with pytest.raises((UnsupportedError, ValidationError), match=message):
        env.execute_sql(f"SELECT * FROM {call}")
