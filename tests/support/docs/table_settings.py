"""The table of settings in docs/sql-settings.md, from the declarations; run it to write it."""

from __future__ import annotations

import re
from pathlib import Path

from scurry.sql.statements.table_options import TABLE_OPTIONS

__all__ = ["PAGE", "with_settings"]

PAGE = Path(__file__).parents[3] / "docs" / "sql-settings.md"
_BLOCK = re.compile(r"(<!-- settings -->\n).*?(<!-- end -->)", re.DOTALL)


def with_settings(page: str) -> str:
    """Return the page with the settings as they are declared."""
    lines = ["", "| setting | default | effect |", "|---|---|---|"]
    for option in TABLE_OPTIONS:
        default = f"`{option.default}`" if option.default else ""
        lines.append(f"| `{option.key}` | {default} | {option.effect or 'none'} |")
    table = "\n".join(lines) + "\n\n"
    return _BLOCK.sub(lambda block: block[1] + table + block[2], page)


if __name__ == "__main__":
    PAGE.write_text(with_settings(PAGE.read_text()))
