"""What cannot be cached, and what a cached stream refuses."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2, 3], type_info=Types.INT()).map(lambda v: v, output_type=Types.INT())
cached = ds.cache()
cached.invalidate()
for name, call in [
    ("keyed", lambda: ds.key_by(lambda v: v).cache()),
    ("union", lambda: ds.union(ds).cache()),
    ("rebalance", lambda: ds.rebalance().cache()),
    ("cached", lambda: cached.cache()),
    ("name", lambda: cached.name("x")),
    ("uid", lambda: cached.uid("x")),
    ("parallelism", lambda: cached.set_parallelism(1)),
    ("map", lambda: cached.map(lambda v: v)),
]:
    try:
        call()
        print(name, "accepted")
    except Exception:
        print(name, "refused")
