"""Tables beside streams in BATCH have final rows, printed with their kinds: only settings of tables leave kinds out."""

# parallelism: 1
# modes: batch
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.table import EnvironmentSettings, StreamTableEnvironment
from pyflink.table.expressions import col

env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
for t_env in (
    StreamTableEnvironment.create(env),
    StreamTableEnvironment.create(env, EnvironmentSettings.in_batch_mode()),
):
    pairs = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    table = t_env.from_data_stream(pairs, col("k"), col("v"))
    table.group_by(col("k")).select(col("k"), col("v").sum.alias("total")).execute().print()
