"""Settings of operators that streams without an operator of their own refuse, in Flink's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from scurry.errors import TopologyError

__all__ = ["refused", "refuses_settings"]

_Stream = TypeVar("_Stream", bound=type)

#: Methods, and what Flink calls them.
_SETTINGS = {
    "get_name": "Get name of",
    "name": "Set name for",
    "uid": "Set uid for",
    "set_uid_hash": "Set uid hash for",
    "set_description": "Set description for",
    "set_parallelism": "Set parallelism for",
    "set_max_parallelism": "Set max parallelism for",
    "force_non_parallel": "Set force non-parallel for",
    "set_buffer_timeout": "Set buffer timeout for",
    "start_new_chain": "Start new chain for",
    "disable_chaining": "Disable chaining for",
    "slot_sharing_group": "Setting slot sharing group for",
}


def refused(setting: str, instead: str) -> Callable[..., NoReturn]:
    """Return a method that refuses a setting.

    Args:
        setting: What Flink calls it, such as ``Set name for``; the class of the stream follows.
        instead: What to do.
    """

    def refuse(self: object, *args: Any, **kwargs: Any) -> NoReturn:
        raise TopologyError(f"{setting} {type(self).__name__} is not supported: {instead}")

    return refuse


def refuses_settings(instead: str) -> Callable[[_Stream], _Stream]:
    """Return a decorator of streams that are no operator: they refuse the settings of operators.

    Args:
        instead: What to do.
    """

    def decorated(stream: _Stream) -> _Stream:
        for method, setting in _SETTINGS.items():
            setattr(stream, method, refused(setting, instead))
        return stream

    return decorated
