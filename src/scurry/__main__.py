"""``python -m scurry``: the ``scurry`` command where it is not on PATH."""

from __future__ import annotations

from scurry.cli import main

main()
