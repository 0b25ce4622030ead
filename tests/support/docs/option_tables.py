"""The tables of options in docs/sql-connectors.md, from the declarations; `make pages` writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.catalog.table_options import TableOption
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.factories import find_factory
from scurry.sql.connectors.watermark_options import WATERMARK_OPTIONS
from scurry.sql.formats.registry import find_format

PAGE = Path(__file__).parents[3] / "docs" / "sql-connectors.md"
_BLOCK = re.compile(r"(<!-- options (connector|format|of) (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(page: str) -> str:
    """Return the page with tables as they are declared."""
    return _BLOCK.sub(lambda block: block[1] + _table(declared(block[2], block[3])) + block[4], page)


def declared(kind: str, identifier: str) -> Sequence[TableOption[Any]]:
    """Return the options of a connector, of a format, or those `of` a subject."""
    if kind == "of":
        return WATERMARK_OPTIONS
    if kind == "format":
        found = find_format(identifier)
        return list({option.key: option for option in (*found.options, *found.file_options)}.values())
    table = CatalogTable(ResolvedSchema([]), None, {"connector": identifier})
    return find_factory(identifier).options(TableContext(ObjectIdentifier("c", "d", "t"), table, table.options))


def _table(options: Sequence[TableOption[Any]]) -> str:
    lines = ["", "| option | default | meaning |", "|---|---|---|"]
    for option in sorted(options, key=lambda option: (not option.required, option.key)):
        lines.append(f"| `{option.key}` | {_default(option)} | {_meaning(option)} |")
    return "\n".join([*lines, "", ""])


def _meaning(option: TableOption[Any]) -> str:
    return f"Without effect. {option.description}" if option.without_effect else option.description


def _default(option: TableOption[Any]) -> str:
    if option.required:
        return "required"
    if option.default is None:
        return ""
    shown = str(option.default).lower() if isinstance(option.default, bool) else str(option.default)
    return f"`{shown}`" if shown else ""


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
