"""Define `scurry new`: projects to begin with."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from scurry.cli.options import Group

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

Directory = Annotated[
    Path | None, typer.Option("--directory", metavar="DIR", help="Where the project goes; ./NAME by default.")
]

new = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def add_to(app: typer.Typer) -> None:
    """Add the commands to the `scurry` command."""
    app.add_typer(new, name="new", help="Make a project to begin with.", rich_help_panel=Group.PROGRAMS)


@new.callback()
def _group() -> None:
    """Make a project to begin with."""


@new.command("connector")
def connector(
    name: Annotated[str, typer.Argument(help="What 'connector' = '...' of tables will name: words with dashes.")],
    directory: Directory = None,
) -> None:
    """Make the project of a connector: source, sink, lookup, table, tests that pass, entry point."""
    _require_words(name)
    from scurry.table.connectors import identifiers

    if name in identifiers():
        raise typer.BadParameter(f"there is a connector {name!r} already; choose another name")
    _make("connector", name, directory)


@new.command("job")
def job(
    name: Annotated[str, typer.Argument(help="The name of the job and its project: words with dashes.")],
    directory: Directory = None,
) -> None:
    """Make the project of a job: a program, tests that pass, an input, a Dockerfile, a workflow for GitHub."""
    _require_words(name)
    _make("job", name, directory)


def _require_words(name: str) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name.replace("-", "_")):
        raise typer.BadParameter(f"{name!r} is not lower-case words with dashes, such as my-queue")


def _make(kind: str, name: str, directory: Path | None) -> None:
    target = directory or Path(name)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise typer.BadParameter(f"{target} exists already; choose another --directory")
    prefix = "".join(word.capitalize() for word in name.split("-"))
    for file in write_project(kind, target, {"name": name, "package": name.replace("-", "_"), "prefix": prefix}):
        typer.echo(str(file))
    typer.echo(f"\ncd {target} && python -m pytest")


def write_project(kind: str, target: Path, names: dict[str, str]) -> list[Path]:
    """Write the files of a template, and return their paths.

    Args:
        names: Values of `$name` and the like in the files; directories called `package` get the name of the package.
    """
    written, root = [], _TEMPLATES / kind
    for source in sorted(root.rglob("*.tmpl")):
        parts = [names["package"] if part == "package" else part for part in source.relative_to(root).parts]
        path = target.joinpath(*parts).with_suffix("")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template(source.read_text(encoding="utf-8")).substitute(names), encoding="utf-8")
        written.append(path)
    return written
