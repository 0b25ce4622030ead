"""Catalogs, databases, tables and views by the methods of TableEnvironment; the answers are those of PyFlink 2.3."""

from __future__ import annotations

import pytest

from scurry.errors import CatalogError, ValidationError
from scurry.table import EnvironmentSettings, Schema, TableDescriptor, TableEnvironment

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


def test_functions_are_listed_and_only_those_of_users_can_be_dropped(env: TableEnvironment) -> None:
    assert "upper" in env.list_functions() and env.list_user_defined_functions() == []
    assert not env.drop_function("md5") and not env.drop_temporary_function("md5")
    assert not env.drop_temporary_system_function("md5")
