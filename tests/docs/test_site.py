"""The documentation site: built without a warning, read without another host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page

from support.audits import problems_of
from support.browser import chromium
from support.docs.serving import served
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


#: As `support.docs.examples` finds them in the programs of examples/reference.
EXAMPLE = {
    "scurry.datastream.stream_execution_environment.StreamExecutionEnvironment.from_collection": (
        "one.py",
        "env.from_collection(['the example of this test'])",
    )
}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning, with one example: `test_reference_examples` traces the programs."""
    directory = tmp_path_factory.mktemp("site")
    traced = tmp_path_factory.mktemp("traced") / "examples.json"
    traced.write_text(json.dumps(EXAMPLE))
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(directory)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SCURRY_TRACED_EXAMPLES": str(traced)}
    built = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=1800)
    assert (built.returncode, built.stderr) == (0, "")
    return directory


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_other_hosts(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    loaded = r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["']?(?:https?:)?//[^"'> ]*"""
    assert {found for page in pages for found in re.findall(loaded, page.read_text(encoding="utf-8"))} == set()
    # The theme's script asks api.github.com where the header names a repository.
    assert not any('data-md-component="source"' in page.read_text(encoding="utf-8") for page in pages)
    for listed, part in (("llms.txt", "[Top-N and deduplication](sql/top-n.html)"), ("llms-full.txt", "ROW_NUMBER()")):
        assert part in (site / listed).read_text(encoding="utf-8")
    streams = (site / "reference" / "api" / "datastream.html").read_text(encoding="utf-8")
    assert "the example of this test" in streams
    assert 0 < streams.find("from_collection") < streams.find("register_slot_sharing_group")


@pytest.mark.slow
def test_pages_pass_the_audits_in_a_browser(site: Path) -> None:
    """The front page, a guide and a reference: at a desk and on a phone, light and dark."""
    wrong: dict[str, list[str]] = {}
    with served(site) as address, chromium() as browser:
        for path in ("index", "sql/windows", "reference/api/datastream", "reference/configuration"):
            page, problems = browser.new_page(), wrong.setdefault(path, [])
            listen(page, address, problems)
            for width, scheme in ((1100, "light"), (390, "light"), (390, "dark")):
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                page.set_viewport_size({"width": width, "height": 800})
                page.goto(f"{address}/{path}.html")
                problems += problems_of(page)
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    problems.append(f"sideways scrolling at {width}")
            page.close()
    assert {path: found for path, found in wrong.items() if found} == {}


def listen(page: Page, address: str, problems: list[str]) -> None:
    """Note errors of scripts and requests to other hosts."""
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("request", lambda asked: problems.append(asked.url) if address not in asked.url else None)


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
