"""ExplainDetail: the details that EXPLAIN adds to plans."""

from __future__ import annotations

from collections.abc import Iterable

from scurry.errors import ArgumentTypeError

__all__ = ["ExplainDetail", "detail_names"]


class ExplainDetail:
    """The details that EXPLAIN adds to plans."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3


_NAMES = {
    ExplainDetail.ESTIMATED_COST: "ESTIMATED_COST",
    ExplainDetail.CHANGELOG_MODE: "CHANGELOG_MODE",
    ExplainDetail.JSON_EXECUTION_PLAN: "JSON_EXECUTION_PLAN",
    ExplainDetail.PLAN_ADVICE: "PLAN_ADVICE",
}


def detail_names(details: Iterable[ExplainDetail | int]) -> list[str]:
    """Return the names that details have in SQL.

    Raises:
        ArgumentTypeError: One is no detail.
    """
    names = []
    for each in details:
        name = _NAMES.get(each) if isinstance(each, int) else None
        if name is None:
            raise ArgumentTypeError(f"expected details of ExplainDetail, such as CHANGELOG_MODE, got {each!r}")
        names.append(name)
    return names
