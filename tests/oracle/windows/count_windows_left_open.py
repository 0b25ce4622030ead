"""Count windows that are not full at the end of the input emit nothing."""

# compare: per-key
# key: ^(\w+> \w+)
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment


def summed(a, b):
    return a[0], a[1] + b[1]


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield "%s %s" % (key, [e[1] for e in elements])


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
keyed = env.from_collection([("abb"[n % 3], n) for n in range(13)], type_info=pair).key_by(
    lambda v: v[0], key_type=Types.STRING()
)
keyed.count_window(3).reduce(summed).map(lambda v: "%s %d" % v, output_type=Types.STRING()).print("three")
keyed.count_window(100).reduce(summed).map(str, output_type=Types.STRING()).print("hundred")
keyed.count_window(1).process(Show(), output_type=Types.STRING()).print("one")
keyed.count_window(5, 3).process(Show(), output_type=Types.STRING()).print("sliding")
env.execute()
