"""The driver side of a job: its requests, restarts, source coordination and metrics (Flink's JobManager)."""

from __future__ import annotations
