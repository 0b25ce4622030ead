"""Apache Flink's programming model for Python, executed by Apache Spark."""

from __future__ import annotations

import scurry._moved  # noqa: F401

__version__ = "0.1.0"
