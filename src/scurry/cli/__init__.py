"""The ``scurry`` command: run a program, show its plan, operate running jobs."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments of this process name."""
    from scurry.cli.direct import call, direct_command

    command = direct_command(sys.argv[1:])
    if command is not None:
        sys.exit(call(command))
    from scurry.cli.commands import main as run  # not earlier: a browser runs programs, and has no terminal

    run()
