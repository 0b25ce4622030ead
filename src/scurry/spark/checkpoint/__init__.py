"""Checkpoint directories: generations, assignment log, lock, rollback and recovery."""

from __future__ import annotations
