"""Define `scurry sql` and `scurry gateway`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scurry.cli import statements
from scurry.cli.options import Group, Master, Runner, one_of, parse_settings, whole_number

Script = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="SCRIPT", help="Execute the statements of a file.")
]
Statements = Annotated[
    list[str] | None,
    typer.Option("--execute", "-e", metavar="SQL", help="Execute statements; may be given many times."),
]
Init = Annotated[
    Path | None, typer.Option("--init", "-i", metavar="SCRIPT", help="Execute the statements of a file first.")
]
Settings = Annotated[
    list[str] | None, typer.Option("-D", metavar="KEY=VALUE", help="A setting of the session; may be given many times.")
]
RunnerOption = Annotated[
    Runner | None,
    one_of(Runner, "--runner", "What executes statements: the command's own process, the default, or Spark."),
]
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        "-hist",
        metavar="FILE",
        help="Where typed statements are remembered; ~/.scurry-sql-history by default.",
    ),
]
Files = Annotated[
    str | None, typer.Option("--pyFiles", "-pyfs", metavar="PATHS", help="Python files of functions, comma-separated.")
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        metavar="URL",
        help="A SQL gateway that executes the statements; its token is in SCURRY_REST_TOKEN.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the `scurry` command."""
    app.command(rich_help_panel=Group.PROGRAMS)(sql)
    app.command(rich_help_panel=Group.SERVERS)(gateway)


def sql(
    execute: Statements = None,
    file: Script = None,
    init: Init = None,
    settings: Settings = None,
    runner: RunnerOption = None,
    master: Master = None,
    endpoint: Endpoint = None,
    files: Files = None,
    history: History = None,
) -> None:
    """Type SQL statements and see their results, or execute a script."""
    given = None if settings is None else parse_settings(settings)
    executed = (execute or [], file, init)
    connection = statements.Connection(given, runner.value if runner else None, master, endpoint, files)
    raise typer.Exit(statements.execute(*executed, connection, history))


def gateway(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(parser=whole_number(0, 65535), metavar="N", help="The port; 0 for any free one.")
    ] = 8083,
    settings: Settings = None,
    runner: RunnerOption = None,
    master: Master = None,
    files: Files = None,
    idle_timeout: Annotated[
        int,
        typer.Option(
            parser=whole_number(0),
            metavar="SECONDS",
            help="Close sessions after this time without a request; 0 for never.",
        ),
    ] = 600,
    max_sessions: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="How many sessions there are at most.")
    ] = 1000,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token",
            help="Accept requests without a token, on loopback: any user of this machine can run statements as you.",
        ),
    ] = False,
) -> None:
    """Serve SQL sessions to clients: Flink's REST endpoint of the SQL gateway."""
    given = statements.Connection(parse_settings(settings), runner.value if runner else None, master, None, files)

    def serve() -> int:
        from scurry.sql.gateway.serving import serve

        serve(given.configuration(), host, port, max_sessions, float(idle_timeout), no_token=no_token)
        return 0

    raise typer.Exit(statements.shown(serve))
