"""The ``scurry`` command: run a program, show its plan, operate running jobs."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments of this process name."""
    from scurry.cli.commands import main as run  # not earlier: a browser runs programs, and has no terminal

    run()
