"""The documentation site: built without a warning, read without another host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.docs.site_hooks import BOOSTS

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"


def pages_of(navigation: object) -> set[str]:
    if isinstance(navigation, str):
        return {navigation}
    below = navigation.values() if isinstance(navigation, dict) else navigation
    return set().union(*map(pages_of, below))  # type: ignore[call-overload]


def test_every_page_is_in_the_navigation_or_linked_from_another_one() -> None:
    reached = pages_of(yaml.safe_load((PROJECT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    files = {file.relative_to(DOCS): file.read_text(encoding="utf-8") for file in DOCS.rglob("*.md")}
    for file, text in files.items():
        for link in re.findall(r"\]\(([^)#:]+\.md)", text):
            reached.add(os.path.normpath(file.parent / link))
    assert {str(file) for file in files} - reached == set()


HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")


def sections(page: Path) -> set[str]:
    """The names by which the sections of a page are linked to, on the site and on GitHub."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    titles = HEADING.findall(text)
    return set(re.findall(r'<a id="([^"]+)">', text)) | {
        re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles
    }


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_links_lead_to_files_and_sections(page: Path) -> None:
    for path, section in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{path}"
        # what mkdocstrings generates has sections that the file does not show
        if section and linked.suffix == ".md" and linked.parent.name != "api":
            assert section in sections(linked), f"{path}#{section}"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=600)
    assert (built.returncode, built.stderr) == (0, "")
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 40
    loaded = r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["']?(?:https?:)?//[^"'> ]*"""
    assert {found for page in pages for found in re.findall(loaded, page.read_text(encoding="utf-8"))} == set()
    # The theme's script asks api.github.com where the header names a repository.
    assert not any('data-md-component="source"' in page.read_text(encoding="utf-8") for page in pages)
    for listed, part in (("llms.txt", "[Top-N and deduplication](sql/top-n.html)"), ("llms-full.txt", "ROW_NUMBER()")):
        assert part in (tmp_path / listed).read_text(encoding="utf-8")
    streams = (tmp_path / "reference" / "api" / "datastream.html").read_text(encoding="utf-8")
    assert 0 < streams.find("from_collection") < streams.find("register_slot_sharing_group")


@pytest.mark.parametrize(
    ("words", "page"), [("top-n", "sql/top-n.md"), ("window", "sql/windows.md"), ("tumble", "sql/windows.md")]
)
def test_the_search_ranks_the_guide_of_a_subject_first(words: str, page: str) -> None:
    """Hits in titles and text, as often as lunr counts them at most, times the weight of the page."""
    weighed = {}
    for each in DOCS.rglob("*.md"):
        name = str(each.relative_to(DOCS))
        text = each.read_text(encoding="utf-8").lower()
        boost = next((weight for begins, weight in BOOSTS.items() if name.startswith(begins)), 1.0)
        titles = " ".join(HEADING.findall(text))
        weighed[name] = boost * (10 * titles.count(words) + min(text.count(words), 5))
    best = max(weighed.values())
    assert page in {name for name, weight in weighed.items() if weight > best / 2}, weighed
