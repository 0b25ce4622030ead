"""Methods and settings that streams lack, and their replacements, in Flink's words where possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from scurry.common._removed import STREAM
from scurry.errors import TopologyError

STREAM_METHODS = {
    **STREAM,
    **{
        name: f"call key_by(...) before {name}(...), or window_all(...) to have all records in one"
        for name in ("window", "count_window", "aggregate", "apply")
    },
    **{
        name: f"call key_by(...) before {name}(...), which continues with the records of each key"
        for name in ("reduce", "sum", "min", "max", "min_by", "max_by")
    },
    "count": "map each record to (key, 1), then key_by(...) and sum(1)",
    "group_by": "call key_by(...)",
    "collect": "call execute_and_collect(), or print()",
    "show": "call print(), or execute_and_collect()",
    "take": "call execute_and_collect(limit=...)",
    "for_each": "call add_sink(...) with a SinkFunction, or process(...)",
    "foreach": "call add_sink(...) with a SinkFunction, or process(...)",
    "select": "call map(...)",
    "where": "call filter(...); of two streams: join(other).where(...)",
    "execute": "call execute(...) on the environment",
}


KEYED_STREAM_METHODS = {
    name: f"call window(...) before {name}(...); for the whole stream: reduce(...) or process(...)"
    for name in ("aggregate", "apply")
}


_Stream = TypeVar("_Stream", bound=type)

#: Methods, and Flink's names for them.
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
