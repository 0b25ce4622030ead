"""What runs in Spark's Python workers, and what they share with the driver."""

from __future__ import annotations
