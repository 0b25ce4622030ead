"""The package's metadata, its changelog and its README agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from scurry import __version__

PROJECT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_newest_release_of_the_changelog_is_this_version() -> None:
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, *releases = re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    assert first == "Unreleased" or first == __version__
    assert releases[:1] in ([], [__version__]) or first == __version__


def test_the_version_is_written_once() -> None:
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/scurry/__init__.py"


def test_the_first_command_of_the_readme_installs_scurry() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (\S.*)$", readme, re.MULTILINE)
    assert commands[0].split("#")[0].strip() == "pip install ."  # a clone; until scurry is published


def test_the_second_command_of_the_readme_runs_a_program_of_the_clone() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    *options, program = re.findall(r"^    (\S.*)$", readme, re.MULTILINE)[1].split()
    assert options == ["scurry", "run", "--runner", "local", "-p", "1"]
    assert (PROJECT / program).exists()


def test_links_of_the_readme_work_outside_the_repository_too() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((.+?)\)", readme)
    source = PYPROJECT["project"]["urls"]["Source"]
    assert links
    for link in links:
        assert link.startswith(f"{source}/"), link
        inside = re.sub(r"^/(blob|tree|raw)/main/", "", link.removeprefix(source)).partition("#")[0]
        assert (PROJECT / inside).exists(), link


def test_users_install_no_tools_of_developers() -> None:
    assert "dev" not in PYPROJECT["project"]["optional-dependencies"]
    assert "dev" in PYPROJECT["dependency-groups"]
