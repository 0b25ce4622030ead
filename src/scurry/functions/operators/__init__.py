"""Operators and what the grammar has words for: arithmetic, comparison, logic, CASE, CAST, access to parts."""

from __future__ import annotations
