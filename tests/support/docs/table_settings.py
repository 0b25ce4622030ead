"""The table of settings in docs/sql-settings.md, from the declarations; run it to write it."""

from __future__ import annotations

import re
from pathlib import Path

from scurry.common._config.tables import TABLE_SETTINGS
from scurry.sql.statements.table_options import effect_of

__all__ = ["PAGE", "with_settings"]

PAGE = Path(__file__).parents[3] / "docs" / "sql-settings.md"
_BLOCK = re.compile(r"(<!-- settings -->\n).*?(<!-- end -->)", re.DOTALL)


def with_settings(page: str) -> str:
    """Return the page with the settings as they are declared."""
    lines = ["", "| setting | default | effect |", "|---|---|---|"]
    for option in TABLE_SETTINGS:
        default = f"`{option.default}`" if option.default else ""
        lines.append(f"| `{option.key}` | {default} | {effect_of(option) or 'none'} |")
    table = "\n".join(lines) + "\n\n"
    return _BLOCK.sub(lambda block: block[1] + table + block[2], page)


if __name__ == "__main__":
    PAGE.write_text(with_settings(PAGE.read_text()))
