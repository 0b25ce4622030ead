"""Operators and functions with keywords: arithmetic, comparison, logic, CASE, CAST, access to elements."""

from __future__ import annotations
