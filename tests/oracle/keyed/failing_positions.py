"""Aggregating by a field that is not there, or a type without fields, fails."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

t = Types.TUPLE([Types.STRING(), Types.INT()])
for name, build in [
    ("position", lambda k: k.sum(7)),
    ("text", lambda k: k.sum(0)),
    ("name", lambda k: k.max("nope")),
]:
    env = StreamExecutionEnvironment.get_execution_environment()
    keyed = env.from_collection([("a", 1), ("a", 2)], type_info=t).key_by(lambda v: v[0], key_type=Types.STRING())
    try:
        build(keyed).filter(lambda v: False).print()
        env.execute()
        print(name, "finished")
    except Exception:
        print(name, "failed")
