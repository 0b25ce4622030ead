"""Flink's SQL dialect: text to syntax tree, and syntax tree to text."""

from __future__ import annotations
