"""docs/sql-connectors.md shows the options as they are declared."""

from __future__ import annotations

import pytest

from scurry.sql.connectors.factories import CONNECTORS
from scurry.sql.formats.registry import FORMATS
from support.docs.option_tables import PAGE, declared, with_tables


def test_tables_of_options_are_those_declared() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "| `scan.bounded.mode` | `unbounded` |" in page
    assert with_tables(page) == page, "run make pages"


@pytest.mark.parametrize("name", [*CONNECTORS, *FORMATS])
def test_sql_names_each_connector_and_format(name: str) -> None:
    assert f"`{name}`" in PAGE.with_name("sql.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "block", [*(f"connector {name}" for name in CONNECTORS), *(f"format {name}" for name in FORMATS)]
)
def test_a_connector_or_format_with_options_has_a_table(block: str) -> None:
    by_hand = block == "connector datagen"  # its options are named after columns
    assert by_hand or not declared(*block.split()) or f"<!-- options {block} -->" in PAGE.read_text(encoding="utf-8")
