"""Checkpoint directories of both engines: lock, trust, small files, and how a job starts on one."""

from __future__ import annotations
