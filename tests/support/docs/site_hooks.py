"""Hooks of mkdocs: guides come first in the search, and the site has `llms.txt` and `llms-full.txt`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

__all__ = ["on_page_markdown", "on_post_build"]

#: Beginning of a page's path -> by how much its hits in the search weigh more than others.
BOOSTS = {
    "sql/": 4.0,
    "quickstart": 3.0,
    "semantics": 3.0,
    "tutorials/": 2.0,
    "how-to/": 2.0,
    "reference/": 0.5,
    "design/": 0.2,
}
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_read: dict[str, str] = {}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> None:
    """Weigh a page for the search, and keep its text."""
    path = page.file.src_uri
    _read[path] = markdown
    boost = next((weight for begins, weight in BOOSTS.items() if path.startswith(begins)), 1.0)
    page.meta.setdefault("search", {})["boost"] = boost


def on_post_build(config: Any, **_: Any) -> None:
    """Write the list of all pages, and the text of all, for language models."""
    listed, full = llms(_read, config["site_name"], config["site_description"])
    Path(config["site_dir"], "llms.txt").write_text(listed, encoding="utf-8")
    Path(config["site_dir"], "llms-full.txt").write_text(full, encoding="utf-8")


def llms(pages: dict[str, str], name: str, description: str) -> tuple[str, str]:
    """Return the texts of `llms.txt` and `llms-full.txt`.

    Args:
        pages: Path in docs/ and text of each page.
        name: Name of the site.
        description: What it is, in a sentence.
    """
    titles = {path: (_TITLE.search(text) or [path, path])[1] for path, text in pages.items()}
    head = f"# {name}\n\n> {description}\n"
    links = [f"- [{title}]({path.removesuffix('.md')}.html)" for path, title in titles.items()]
    texts = [f"\n<!-- {path} -->\n\n{text.strip()}\n" for path, text in pages.items()]
    return "\n".join([head, *links, ""]), "".join([head, *texts])
