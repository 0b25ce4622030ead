"""Savepoints on Spark: the state of a committed batch, read and written."""

from __future__ import annotations
