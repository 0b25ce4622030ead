"""Mistakes that building or starting a job reports."""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows


class NotAFunction:
    pass


def attempt(name, build):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    try:
        build(env.from_collection([(1, "a")], type_info=Types.TUPLE([Types.INT(), Types.STRING()])))
        env.execute()
        print(name, "finished")
    except Exception:
        print(name, "failed")


ms = Time.milliseconds
attempt("tumbling of nothing", lambda s: s.window_all(TumblingEventTimeWindows.of(ms(0))))
attempt("offset beyond size", lambda s: s.window_all(TumblingEventTimeWindows.of(ms(5), ms(5))))
attempt("negative gap", lambda s: s.window_all(EventTimeSessionWindows.with_gap(ms(-1))))
attempt("map of no function", lambda s: s.map(NotAFunction()).print())
attempt("process of a map", lambda s: s.process(lambda v: v).print())
attempt("union of keyed", lambda s: s.key_by(lambda v: v[0]).union(s.key_by(lambda v: v[0])).print())
attempt("side output without a tag", lambda s: s.get_side_output("late").print())
attempt(
    "windows without timestamps",
    lambda s: (
        s.key_by(lambda v: v[0], key_type=Types.INT())
        .window(TumblingEventTimeWindows.of(ms(5)))
        .reduce(lambda a, b: a)
        .print()
    ),
)
attempt(
    "forward to another parallelism",
    lambda s: s.map(lambda v: v).set_parallelism(2).forward().map(lambda v: v).set_parallelism(1).print(),
)
