"""The objects passed to user functions: contexts, metrics, dead letters."""

from __future__ import annotations
