"""The options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Group(StrEnum):
    """The groups of commands that `scurry --help` shows."""

    PROGRAMS = "Programs and statements"
    JOBS = "Running jobs"
    SERVERS = "Sessions and the SQL gateway"
    MACHINE = "This machine"


class Mode(StrEnum):
    """Flink's runtime modes."""

    STREAMING = "streaming"
    BATCH = "batch"
    AUTOMATIC = "automatic"


class Runner(StrEnum):
    """Engine that executes jobs."""

    SPARK = "spark"
    LOCAL = "local"


Master = Annotated[
    str | None,
    typer.Option(
        "--master", metavar="URL", help="Spark master, such as local[4] or spark://host:7077; this machine by default."
    ),
]
RunnerOption = Annotated[
    Runner | None,
    typer.Option(
        "--runner", case_sensitive=False, help="What executes jobs: Spark, the default, or the command's own process."
    ),
]
ModeOption = Annotated[
    Mode | None, typer.Option("--mode", case_sensitive=False, help="Runtime mode; streaming by default.")
]
Parallelism = Annotated[
    int | None,
    typer.Option(
        "--parallelism",
        "-p",
        min=1,
        help="Subtasks of operators that do not set their own; the number of processors by default.",
    ),
]


def parse_settings(texts: list[str] | None) -> dict[str, str]:
    """Return the settings of `-D key=value` options.

    Raises:
        typer.BadParameter: One has another form.
    """
    found = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(f"{text!r} is not of the form key=value")
        found[key.strip()] = value.strip()
    return found
