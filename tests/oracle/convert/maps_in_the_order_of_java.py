"""Maps come out of tables in the order of Java's HashMap; those of from_elements are kept in that of Flink's keys."""

# compare: ordered
# parallelism: 1
# modes: batch
from __future__ import annotations

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import udf

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
for query in (
    "SELECT MAP['b', 1, 'a', 2, 'zeta', 3, 'Alpha', 4, 'x1', 5]",
    "SELECT MAP[3, 'c', 1, 'a', 17, 'q', -1, 'n'], ARRAY[MAP['b', 1, 'a', 2]]",
    "SELECT MAP[CAST(3000000000 AS BIGINT), 'c', CAST(1 AS BIGINT), 'a', CAST(-5 AS BIGINT), 'm']",
    "SELECT STR_TO_MAP('z=1,y=2,k=3,b=4'), MAP[TRUE, 1, FALSE, 2]",
    "SELECT MAP[CAST(1.5 AS DOUBLE), 1, CAST(0.25 AS DOUBLE), 2, CAST(-3 AS DOUBLE), 3]",
    "SELECT MAP[CAST(2 AS TINYINT), 1, CAST(1 AS TINYINT), 2], MAP[CAST(2 AS SMALLINT), 1, CAST(-1 AS SMALLINT), 2]",
):
    with t_env.execute_sql(query).collect() as rows:
        print([list(row) for row in rows])

text = udf(lambda value: str(value), result_type=DataTypes.STRING())
names = {f"m{number}": number for number in range(20, 0, -1)}
elements = [
    (names, {20: "t", 3: "c", 17: "q"}),
    ({"k": 1, "z": 2, "Zürich": 3, "Köln an der Straße": 4}, {2**20: "m", 1: "a"}),
]
fields = DataTypes.ROW(
    [
        DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())),
        DataTypes.FIELD("n", DataTypes.MAP(DataTypes.INT(), DataTypes.STRING())),
    ]
)
table = t_env.from_elements(elements, fields)
with table.execute().collect() as rows:
    print([list(row) for row in rows])
t_env.get_config().set("table.display.max-column-width", "300")
table.select(col("m").cast(DataTypes.STRING()), text(col("m")), col("n")).execute().print()
