"""Code that runs in Spark's Python workers or is shared between them and the driver."""

from __future__ import annotations
