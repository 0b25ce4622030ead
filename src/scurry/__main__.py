"""Run the ``scurry`` command as ``python -m scurry``, if it is not on PATH."""

from __future__ import annotations

from scurry.cli import main

main()
