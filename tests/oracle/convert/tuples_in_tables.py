"""Tuples in streams are STRUCTURED types in tables: how they print, are cast, compared and come back."""
# parallelism: 1

from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment
from pyflink.table.expressions import col

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
ti = Types.ROW_NAMED(["id", "pair"], [Types.INT(), Types.TUPLE([Types.STRING(), Types.INT()])])


def fresh():
    return t_env.from_data_stream(env.from_collection([Row(1, ("a", 2)), Row(2, ("b", 3))], ti))


def attempt(name, f):
    print("--", name)
    try:
        f()
    except Exception as e:
        print("error", type(e).__name__)


t = fresh()
t_env.create_temporary_view("v", t)
attempt("sql", lambda: t_env.execute_sql("SELECT id, pair FROM v").print())
attempt("sql field", lambda: t_env.execute_sql("SELECT id, v.pair.f0, v.pair.f1 + 1 FROM v").print())
attempt("get", lambda: fresh().select(col("id"), col("pair").get("f1")).execute().print())
attempt("get schema", lambda: fresh().select(col("pair").get("f1")).print_schema())
attempt("flatten", lambda: fresh().select(col("id"), col("pair").flatten).execute().print())
attempt("cast", lambda: t_env.execute_sql("SELECT CAST(pair AS STRING) FROM v").print())
attempt("cast row", lambda: t_env.execute_sql("SELECT CAST(pair AS ROW<x STRING, y BIGINT>) FROM v").print())
attempt("group", lambda: t_env.execute_sql("SELECT pair, COUNT(*) FROM v GROUP BY pair").print())
attempt("eq", lambda: t_env.execute_sql("SELECT a.id FROM v a JOIN v b ON a.pair = b.pair").print())


def back():
    ds = t_env.to_data_stream(fresh())
    print(ds.get_type())
    ds.print()
    env.execute()


attempt("back", back)


def back2():
    ds = t_env.to_append_stream(fresh(), ti)
    ds.print()
    env.execute()


attempt("back2", back2)
PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
TRIPLE = Types.TUPLE([Types.DOUBLE(), Types.STRING(), Types.BOOLEAN()])
NUMBERS = Types.TUPLE([Types.INT(), Types.INT()])
NAMED = Types.ROW_NAMED(["n", "t"], [Types.STRING(), NUMBERS])
SINK = "CREATE TABLE s (id INT, pair ROW<f0 STRING, f1 INT>) WITH ('connector' = 'print')"


def printed(value, type_info):
    t_env.from_data_stream(env.from_collection([value], type_info)).execute().print()


def insert():
    t_env.execute_sql(SINK)
    fresh().execute_insert("s").wait()


attempt("tuple3", lambda: printed((1, (2.5, "x", True)), Types.TUPLE([Types.INT(), TRIPLE])))
attempt("map", lambda: printed({"a": ("b", 1)}, Types.MAP(Types.STRING(), PAIR)))
attempt("array", lambda: printed([("b", 1)], Types.OBJECT_ARRAY(PAIR)))
attempt("insert", insert)
attempt("row in row", lambda: printed(Row(1, Row("a", (1, 2))), Types.ROW([Types.INT(), NAMED])))
