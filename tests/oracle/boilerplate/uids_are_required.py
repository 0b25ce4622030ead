"""A job whose operators lack a uid does not start where Flink may not make one up."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment


def run(env, source=None, doubled=None, console=None):
    numbers = env.from_collection([1, 2, 3], Types.INT()).name("numbers")
    results = numbers.map(lambda n: n * 2, Types.INT()).name("doubled")
    sink = results.print().name("console")
    for operator, uid in ((numbers, source), (results, doubled), (sink, console)):
        if uid is not None:
            operator.uid(uid)
    try:
        env.execute()
    except Exception as error:
        text = str(error)
        print(next((name for name in ("numbers", "doubled", "console") if f"to operator {name}" in text), text))


env = StreamExecutionEnvironment.get_execution_environment()
env.get_config().disable_auto_generated_uids()
run(env, "a", "b", "c")
run(StreamExecutionEnvironment.get_execution_environment())

conf = Configuration()
conf.set_string("pipeline.auto-generate-uids", "false")
run(StreamExecutionEnvironment.get_execution_environment(conf), "a", None, "c")
run(StreamExecutionEnvironment.get_execution_environment(conf), "a", "b", None)
