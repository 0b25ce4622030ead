"""docs/sql-connectors.md shows the options as they are declared."""

from __future__ import annotations

import pytest

from scurry.sql.connectors.factories import CONNECTORS
from scurry.sql.formats.registry import FORMATS
from support.docs.option_tables import PAGE, with_tables


def test_tables_of_options_are_those_declared() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "| `scan.bounded.mode` | `unbounded` |" in page
    assert with_tables(page) == page, "run python tests/support/docs/option_tables.py"


@pytest.mark.parametrize("name", [*CONNECTORS, *FORMATS])
def test_sql_names_each_connector_and_format(name: str) -> None:
    assert f"`{name}`" in PAGE.with_name("sql.md").read_text(encoding="utf-8")
