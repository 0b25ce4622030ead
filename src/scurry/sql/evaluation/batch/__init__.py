"""The in-process BATCH executor: a plan on bounded input, operation after operation."""

from __future__ import annotations
