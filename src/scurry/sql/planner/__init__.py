"""The planner: rules that rewrite plans, the inference of keys and of changes, and EXPLAIN."""

from __future__ import annotations
