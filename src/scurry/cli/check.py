"""Define `scurry check`, which finds lines of programs that fail here, differ, or have a counterpart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scurry.cli.operate import Json, errors_shown, say
from scurry.cli.options import Group
from scurry.cli.output import print_json

if TYPE_CHECKING:
    from scurry.cli.checking.findings import Finding

_KINDS = (".py", ".sql")

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", exists=True, help="Programs (.py), SQL scripts (.sql), or directories of them."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to the `scurry` command."""
    app.command(rich_help_panel=Group.PROGRAMS)(check)


def check(paths: Paths, as_json: Json = False) -> None:
    """Read programs of PyFlink, Flink SQL or Spark, and list lines that fail here, differ or have a counterpart.

    The exit status is 1 if a line does not run.
    """
    from scurry.cli.checking.findings import Level

    files = list(_files(paths))
    found: list[Finding] = []
    with errors_shown():
        for file in files:
            found += _check(file)
    counts = Counter(each.level for each in found)
    if as_json:
        print_json([each._asdict() for each in found])
    else:
        for each in found:
            typer.echo(f"{each.path}:{each.line}:{each.column}: {each.level}: {each.text}")
        say(_summary(len(files), counts[Level.ERROR], counts[Level.NOTE], counts[Level.INSTEAD]))
    raise typer.Exit(1 if counts[Level.ERROR] else 0)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_file():
            yield path
        else:
            yield from (each for each in sorted(path.rglob("*")) if each.suffix in _KINDS and each.is_file())


def _check(file: Path) -> Iterable[Finding]:
    from scurry.cli.checking.programs import check_program
    from scurry.cli.checking.statements import check_script

    text = file.read_text(encoding="utf-8", errors="replace")
    return check_script(text, str(file)) if file.suffix == ".sql" else check_program(text, str(file))


def _summary(files: int, errors: int, notes: int, counterparts: int) -> str:
    said = [f"{files} file{'s' * (files != 1)}"]
    said += [f"{errors} line{'s' * (errors != 1)} that do{'es' * (errors == 1)} not run"] if errors else []
    said += [f"{notes} note{'s' * (notes != 1)}"] if notes else []
    said += [f"{counterparts} with a counterpart"] if counterparts else []
    return ", ".join(said if len(said) > 1 else [*said, "nothing found"])
