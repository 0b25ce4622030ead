"""The options of `scurry run` for Python code and packages, named as in `flink run`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scurry.errors import InterpreterError
from scurry.graph.dependencies import check_interpreter, is_this_interpreter

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
