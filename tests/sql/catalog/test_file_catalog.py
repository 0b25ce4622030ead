"""The catalog of type `filesystem`: what one session defines is there in the next, and Flink's files are read."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import CatalogError, ScurryError, TableAlreadyExistError, UnsupportedError, ValidationError
from scurry.sql.statements.file_catalog.catalog import FileSystemCatalog
from scurry.table import EnvironmentSettings, TableEnvironment

#: Files that Flink 2.3's catalog `test-filesystem` wrote: a table with all parts, a changed one, a materialized one.
FLINK = Path(__file__).parents[2] / "fixtures" / "flink_file_catalog"

COLUMNS = (
    "a INT COMMENT 'ca', b STRING, c AS a + 1, d TIMESTAMP(3), m BIGINT METADATA FROM 'offset' VIRTUAL, "
    "n STRING METADATA, p AS PROCTIME(), r ROW<x DECIMAL(10, 2), y ARRAY<INT NOT NULL>>, s MAP<STRING, BYTES>, "
    "WATERMARK FOR d AS d - INTERVAL '5' SECOND, PRIMARY KEY (a) NOT ENFORCED"
)


class Session:
    """A session that has the catalog `c` of a directory."""

    def __init__(self, root: Path, kind: str = "filesystem") -> None:
        self.env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self.env.get_config().set("scurry.runner", "local")
        self.sql(f"CREATE CATALOG c WITH ('type' = '{kind}', 'path' = '{root}', 'default-database' = 'mydb')")
        self.sql("USE CATALOG c")

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        result = self.env.execute_sql(text)
        result.wait()
        return [tuple(row) for row in result.collect()]

    def created(self, name: str) -> str:
        return str(self.sql(f"SHOW CREATE TABLE {name}")[0][0])


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def test_a_table_with_all_parts_is_the_same_in_the_next_session(session: Session, tmp_path: Path) -> None:
    session.sql(f"CREATE TABLE t ({COLUMNS}) COMMENT 'hi' PARTITIONED BY (b) WITH ('connector' = 'kafka', 'x' = 'y')")
    session.sql("CREATE TABLE hashed (a INT, b INT) DISTRIBUTED BY HASH(a, b) INTO 3 BUCKETS WITH ('connector' = 'k')")
    later = Session(tmp_path, kind="test-filesystem")
    assert later.sql("SHOW TABLES") == [("hashed",), ("t",)]
    for name in ("t", "hashed"):
        assert later.created(name) == session.created(name)
        catalogs = [each.env.get_catalog("c") for each in (session, later)]
        assert catalogs[0] is not None and catalogs[1] is not None
        found = [each.env._session.catalogs.catalog("c").find_table("mydb", name) for each in (session, later)]
        assert found[0] == found[1] and found[0] is not None
    assert later.sql("DESCRIBE t") == session.sql("DESCRIBE t")


def test_a_table_without_a_connector_has_its_rows_below_the_catalog(session: Session, tmp_path: Path) -> None:
    session.sql("CREATE TABLE t (a INT, b STRING) WITH ('format' = 'json')")
    assert session.sql("SELECT * FROM t") == []
    session.sql("INSERT INTO t VALUES (1, 'x')")
    later = Session(tmp_path)
    assert later.sql("SELECT * FROM t") == [(1, "x")]
    assert f"'path' = '{tmp_path}/mydb/t/data'" in later.created("t")
    later.sql("ALTER TABLE t SET ('json.ignore-parse-errors' = 'true')")
    later.sql("ALTER TABLE t RENAME TO u")
    assert session.sql("SELECT * FROM u") == [(1, "x")]
    assert session.sql("SHOW TABLES") == [("u",)]
    session.sql("DROP TABLE u")
    assert not (tmp_path / "mydb" / "u").exists() and later.sql("SHOW TABLES") == []


def test_a_delta_table_without_a_path_has_its_rows_below_the_catalog(session: Session, tmp_path: Path) -> None:
    session.sql("CREATE TABLE t (a INT) WITH ('connector' = 'delta')")
    session.sql("INSERT INTO t VALUES (1), (2)")
    session.sql("DELETE FROM t WHERE a = 1")
    later = Session(tmp_path)
    assert f"'table-path' = '{tmp_path}/mydb/t/data'" in later.created("t")
    later.sql("ALTER TABLE t RENAME TO u")
    assert session.sql("SELECT * FROM u") == [(2,)]
    session.sql("DROP TABLE u")
    assert not (tmp_path / "mydb" / "u").exists()


def test_views_are_kept_and_changed(session: Session, tmp_path: Path) -> None:
    session.sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    session.sql("CREATE VIEW v (b) COMMENT 'of t' AS SELECT a FROM t")
    later = Session(tmp_path)
    assert later.sql("SHOW VIEWS") == [("v",)]
    assert later.sql("SHOW CREATE VIEW v") == session.sql("SHOW CREATE VIEW v")
    assert len(later.sql("SELECT b FROM v")) == 1
    later.sql("ALTER VIEW v AS SELECT a + 1 AS z FROM t")
    assert [row[0] for row in session.sql("DESCRIBE v")] == ["z"]
    later.sql("DROP VIEW v")
    assert session.sql("SHOW VIEWS") == []


def test_databases_have_properties(session: Session, tmp_path: Path) -> None:
    session.sql("CREATE DATABASE other COMMENT 'more' WITH ('k' = 'v')")
    session.sql("ALTER DATABASE other SET ('k' = 'w')")
    later = Session(tmp_path)
    assert later.sql("SHOW DATABASES") == [("mydb",), ("other",)]
    database = later.env._session.catalogs.catalog("c").get_database("other")
    assert (database.comment, database.properties) == ("more", {"k": "w"})
    later.sql("CREATE TABLE other.t (a INT) WITH ('connector' = 'blackhole')")
    with pytest.raises(ScurryError, match="Database other in catalog c is not empty"):
        session.sql("DROP DATABASE other")
    session.sql("DROP DATABASE other CASCADE")
    assert later.sql("SHOW DATABASES") == [("mydb",)]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("", "Missing required options are: path"),
        (", 'path' = '/nowhere/at/all'", "Catalog d path /nowhere/at/all does not exist"),
        (", 'path' = '/tmp', 'foo' = 'bar'", "foo"),
        (", 'path' = 's3://bucket/x'", "keeps definitions in directories of this machine, not at s3://bucket/x"),
    ],
)
def test_wrong_options_are_refused(session: Session, options: str, error: str) -> None:
    with pytest.raises(ScurryError, match=error):
        session.sql(f"CREATE CATALOG d WITH ('type' = 'filesystem'{options})")


def test_what_files_do_not_keep_is_refused(session: Session) -> None:
    with pytest.raises(ValidationError, match="'x/y' cannot be the name of a directory"):
        session.sql("CREATE TABLE `x/y` (a INT) WITH ('connector' = 'blackhole')")
    with pytest.raises(UnsupportedError, match="of type 'filesystem': create, change and drop functions and models in"):
        session.sql("CREATE FUNCTION f AS 'a.b' LANGUAGE PYTHON")
    view = session.env.from_elements([(1,)], ["a"])
    with pytest.raises(ScurryError, match="no objects of a program"):
        session.env._session.catalogs.create_table(
            session.env._session.catalogs.find_table(_anonymous(session, view)).table,  # type: ignore[union-attr]
            session.env._session.catalogs.qualify(("w",)),
            if_not_exists=False,
        )


def _anonymous(session: Session, table: Any) -> Any:
    session.env.create_temporary_view("inline", table)
    return session.env._session.catalogs.qualify(("inline",))


def test_files_of_flink_are_read(tmp_path: Path) -> None:
    for file in FLINK.glob("*.json"):
        directory = tmp_path / "mydb" / file.stem.removesuffix("_schema") / "schema"
        directory.mkdir(parents=True)
        shutil.copy(file, directory)
    session = Session(tmp_path, kind="test-filesystem")
    assert session.sql("SHOW TABLES") == [("mt",), ("t",), ("u",)]
    assert session.sql("SHOW MATERIALIZED TABLES") == [("mt",)]
    assert session.created("t") == (
        "CREATE TABLE `c`.`mydb`.`t` (\n  `a` INT NOT NULL COMMENT 'ca',\n  `b` VARCHAR(2147483647),\n"
        "  `c` AS `a` + 1,\n  `d` TIMESTAMP(3),\n  WATERMARK FOR `d` AS `d` - INTERVAL '5' SECOND,\n"
        "  CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED\n)\nCOMMENT 'hi'\nPARTITIONED BY (`b`)\nWITH (\n"
        f"  'format' = 'json',\n  'path' = '{tmp_path}/mydb/t/data'\n)\n"
    )
    before = json.loads((FLINK / "t_schema.json").read_text())
    session.sql("ALTER TABLE t SET ('format' = 'json')")
    assert json.loads((tmp_path / "mydb" / "t" / "schema" / "t_schema.json").read_text()) == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tableKind": "TABLE"}'])
def test_a_damaged_file_is_named(session: Session, tmp_path: Path, text: str) -> None:
    session.sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    file = tmp_path / "mydb" / "t" / "schema" / "t_schema.json"
    file.write_text(text)
    with pytest.raises(CatalogError, match=r"t_schema\.json"):
        session.sql("DESCRIBE t")


@pytest.mark.parametrize("damage", [{"schema.0.data-type": "INTT"}, {"schema.0.data-type": None}])
def test_a_damaged_column_is_named_with_its_table(session: Session, tmp_path: Path, damage: dict[str, Any]) -> None:
    session.sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    file = tmp_path / "mydb" / "t" / "schema" / "t_schema.json"
    kept = json.loads(file.read_text())
    kept["catalogTableInfo"] |= damage
    kept["catalogTableInfo"] = {key: value for key, value in kept["catalogTableInfo"].items() if value is not None}
    file.write_text(json.dumps(kept))
    with pytest.raises(CatalogError, match=r"the definition of c\.mydb\.t is damaged: "):
        session.sql("DESCRIBE t")


def test_of_many_that_create_one_table_one_succeeds(session: Session, tmp_path: Path) -> None:
    session.sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    table = session.env._session.catalogs.catalog("c").find_table("mydb", "t")
    assert table is not None

    def create(number: int) -> bool:
        try:
            FileSystemCatalog("c", "mydb", tmp_path).create_table("mydb", "u", table)
        except TableAlreadyExistError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(create, range(40))) == 1
