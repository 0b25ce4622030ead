"""Read and write savepoints on Spark."""

from __future__ import annotations
