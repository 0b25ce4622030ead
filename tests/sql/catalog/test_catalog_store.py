"""The file-backed catalog store: catalogs of one session are there in the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.common.configuration import Configuration
from scurry.errors import CatalogError
from scurry.sql.catalog.store import CatalogDescription, FileCatalogStore
from scurry.table import TableEnvironment


def session(directory: Path) -> TableEnvironment:
    settings = {"table.catalog-store.kind": "file", "table.catalog-store.file.path": str(directory)}
    return TableEnvironment.create(Configuration.from_dict(settings))


def test_a_catalog_is_there_in_the_next_session(tmp_path: Path) -> None:
    session(tmp_path).execute_sql("CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'default-database' = 'd')")
    later = session(tmp_path)
    assert later.list_catalogs() == ["c", "default_catalog"]
    later.use_catalog("c")
    assert later.get_current_database() == "d"


def test_a_dropped_catalog_is_gone(tmp_path: Path) -> None:
    first = session(tmp_path)
    first.execute_sql("CREATE CATALOG c WITH ('type' = 'generic_in_memory')")
    first.execute_sql("DROP CATALOG c")
    assert session(tmp_path).list_catalogs() == ["default_catalog"]


def test_options_and_comment_survive(tmp_path: Path) -> None:
    description = CatalogDescription({"type": "generic_in_memory", "odd key": 'a "quoted": value\nand more'}, "mine")
    FileCatalogStore(str(tmp_path)).store_catalog("c", description)
    assert FileCatalogStore(str(tmp_path)).get_catalog("c") == description


def test_a_file_of_flink_is_read(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text('---\ntype: "generic_in_memory"\ndefault-database: start\n')
    found = FileCatalogStore(str(tmp_path)).get_catalog("c")
    assert found == CatalogDescription({"type": "generic_in_memory", "default-database": "start"})


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("type: x\nno colon\n")
    with pytest.raises(CatalogError, match=r"c\.yaml:2: expected `key: value`"):
        FileCatalogStore(str(tmp_path)).get_catalog("c")


def test_names_that_are_no_file_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="has to be a file name"):
        FileCatalogStore(str(tmp_path)).store_catalog("../c", CatalogDescription())
