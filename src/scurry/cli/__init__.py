"""The ``scurry`` command: run a program, show its plan, operate running jobs."""

from __future__ import annotations

import gc
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments of this process name."""
    from scurry.cli.direct import call, direct_command

    gc.disable()  # modules are no garbage, and their classes and functions would be searched through again and again
    command = direct_command(sys.argv[1:])
    gc.freeze()
    gc.enable()
    if command is not None:
        sys.exit(call(command))
    from scurry.cli.commands import main as run  # not earlier: a browser runs programs, and has no terminal

    run()
