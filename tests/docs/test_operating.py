"""What there is to operate jobs with, is in the documentation: screens with pictures, metrics, commands, paths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from scurry.cli.commands import app
from scurry.rest.page import page_files
from support.docs.reference import pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: A metric where it is counted or reported: names in quotation marks that begin as Flink's do.
METRIC = re.compile(r'"((?:num|pending|backPressured|current|lastCheckpoint)[A-Z]\w+)"')
#: Those of Flink that only answers to its dashboard have, always without a value.
OF_THE_DASHBOARD = {"currentInputWatermark", "numberOfChildren"}


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def screens() -> list[str]:
    """The titles of the tabs of a job, and of the other screens."""
    tabs = re.findall(r'^  \["\w*", "(\w+)",', page_files()["/page/job.js"].content.decode(), re.MULTILINE)
    assert len(tabs) >= 7
    return [*tabs, "Jobs", "Endpoint", "Token"]


@pytest.mark.parametrize("screen", screens())
def test_a_screen_of_the_page_is_described_with_a_picture(screen: str) -> None:
    section = re.search(rf"^## {screen}\n(.*?)(?=^## |\Z)", text_of("web-page.md"), re.MULTILINE | re.DOTALL)
    assert section is not None, f"docs/web-page.md has no section {screen!r}"
    pictures = re.findall(r"!\[[^\]]+\]\((pictures/[^)]+)\)", section[1])
    assert pictures, f"section {screen!r} of docs/web-page.md has no picture: tests/web/pictures.py makes them"
    for picture in pictures:
        assert (DOCS / picture).read_bytes().startswith(b"\x89PNG")


def metrics() -> set[str]:
    """The metrics that are counted anywhere in the runtime and reported by endpoints."""
    sources = [*(ROOT / "src/scurry/runtime").rglob("*.py"), *(ROOT / "src/scurry/rest").rglob("*.py")]
    found = {name for source in sources for name in METRIC.findall(source.read_text(encoding="utf-8"))}
    return found - OF_THE_DASHBOARD


@pytest.mark.parametrize("name", sorted(metrics()))
def test_a_metric_is_described(name: str) -> None:
    assert f"`{name}`" in text_of("reference/metrics.md")


def commands(name: str, command: object) -> list[str]:
    below = getattr(command, "commands", None)
    return [name] if below is None else [one for key, each in below.items() for one in commands(f"{name} {key}", each)]


@pytest.mark.parametrize("name", commands("scurry", typer.main.get_command(app)))
def test_a_command_is_shown_where_it_is_explained(name: str) -> None:
    name = name.removesuffix(" trigger")  # what `scurry savepoint` does by itself
    explained = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert re.search(rf"(?m)^ *(?:\$ )?{name}\b", explained), f"no page of docs/ shows how {name} is called"


def test_all_paths_are_listed() -> None:
    listed = set(re.findall(r"^\| `([A-Z]+ /\S+)`", pages()["http.md"], re.MULTILINE))
    assert {"GET /metrics", "GET /jobs/{jobid}/exceptions", "POST /jars/{jarid}/run", "POST /v4/sessions"} <= listed
