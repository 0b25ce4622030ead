"""Settings of tables have one declaration with type and default: no other module names their keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import scurry
from scurry.common._config.tables import EXCLUDED_RULES, TABLE_SETTINGS

PACKAGE = Path(scurry.__file__).parent
#: Where they are declared, and where a page says what each does.
DECLARING = {"common/_config/tables.py", "sql/statements/table_options.py"}
#: Modules that only set a value for a program, or look one up that means nothing here.
SETTING = {"table/environment_settings.py", "table/table_config.py", "testing/tables.py"}
KEYS = {setting.key for setting in (*TABLE_SETTINGS, EXCLUDED_RULES)}


def named() -> Iterator[str]:
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        text = file.read_text(encoding="utf-8")
        if name not in DECLARING | SETTING and ("table." in text or EXCLUDED_RULES.key in text):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Constant) and node.value in KEYS:
                    yield f"{name}:{node.lineno}: {node.value}"


def test_no_module_reads_a_setting_by_its_key() -> None:
    assert list(named()) == []


def test_the_default_of_a_setting_is_a_value_of_it() -> None:
    assert [setting.key for setting in TABLE_SETTINGS if setting.default and setting.of({}) is None] == []
