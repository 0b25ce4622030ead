"""The tasks that run in the workers: source, level and batch tasks."""

from __future__ import annotations
