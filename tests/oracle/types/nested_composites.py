"""Rows in rows, tuples in rows, lists of rows, maps of lists: inside functions and printed."""

# modes: streaming batch
from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

inner = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
t = Types.ROW_NAMED(
    ["id", "inner", "pair", "rows", "map"],
    [
        Types.LONG(),
        inner,
        Types.TUPLE([Types.INT(), Types.BOOLEAN()]),
        Types.LIST(inner),
        Types.MAP(Types.STRING(), Types.LIST(Types.DOUBLE())),
    ],
)


def change(r):
    return Row(
        r.id + 1,
        Row(x=r.inner.x * 2, y=r.inner.y.upper()),
        (r.pair[0], not r.pair[1]),
        [Row(x=e.x, y=e.y * 2) for e in r.rows],
        {k: [d / 2 for d in v] for k, v in r.map.items()},
    )


env = StreamExecutionEnvironment.get_execution_environment()
value = Row(1, Row(x=2, y="b"), (3, True), [Row(x=4, y="d"), Row(x=5, y="e")], {"k": [1.0, 2.5]})
stream = env.from_collection([0], type_info=Types.INT()).map(lambda _: value, output_type=t)
stream.print("in")
stream.map(change, output_type=t).print("out")
stream.map(
    lambda r: "%s %s %s" % (r.inner.as_dict(), type(r.pair).__name__, type(r.rows).__name__), output_type=Types.STRING()
).print("python")
stream.map(lambda r: r.inner, output_type=inner).map(lambda i: i["y"], output_type=Types.STRING()).print("field")
env.execute()
