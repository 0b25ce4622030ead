"""Catalogs, databases, tables and views by the methods of TableEnvironment; the answers are those of PyFlink 2.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scurry.common._pyflink.util.exceptions import (
    CatalogException,
    DatabaseNotEmptyException,
    DatabaseNotExistException,
    TableNotExistException,
)
from scurry.errors import CatalogError, UnsupportedError, ValidationError
from scurry.table import (
    DataTypes,
    EnvironmentSettings,
    ModuleEntry,
    Schema,
    TableDescriptor,
    TableEnvironment,
    TableSchema,
)
from scurry.table.catalog import CatalogBaseTable, CatalogDatabase, HiveCatalog, ObjectPath

ONE_COLUMN = Schema.new_builder().column("a", "INT").build()
DATAGEN = TableDescriptor.for_connector("datagen").schema(ONE_COLUMN).option("number-of-rows", "1").build()


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.execute_sql("CREATE CATALOG c WITH ('type' = 'generic_in_memory')")
    made.use_catalog("c")
    made.execute_sql("CREATE DATABASE d")
    made.use_database("d")
    return made


def test_the_current_catalog_and_database_are_those_last_used(env: TableEnvironment) -> None:
    assert (env.get_current_catalog(), env.get_current_database()) == ("c", "d")
    env.use_catalog("default_catalog")
    assert (env.get_current_catalog(), env.get_current_database()) == ("default_catalog", "default_database")


def test_catalogs_and_databases_are_listed(env: TableEnvironment) -> None:
    assert env.list_catalogs() == ["c", "default_catalog"]
    assert env.list_databases() == ["d", "default"]


def test_a_catalog_or_database_that_does_not_exist_is_not_used(env: TableEnvironment) -> None:
    with pytest.raises(CatalogError, match=r"A catalog with name \[nope\] does not exist\."):
        env.use_catalog("nope")
    with pytest.raises(CatalogError, match=r"name \[nope\] does not exist in the catalog: \[c\]\."):
        env.use_database("nope")


def test_tables_and_views_are_listed(env: TableEnvironment) -> None:
    env.create_table("p", DATAGEN)
    env.create_temporary_table("t", DATAGEN)
    env.execute_sql("CREATE VIEW v AS SELECT 1 AS a")
    assert env.list_tables() == ["p", "t", "v"]
    assert env.list_views() == ["v"]
    assert env.list_temporary_tables() == ["t"]
    assert env.list_temporary_views() == []


def test_a_table_without_a_comment_has_an_empty_one(env: TableEnvironment) -> None:
    env.create_table("p", DATAGEN)
    env.execute_sql("CREATE VIEW v COMMENT 'why' AS SELECT 1 AS a")
    catalog = env.get_catalog(env.get_current_catalog())
    assert catalog is not None
    for name, comment in (("p", ""), ("v", "why")):
        found = catalog.get_table(ObjectPath(env.get_current_database(), name))
        assert (found.get_comment(), found.get_description()) == (comment, comment)


def test_a_table_is_created_once(env: TableEnvironment) -> None:
    env.create_table("p", DATAGEN)
    env.create_table("p", DATAGEN, True)
    with pytest.raises(ValidationError, match="already exists"):
        env.create_table("p", DATAGEN)


def test_dropping_says_whether_there_was_a_table(env: TableEnvironment) -> None:
    env.create_table("p", DATAGEN)
    assert (env.drop_table("p"), env.drop_table("p")) == (True, False)
    with pytest.raises(ValidationError, match=r"Table with identifier 'c\.d\.p' does not exist\."):
        env.drop_table("p", False)


def test_dropping_says_whether_there_was_a_view(env: TableEnvironment) -> None:
    env.execute_sql("CREATE VIEW v AS SELECT 1 AS a")
    assert (env.drop_view("v"), env.drop_view("v")) == (True, False)
    with pytest.raises(ValidationError, match=r"View with identifier 'c\.d\.v' does not exist\."):
        env.drop_view("v", False)


def test_dropping_says_whether_there_was_a_temporary_table(env: TableEnvironment) -> None:
    env.create_temporary_table("t", DATAGEN)
    assert (env.drop_temporary_table("t"), env.drop_temporary_table("t")) == (True, False)


def test_a_path_names_a_table_of_the_catalog(env: TableEnvironment) -> None:
    env.create_table("p", DATAGEN)
    assert str(env.from_path("c.d.p").get_resolved_schema()) == "(\n  `a` INT\n)"
    with pytest.raises(ValidationError, match="Table `nope` was not found"):
        env.from_path("nope")


def test_a_view_of_a_table_is_kept_by_the_catalog(env: TableEnvironment) -> None:
    env.get_config().set("scurry.runner", "local")
    table = env.from_elements([(1, "a")], ["k", "v"])
    assert (env.create_view("v", table), env.create_view("v", table, True)) == (True, False)
    assert (env.list_views(), env.list_temporary_views()) == (["v"], [])
    with pytest.raises(CatalogError, match="d.v already exists in Catalog c"):
        env.create_view("v", table)
    with env.sql_query("SELECT v FROM c.d.v").execute().collect() as rows:
        assert [tuple(row) for row in rows] == [("a",)]
    assert env.drop_view("v")


def test_functions_are_listed_and_only_those_of_users_can_be_dropped(env: TableEnvironment) -> None:
    assert "upper" in env.list_functions() and env.list_user_defined_functions() == []
    assert not env.drop_function("md5") and not env.drop_temporary_function("md5")
    assert not env.drop_temporary_system_function("md5")


def test_a_catalog_is_seen_and_changed_through_its_methods(env: TableEnvironment) -> None:
    catalog = env.get_catalog("c")
    assert catalog is not None and env.get_catalog("nope") is None
    catalog.create_database("e", CatalogDatabase.create_instance({"k": "v"}, "why"), False)
    assert (catalog.list_databases(), catalog.get_database("e").get_properties()) == (["d", "default", "e"], {"k": "v"})
    env.create_table("p", DATAGEN)
    path = ObjectPath("d", "p")
    assert catalog.get_table(path).get_options() == {"connector": "datagen", "number-of-rows": "1"}
    catalog.create_table(ObjectPath("e", "q"), catalog.get_table(path), False)
    catalog.rename_table(path, "r", False)
    assert (env.list_tables(), catalog.list_tables("e")) == (["r"], ["q"])
    assert env.from_path("c.e.q").get_schema().get_field_names() == ["a"]


def test_a_table_does_not_become_a_view(env: TableEnvironment) -> None:
    env.create_table("p", DATAGEN)
    catalog = env.get_catalog("c")
    assert catalog is not None
    view = CatalogBaseTable.create_view("SELECT 1", "SELECT 1", TableSchema(["a"], [DataTypes.INT()]), {})
    with pytest.raises(CatalogException, match="Existing table is 'TABLE' and new table is 'VIEW'"):
        catalog.alter_table(ObjectPath("d", "p"), view, False)
    catalog.alter_table(ObjectPath("d", "nope"), view, True)


def test_programs_catch_the_errors_of_catalogs_by_flinks_names(env: TableEnvironment) -> None:
    catalog = env.get_catalog("c")
    assert catalog is not None
    with pytest.raises(DatabaseNotExistException, match="Database nope does not exist in Catalog c"):
        catalog.get_database("nope")
    with pytest.raises(TableNotExistException):
        catalog.get_table(ObjectPath("d", "nope"))
    with pytest.raises(CatalogException):
        catalog.drop_table(ObjectPath("d", "nope"), ignore_if_not_exists=False)
    env.create_table("p", DATAGEN)
    with pytest.raises(DatabaseNotEmptyException, match="is not empty"):
        catalog.drop_database("d", False)


def test_a_registered_catalog_is_used_like_a_created_one(env: TableEnvironment) -> None:
    found = env.get_catalog("c")
    assert found is not None
    env.register_catalog("again", found)
    assert env.list_catalogs() == ["again", "c", "default_catalog"]
    with pytest.raises(CatalogError, match="Catalog again already exists"):
        env.register_catalog("again", found)


def test_the_module_core_is_unloaded_and_unused(env: TableEnvironment) -> None:
    assert (env.list_modules(), env.list_full_modules()) == (["core"], [ModuleEntry("core", True)])
    env.use_modules()
    assert (env.list_modules(), env.list_full_modules()) == ([], [ModuleEntry("core", False)])
    env.unload_module("core")
    assert env.list_full_modules() == []
    with pytest.raises(ValidationError, match="No module with name 'core' exists"):
        env.use_modules("core")


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.create_java_function("f", "org.example.F"),
        lambda env: HiveCatalog("hive"),
    ],
)
def test_what_needs_java_says_what_to_use_instead(
    env: TableEnvironment, call: Callable[[TableEnvironment], Any]
) -> None:
    with pytest.raises(UnsupportedError):
        call(env)


def test_files_of_python_are_settings(env: TableEnvironment) -> None:
    env.add_python_file("a.py")
    env.add_python_file("b.py")
    env.set_python_requirements("r.txt", "cache")
    env.add_python_archive("x.zip", "data")
    config = env.get_config()
    assert [config.get(f"python.{key}", "") for key in ("files", "requirements", "archives")] == [
        "b.py,a.py",
        "r.txt#cache",
        "x.zip#data",
    ]
