"""Define the commands and their options; the modules next to this one implement them."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from scurry import __version__
from scurry.cli import check, doctor, log, new, operate, replay, sessions, sql
from scurry.cli import options as python
from scurry.cli.options import Group, Master, ModeOption, Parallelism, RunnerOption, parse_settings
from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from scurry.common._pyflink.version import __version__ as pyflink_version

Program = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The Python program, a PyFlink program too.")
]
Arguments = Annotated[list[str] | None, typer.Argument(help="Handed to the program as sys.argv[1:].")]
Settings = Annotated[
    list[str] | None,
    typer.Option("-D", metavar="KEY=VALUE", help="A configuration value; may be given many times."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show errors with scurry's own part of the traceback.")]

app = typer.Typer(
    name="scurry",
    help="Run Apache Flink's programming model for Python on Apache Spark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# All arguments after PROGRAM belong to the program, even if they look like options of scurry.
_OWN_OPTIONS_FIRST = {"allow_interspersed_args": False}


@app.command(context_settings=_OWN_OPTIONS_FIRST, rich_help_panel=Group.PROGRAMS)
def run(
    program: python.Program = None,
    arguments: Arguments = None,
    master: Master = None,
    settings: Settings = None,
    parallelism: Parallelism = None,
    mode: ModeOption = None,
    runner: RunnerOption = None,
    savepoint: Annotated[
        str | None, typer.Option("--from-savepoint", "-s", metavar="DIR", help="Start with the state of a savepoint.")
    ] = None,
    allow_non_restored: Annotated[
        bool,
        typer.Option("--allow-non-restored-state", "-n", help="Drop state of the savepoint that no operator takes."),
    ] = False,
    final_savepoint: Annotated[
        str | None,
        typer.Option("--final-savepoint", metavar="DIR", help="BATCH: keep the state at the end as a savepoint there."),
    ] = None,
    file: python.File = None,
    module: python.Module = None,
    files: python.Files = None,
    archives: python.Archives = None,
    requirements: python.Requirements = None,
    executable: python.Executable = None,
    client_executable: python.ClientExecutable = None,
    python_path: python.PythonPath = None,
    session: Annotated[
        str | None, typer.Option(metavar="NAME", help="Run it in a session: its name or URL (scurry session start).")
    ] = None,
    detached: Annotated[
        bool, typer.Option("--detached", "-d", help="In a session: print the job's id and do not wait for its end.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run a program; its imports of pyflink resolve to scurry. Options go before PROGRAM."""
    named = python.configuration(files, archives, requirements, executable, client_executable, python_path)
    configuration = {**parse_settings(settings), **named}
    python.use_client_executable(configuration)
    what, own_arguments = python.program_of(program, file, module, arguments or [])
    options = LaunchOptions(
        configuration=configuration,
        mode=mode.value if mode else None,
        parallelism=parallelism,
        master=master,
        runner=runner.value if runner else None,
        from_savepoint=savepoint,
        allow_non_restored_state=allow_non_restored,
        final_savepoint=final_savepoint,
    )
    if session is not None:
        raise typer.Exit(sessions.run_in_session(session, what, own_arguments, options.overrides(), detached=detached))
    if detached:
        raise typer.BadParameter("-d needs a session: scurry run --session NAME -d PROGRAM")
    raise typer.Exit(run_program(what, own_arguments, options, debug=debug))


@app.command(context_settings=_OWN_OPTIONS_FIRST, rich_help_panel=Group.PROGRAMS)
def explain(
    program: Program,
    arguments: Arguments = None,
    settings: Settings = None,
    parallelism: Parallelism = None,
    mode: ModeOption = None,
    debug: Debug = False,
) -> None:
    """Print the execution plan of each job that a program would execute, without running any."""
    options = LaunchOptions(
        configuration=parse_settings(settings),
        mode=mode.value if mode else None,
        parallelism=parallelism,
        explain_only=True,
    )
    raise typer.Exit(run_program(program, arguments or [], options, debug=debug))


@app.command(rich_help_panel=Group.PROGRAMS)
def pipeline(
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The pipeline, as YAML of Flink CDC.")
    ],
    master: Master = None,
    settings: Settings = None,
    parallelism: Parallelism = None,
    runner: RunnerOption = None,
    savepoint: Annotated[
        str | None, typer.Option("--from-savepoint", "-s", metavar="DIR", help="Start with the state of a savepoint.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Copy whole databases into another system, and follow their changes, as a file of YAML says."""
    options = LaunchOptions(
        configuration=parse_settings(settings),
        parallelism=parallelism,
        master=master,
        runner=runner.value if runner else None,
        from_savepoint=savepoint,
    )
    raise typer.Exit(run_program("scurry.sql.pipelines", [str(file)], options, debug=debug))


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"scurry {__version__}")
        raise typer.Exit


@app.callback(
    epilog="Example: scurry run --runner local program.py, or script.sql. Documentation: "
    "https://github.com/scurry-project/scurry/tree/main/docs"
)
def scurry(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Run Apache Flink's programming model for Python on Apache Spark, or in one process."""


operate.add_to(app)
replay.add_to(app)
check.add_to(app)
sql.add_to(app)
new.add_to(app)
log.add_to(app)
sessions.add_to(app)
doctor.add_to(app)


@app.command(name="version", rich_help_panel=Group.MACHINE)
def show_version() -> None:
    """Print the versions to name in a bug report."""
    try:
        spark = f"pyspark {version('pyspark')}"
    except PackageNotFoundError:
        spark = "pyspark not installed"
    typer.echo(f"scurry {__version__} (API of PyFlink {pyflink_version}, {spark}, Python {platform.python_version()})")


def main() -> None:
    """Run the ``scurry`` command."""
    app()
