"""docs/sql-connectors.md shows the options as they are declared."""

from __future__ import annotations

from support.docs.option_tables import PAGE, with_tables


def test_tables_of_options_are_those_declared() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "| `scan.bounded.mode` | `unbounded` |" in page
    assert with_tables(page) == page, "run python tests/support/docs/option_tables.py"
