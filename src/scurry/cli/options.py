"""The options that several commands have."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer

from scurry.errors import ConfigError
from scurry.errors.suggestions import similar_name

E = TypeVar("E", bound=StrEnum)


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


def one_of(values: type[E], flag: str, help: str) -> Any:
    """Return an option whose value is one of an enumeration's, in upper or lower case."""
    names = [each.value for each in values]

    def parse(text: str) -> E:
        if text.lower() in names:
            return values(text.lower())
        close = similar_name(text, names)
        meant = f"; did you mean {close!r}?" if close is not None else ""
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, names))}{meant}")

    return typer.Option(flag, parser=parse, metavar="|".join(names), autocompletion=lambda: names, help=help)


def whole_number(least: int, most: int | None = None) -> Callable[[Any], int]:
    """Return a parser for options of whole numbers within limits."""
    limits = f"from {least} to {most}" if most is not None else f"of {least} or more"

    def parse(text: Any) -> int:
        if re.fullmatch(r"\d+", str(text)) and least <= int(text) and (most is None or int(text) <= most):
            return int(text)
        raise typer.BadParameter(f"{str(text)!r} is not a whole number {limits}")

    return parse


def _master(text: str) -> str:
    from scurry.common._config.spark_master import check_master

    try:
        check_master(text)
    except ConfigError as error:
        raise typer.BadParameter(str(error).removeprefix("spark.master = ")) from None
    return text


Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        parser=_master,
        metavar="URL",
        help="Spark master, such as local[4] or spark://host:7077; this machine by default.",
    ),
]
RunnerOption = Annotated[
    Runner | None, one_of(Runner, "--runner", "What executes jobs: Spark, the default, or the command's own process.")
]
ModeOption = Annotated[Mode | None, one_of(Mode, "--mode", "Runtime mode; streaming by default.")]
Parallelism = Annotated[
    int | None,
    typer.Option(
        "--parallelism",
        "-p",
        parser=whole_number(1),
        metavar="N",
        help="Subtasks of operators that do not set their own; the number of processors by default.",
    ),
]


def parse_settings(texts: list[str] | None) -> dict[str, str]:
    """Return the settings of `-D key=value` options.

    Raises:
        typer.BadParameter: One has another form, a key that is misspelt, or a value that cannot be used.
    """
    from scurry.common._config.validation import validate

    found = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(f"{text!r} is not of the form key=value")
        found[key.strip()] = value.strip()
    try:
        with warnings.catch_warnings(action="ignore"):  # the environment that gets them warns
            validate(found)
    except ConfigError as error:
        raise typer.BadParameter(str(error), param_hint="'-D'") from None
    return found
