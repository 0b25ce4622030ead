"""Global windows without a trigger that fires emit nothing; with one that counts and purges they do."""

# compare: per-key
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %s" % (key, [e[1] for e in elements])


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
keyed = env.from_collection([("ab"[n % 2], n) for n in range(9)], type_info=pair).key_by(
    lambda v: v[0], key_type=Types.STRING()
)
keyed.window(GlobalWindows.create()).process(Show(), output_type=Types.STRING()).print("never")
keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2)).process(Show(), output_type=Types.STRING()).print(
    "kept"
)
keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(2))).process(
    Show(), output_type=Types.STRING()
).print("purged")
env.execute()
