"""Evaluation: expressions over columns, user-defined functions, and plans on bounded input."""

from __future__ import annotations
