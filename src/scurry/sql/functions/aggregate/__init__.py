"""Aggregate functions, one module per family."""

from __future__ import annotations
