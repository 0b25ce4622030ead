"""ResultKind: whether a statement answers with more than OK."""

from __future__ import annotations

__all__ = ["ResultKind"]


class ResultKind:
    """Whether a statement answers with more than OK."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1
