"""Define `scurry log`, which shows a log of messages in a directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scurry.cli.options import Group
from scurry.cli.output import print_table

Directory = Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="The directory.")]


def add_to(app: typer.Typer) -> None:
    """Add the command to the `scurry` command."""
    app.command(name="log", rich_help_panel=Group.MACHINE)(log)


def log(
    directory: Directory,
    topic: Annotated[str | None, typer.Argument(help="Print the last records of this topic.")] = None,
    count: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many records of each partition.")] = 10,
) -> None:
    """List the topics of a log in a directory, or print the last records of one."""
    from scurry.connectors.log.directory import LogDirectory
    from scurry.connectors.log.topics import read_records

    found = LogDirectory(str(directory))
    if topic is None:
        rows = [
            [name, str(number), str(start), str(end)]
            for name in sorted(found.topics())
            for number, (start, end) in enumerate(found.offsets(name))
        ]
        print_table(["TOPIC", "PARTITION", "FIRST", "END"], rows)
        return
    if topic not in found.topics():
        raise typer.BadParameter(f"there is no topic {topic!r} at {found.path}")
    for record in read_records(found.path, topic, count):
        key = "" if record.key is None else f"{record.key.decode('utf-8', 'replace')}\t"
        value = "" if record.value is None else record.value.decode("utf-8", "replace")
        typer.echo(f"{record.partition}:{record.offset}\t{key}{value}")
