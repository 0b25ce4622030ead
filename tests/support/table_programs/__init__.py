"""Programs of our own that mix what the Table API can do, with PyFlink's names only.

PyFlink and scurry run the same text: `cd tests && python -m support.table_programs FILE` with PyFlink writes what it
answers, for `tests/fixtures/table_programs.json`.
"""

from __future__ import annotations

from support.table_programs import columns, groups, joins, statements, windows
from support.table_programs.registry import PROGRAMS, answer

__all__ = ["PROGRAMS", "answer", "columns", "groups", "joins", "statements", "windows"]
