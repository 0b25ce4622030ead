"""ExplainDetail: what EXPLAIN shows besides plans."""

from __future__ import annotations

__all__ = ["ExplainDetail"]


class ExplainDetail:
    """What EXPLAIN shows besides plans."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
