"""The ``scurry`` command: run a program, show its plan."""

from __future__ import annotations

from scurry.cli.commands import main

__all__ = ["main"]
