"""Run plans in STREAMING mode on Spark: the query, its stages and the stream of assignments."""

from __future__ import annotations
