"""No text that users of SQL and tables read has the name of a class of Java: a walk over all strings of the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import scurry

ROOT = Path(scurry.__file__).parent
PACKAGES = ("sql", "table")
JAVA = re.compile(
    r"org\.apache\.|\bjava\.\w+\.|\bclasspath\b|\bDynamicTable\w*|\bSupports[A-Z]\w+|\b(?!Table|Stream)[A-Z]\w+Exception\b"
)
#: Names that are no text for users, or whose spelling others read.
OTHER_USES = {
    "sql/formats/avro/schema.py": "the name of the record in the files that Flink writes",
    "sql/gateway/app.py": "the text of an error that clients of Flink read",
    "sql/types/special_types.py": "the text of a type",
}


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings of a file that are no docstrings, with their lines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


def test_no_text_names_a_class_of_java() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text[:100]}"
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
        if str(file.relative_to(ROOT)) not in OTHER_USES
        if JAVA.search(file.read_text(encoding="utf-8"))
        for line, text in texts(file)
        if JAVA.search(text)
    ]
    assert not found, "\n".join(found)
