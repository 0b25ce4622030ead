"""What to call instead of methods that streams do not have, such as those of other libraries."""

from __future__ import annotations

from scurry.common._removed import STREAM

__all__ = ["KEYED_STREAM_METHODS", "STREAM_METHODS"]

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
