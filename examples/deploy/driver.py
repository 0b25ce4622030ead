"""What Spark's PythonRunner starts instead of the `scurry` command: docs/operations.md, "The driver comes back"."""

from __future__ import annotations

from scurry.cli import main

main()
