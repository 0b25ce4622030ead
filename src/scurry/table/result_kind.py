"""ResultKind: whether a statement answers with more than OK."""

from __future__ import annotations

__all__ = ["ResultKind"]


class ResultKind:
    """Kind of a statement's answer: OK, or with content."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1
