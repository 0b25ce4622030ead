"""Names, uids, parallelism, slot sharing and chaining settings on every operator change no result."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2, 3, 4], type_info=Types.INT()).name("source").uid("u0").set_parallelism(1).map(
    lambda v: v + 1, output_type=Types.INT()
).name("add").uid("u1").set_parallelism(2).set_description("adds one").start_new_chain().filter(
    lambda v: v != 3
).disable_chaining().set_buffer_timeout(10).key_by(lambda v: v % 2, key_type=Types.INT()).reduce(
    lambda a, b: a * b
).name("product").uid("u2").set_max_parallelism(16).map(
    lambda v: v, output_type=Types.INT()
).force_non_parallel().filter(lambda v: v > 4).print("out").name("sink").uid("u3").set_parallelism(1)
env.execute("a job with a name")
