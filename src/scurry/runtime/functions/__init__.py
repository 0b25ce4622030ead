"""What user functions are given: contexts, metrics, dead letters."""

from __future__ import annotations
