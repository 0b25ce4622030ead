# timeout: 900
# modes: streaming batch
"""Rows of tables become records with Python's values and the fields' names."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
t_env.get_config().set("table.local-time-zone", "UTC")


def shown(value):
    return f"{type(value).__name__}:{value!r}"


QUERIES = [
    "SELECT CAST(1 AS TINYINT) a, CAST(2 AS SMALLINT) b, 3 c, CAST(4 AS BIGINT) d",
    "SELECT CAST(1.5 AS FLOAT) e, 2.5e0 f, CAST(1.25 AS DECIMAL(5, 2)) g, 'x' h, TRUE i",
    "SELECT DATE '2020-01-02' j, TIME '10:11:12' k, TIMESTAMP '2020-01-02 03:04:05.678' l",
    "SELECT CAST(NULL AS INT) q, CAST(x'0102' AS BYTES) m, ARRAY[1, 2] n, MAP['a', 1] o",
    "SELECT CAST(ROW(1, 'z') AS ROW<p INT, q STRING>) r, ARRAY[CAST(ROW(1) AS ROW<s INT>)] t",
    "SELECT TO_TIMESTAMP_LTZ(1500, 3) u, CAST(NULL AS STRING) v",
    "SELECT * FROM (VALUES (1, 'a'), (2, CAST(NULL AS STRING))) AS t(x, y)",
]
for number, query in enumerate(QUERIES):
    stream = t_env.to_data_stream(t_env.sql_query(query))
    with stream.map(
        lambda row: " ".join(map(shown, row)) + " " + " ".join(row._fields), output_type=Types.STRING()
    ).execute_and_collect() as records:
        for record in records:
            print(number, record)
    print(number, t_env.to_data_stream(t_env.sql_query(query)).get_type() if number not in (5,) else "")
t_env.to_data_stream(t_env.sql_query("SELECT 1 a, 'x' b, CAST(NULL AS INT) c")).print()
env.execute()
