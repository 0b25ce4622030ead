"""The options that several commands have."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from scurry.cli.direct import read_settings
from scurry.errors import ConfigError, InterpreterError
from scurry.errors.suggestions import similar_name
from scurry.graph.dependencies import check_interpreter, is_this_interpreter

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
    from scurry.common._config.validation import check_master

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
    try:
        return read_settings(texts or [])
    except ConfigError as error:
        raise typer.BadParameter(str(error), param_hint="'-D'") from None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Program = Annotated[
    Path | None,
    typer.Argument(help="The Python program, a PyFlink program too.", show_default=False),
]
File = Annotated[
    Path | None, typer.Option("--python", "-py", metavar="PROGRAM", help="The program, instead of the argument.")
]
Module = Annotated[
    str | None, typer.Option("--pyModule", "-pym", metavar="MODULE", help="Run a module as the program.")
]
Files = Annotated[
    str | None,
    typer.Option("--pyFiles", "-pyfs", metavar="PATHS", help="Code for program and workers (python.files)."),
]
Archives = Annotated[
    str | None,
    typer.Option("--pyArchives", "-pyarch", metavar="PATHS", help="Archives for workers (python.archives)."),
]
Requirements = Annotated[
    str | None,
    typer.Option("--pyRequirements", "-pyreq", metavar="FILE[#DIR]", help="Packages of workers (python.requirements)."),
]
Executable = Annotated[
    str | None, typer.Option("--pyExecutable", "-pyexec", metavar="PYTHON", help="Python of workers.")
]
ClientExecutable = Annotated[
    str | None,
    typer.Option("--pyClientExecutable", "-pyclientexec", metavar="PYTHON", help="Python that runs the program."),
]
PythonPath = Annotated[
    str | None,
    typer.Option("--pyPythonPath", "-pypath", metavar="DIRS", help="Directories on workers (python.pythonpath)."),
]

#: Environment variable that is set once another interpreter runs the program.
_TAKEN_OVER = "SCURRY_CLIENT_EXECUTABLE"


def configuration(
    files: str | None,
    archives: str | None,
    requirements: str | None,
    executable: str | None,
    client_executable: str | None,
    python_path: str | None,
) -> dict[str, str]:
    """Return the configuration that the options stand for."""
    values = {
        "python.files": files,
        "python.archives": archives,
        "python.requirements": requirements,
        "python.executable": executable,
        "python.client.executable": client_executable,
        "python.pythonpath": python_path,
    }
    return {key: value for key, value in values.items() if value is not None}


def use_client_executable(configuration: dict[str, str]) -> None:
    """Drop `python.client.executable` and, if it names another interpreter, continue in that one."""
    wanted = configuration.pop("python.client.executable", None)
    if wanted is None or is_this_interpreter(wanted) or os.environ.get(_TAKEN_OVER) == wanted:
        return
    try:
        path = check_interpreter(wanted, "python.client.executable", client=True)
    except InterpreterError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    os.environ[_TAKEN_OVER] = wanted
    sys.stdout.flush()
    os.execv(path, [path, "-m", "scurry", *sys.argv[1:]])


def program_of(
    program: Path | None, file: Path | None, module: str | None, arguments: Sequence[str]
) -> tuple[Path | str, list[str]]:
    """Return the program, a file or the name of a module, and its arguments.

    Raises:
        typer.BadParameter: The file does not exist, or no program or more than one is given.
    """
    if file is not None and module is not None:
        raise typer.BadParameter("name a file or a module, not both", param_hint="'--python' / '--pyModule'")
    if file is None and module is None:
        if program is None:
            raise typer.BadParameter("Missing argument 'PROGRAM'.")
        file = program
    elif program is not None:
        arguments = [str(program), *arguments]
    if module is not None:
        return module, list(arguments)
    assert file is not None
    if not file.is_file():
        what = "is a directory" if file.is_dir() else "does not exist"
        raise typer.BadParameter(f"File '{file}' {what}.", param_hint="'PROGRAM'")
    return file, list(arguments)
