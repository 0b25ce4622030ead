"""The blocks of code of docs/ and README.md, and the commands in them."""

from __future__ import annotations

import re
import shlex

from support import TESTS

__all__ = ["FENCED", "PAGES", "commands", "words_of"]

_DOCS = TESTS.parent / "docs"
PAGES = {str(page.relative_to(_DOCS)): page.read_text(encoding="utf-8") for page in sorted(_DOCS.rglob("*.md"))}
PAGES["README.md"] = (TESTS.parent / "README.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)

_COMMAND = re.compile(r"^(?: {4}|\$ )?((\w+)(?: -m)? (?:[^\n\\]|\\\n|\\.)*)$", re.MULTILINE)


def commands(*programs: str) -> list[tuple[str, str]]:
    """Return page and text of each command of some programs."""
    found = []
    for page, text in PAGES.items():
        shells = [block for language, block in FENCED.findall(text) if language in ("", "sh", "bash")]
        indented = re.findall(r"^ {4}.*(?:\n {4}.*)*", FENCED.sub("", text), re.MULTILINE)
        for block in (*shells, *indented):
            found += [(page, command) for command, program in _COMMAND.findall(block) if program in programs]
    return found


def words_of(command: str) -> list[str]:
    """Return the words of a command; the last one that starts it in the background is left out."""
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    return words[:-1] if words[-1] == "&" else words
