"""Flink's SQL dialect: text to syntax tree, and syntax tree to text."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse, parse_statements
from scurry.sql.syntax.unparse import unparse

__all__ = ["nodes", "parse", "parse_statements", "unparse"]
