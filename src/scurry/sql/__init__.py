"""SQL and tables, from text to operators: statements become plans, and plans become jobs."""

from __future__ import annotations
