"""Settings of operators that streams without an operator of their own refuse, in Flink's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from scurry.errors import TopologyError

__all__ = ["refused"]


def refused(setting: str, instead: str) -> Callable[..., NoReturn]:
    """Return a method that refuses a setting.

    Args:
        setting: What Flink calls it, such as ``Set name for``; the class of the stream follows.
        instead: What to do.
    """

    def refuse(self: object, *args: Any, **kwargs: Any) -> NoReturn:
        raise TopologyError(f"{setting} {type(self).__name__} is not supported: {instead}")

    return refuse
