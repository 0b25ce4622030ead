"""Evaluation of tables: expressions over columns, and the operators of a relational plan."""

from __future__ import annotations
