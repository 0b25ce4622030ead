"""Partitions and statistics that catalogs keep; answers and messages are those of PyFlink 2.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scurry.common._pyflink.util.exceptions import (
    PartitionAlreadyExistsException,
    PartitionNotExistException,
    PartitionSpecInvalidException,
    TableNotExistException,
    TableNotPartitionedException,
)
from scurry.errors import UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.table.catalog import (
    Catalog,
    CatalogColumnStatistics,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    ObjectPath,
)

PARTED, PLAIN, MISSING = (ObjectPath("default_database", name) for name in ("parted", "plain", "missing"))
X1, X2 = CatalogPartitionSpec({"p": "x", "q": "1"}), CatalogPartitionSpec({"q": "2", "p": "x"})
PARTITION = CatalogPartition.create_instance({"k": "v"}, "why")


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.execute_sql(
        "CREATE TABLE parted (a INT, p STRING, q INT) PARTITIONED BY (p, q) WITH ('connector' = 'datagen')"
    )
    made.execute_sql("CREATE TABLE plain (a INT) WITH ('connector' = 'datagen')")
    return made


@pytest.fixture
def catalog(env: TableEnvironment) -> Catalog:
    found = env.get_catalog("default_catalog")
    assert found is not None
    found.create_partition(PARTED, X1, PARTITION, False)
    return found


def listed(catalog: Catalog, *of: CatalogPartitionSpec) -> list[str]:
    return [str(each) for each in catalog.list_partitions(PARTED, *of)]


def shown(env: TableEnvironment, statement: str) -> list[str]:
    with env.execute_sql(statement).collect() as rows:
        return [row[0] for row in rows]


def sizes(statistics: CatalogTableStatistics) -> tuple[int, int, int, int]:
    return (
        statistics.get_row_count(),
        statistics.get_field_count(),
        statistics.get_total_size(),
        statistics.get_raw_data_size(),
    )


def test_partitions_are_listed_in_the_order_of_the_partition_columns(catalog: Catalog) -> None:
    catalog.create_partition(PARTED, X2, PARTITION, False)
    assert listed(catalog) == ["CatalogPartitionSpec{{p=x, q=1}}", "CatalogPartitionSpec{{p=x, q=2}}"]


def test_partitions_are_listed_by_some_of_their_values(catalog: Catalog) -> None:
    catalog.create_partition(PARTED, X2, PARTITION, False)
    assert listed(catalog, CatalogPartitionSpec({"q": "2"})) == ["CatalogPartitionSpec{{p=x, q=2}}"]
    assert listed(catalog, CatalogPartitionSpec({"z": "1"})) == []


def test_a_partition_has_properties_and_a_comment(catalog: Catalog) -> None:
    found = catalog.get_partition(PARTED, X1).copy()
    assert (found.get_properties(), found.get_comment()) == ({"k": "v"}, "why")


def test_an_altered_partition_has_the_new_properties(catalog: Catalog) -> None:
    catalog.alter_partition(PARTED, X1, CatalogPartition.create_instance({"n": "w"}), False)
    assert catalog.get_partition(PARTED, X1).get_properties() == {"n": "w"}


def test_a_dropped_partition_does_not_exist(catalog: Catalog) -> None:
    assert catalog.partition_exists(PARTED, X1)
    catalog.drop_partition(PARTED, X1, False)
    assert not catalog.partition_exists(PARTED, X1)


def test_what_may_be_missing_or_there_is_ignored(catalog: Catalog) -> None:
    catalog.create_partition(PARTED, X1, CatalogPartition.create_instance({}), True)
    catalog.drop_partition(PARTED, X2, True)
    catalog.alter_partition(PARTED, X2, PARTITION, True)
    catalog.alter_table_statistics(MISSING, CatalogTableStatistics(1, 1, 1, 1), True)
    assert catalog.get_partition(PARTED, X1).get_properties() == {"k": "v"} and len(listed(catalog)) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda c: c.create_partition(PARTED, X1, PARTITION, False),
            PartitionAlreadyExistsException,
            r"Partition CatalogPartitionSpec\{\{p=x, q=1\}\} of table default_database\.parted in catalog "
            r"default_catalog already exists\.",
        ),
        (
            lambda c: c.create_partition(PARTED, CatalogPartitionSpec({"p": "x"}), PARTITION, False),
            PartitionSpecInvalidException,
            r"PartitionSpec CatalogPartitionSpec\{\{p=x\}\} does not match partition keys \[p, q\] of table "
            r"default_database\.parted in catalog default_catalog\.",
        ),
        (
            lambda c: c.create_partition(PLAIN, X1, PARTITION, False),
            TableNotPartitionedException,
            r"Table default_database\.plain in catalog default_catalog is not partitioned\.",
        ),
        (lambda c: c.list_partitions(PLAIN), TableNotPartitionedException, "is not partitioned"),
        (lambda c: c.list_partitions(MISSING), TableNotExistException, "does not exist in Catalog default_catalog"),
        (lambda c: c.get_partition(PARTED, X2), PartitionNotExistException, r"\{\{q=2, p=x\}\} of table .* not exist"),
        (lambda c: c.drop_partition(MISSING, X1, False), PartitionNotExistException, "does not exist"),
        (lambda c: c.get_table_statistics(MISSING), TableNotExistException, "does not exist"),
        (lambda c: c.get_partition_statistics(PLAIN, X1), PartitionNotExistException, "does not exist"),
    ],
)
def test_what_is_wrong_is_said_in_flinks_words(
    catalog: Catalog, call: Callable[[Catalog], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(catalog)


def test_a_renamed_table_keeps_its_partitions_and_a_dropped_one_does_not(catalog: Catalog) -> None:
    catalog.rename_table(PARTED, "other", False)
    other = ObjectPath("default_database", "other")
    assert len(catalog.list_partitions(other)) == 1
    catalog.drop_table(other, False)
    assert not catalog.partition_exists(other, X1)


def test_partitions_are_added_shown_and_dropped_by_statements(env: TableEnvironment, catalog: Catalog) -> None:
    env.execute_sql("ALTER TABLE parted ADD PARTITION (p = 'y', q = 3) WITH ('a' = 'b')")
    env.execute_sql("ALTER TABLE parted ADD IF NOT EXISTS PARTITION (p = 'y', q = 3) PARTITION (p = 'y', q = 4)")
    assert shown(env, "SHOW PARTITIONS parted") == ["p=x/q=1", "p=y/q=3", "p=y/q=4"]
    assert shown(env, "SHOW PARTITIONS parted PARTITION (p = 'y')") == ["p=y/q=3", "p=y/q=4"]
    assert catalog.get_partition(PARTED, CatalogPartitionSpec({"p": "y", "q": "3"})).get_properties() == {"a": "b"}
    env.execute_sql("ALTER TABLE parted DROP PARTITION (p = 'y', q = 3)")
    env.execute_sql("ALTER TABLE parted DROP IF EXISTS PARTITION (p = 'y', q = 3)")
    assert shown(env, "SHOW PARTITIONS parted") == ["p=x/q=1", "p=y/q=4"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("ALTER TABLE parted ADD PARTITION (p = 'x', q = 1)", r"default_database\.parted ADD PARTITION \(p=x, q=1\)"),
        ("ALTER TABLE parted ADD PARTITION (p = 'y')", r"ADD PARTITION \(p=y\)\n.*does not match partition keys"),
        ("ALTER TABLE parted DROP PARTITION (p = 'y', q = 1)", r"DROP PARTITION \(p=y, q=1\)\n.*does not exist"),
        ("ALTER TABLE plain ADD PARTITION (p = 'y')", r"Could not execute ALTER TABLE .*\n.*is not partitioned"),
    ],
)
def test_statements_say_what_is_wrong_with_a_partition(
    env: TableEnvironment, catalog: Catalog, statement: str, message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        env.execute_sql(statement)


def test_sizes_that_nobody_said_are_unknown(catalog: Catalog) -> None:
    assert sizes(catalog.get_table_statistics(PLAIN)) == (-1, -1, -1, -1)
    assert sizes(catalog.get_partition_statistics(PARTED, X1)) == (-1, -1, -1, -1)


def test_sizes_of_tables_and_partitions_are_kept(catalog: Catalog) -> None:
    catalog.alter_table_statistics(PLAIN, CatalogTableStatistics(10, 2, 100, 200, {"a": "b"}), False)
    catalog.alter_partition_statistics(PARTED, X1, CatalogTableStatistics(1, 2, 3, 4), False)
    found = catalog.get_table_statistics(PLAIN).copy()
    assert (sizes(found), found.get_properties()) == ((10, 2, 100, 200), {"a": "b"})
    assert [sizes(each) for each in catalog.bulk_get_partition_statistics(PARTED, [X1])] == [(1, 2, 3, 4)]


def test_what_is_known_of_columns_is_kept(catalog: Catalog) -> None:
    known = CatalogColumnStatistics({"a": "few"}, {"z": "1"})
    catalog.alter_table_column_statistics(PLAIN, known, False)
    catalog.alter_partition_column_statistics(PARTED, X1, known, False)
    of_partition = catalog.bulk_get_partition_column_statistics(PARTED, [X1])
    for found in (catalog.get_table_column_statistics(PLAIN).copy(), *of_partition):
        assert (found.get_column_statistics_data(), found.get_properties()) == ({"a": "few"}, {"z": "1"})


def test_a_catalog_that_keeps_no_partitions_refuses_them() -> None:
    from scurry.sql.catalog.partitions import CatalogPartition as Partition
    from scurry.sql.catalog.partitions import PartitionedCatalog

    class Foreign(PartitionedCatalog):
        name = "foreign"

        def _partition_keys(self, database: str, table: str) -> tuple[str, ...]:
            return ("p",)

    assert Foreign().list_partitions("d", "t") == []
    assert Foreign().statistics("d", "t").row_count == -1
    with pytest.raises(UnsupportedError, match="the catalog foreign keeps no partitions"):
        Foreign().create_partition("d", "t", {"p": "1"}, Partition())
