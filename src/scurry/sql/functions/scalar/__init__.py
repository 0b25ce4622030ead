"""Functions of a row, one module per family."""

from __future__ import annotations
