"""The ``scurry`` command: run a program, show its plan, operate running jobs."""

from __future__ import annotations

from scurry.cli.commands import main

__all__ = ["main"]
