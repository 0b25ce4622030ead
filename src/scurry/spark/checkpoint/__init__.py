"""Checkpoints of jobs on Spark: generations, assignment log, rollback and recovery."""

from __future__ import annotations
