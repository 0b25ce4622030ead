"""Numbers through streams and tables with state in each part, into a topic.

Arguments: directory of numbers, checkpoints, address of the broker, topic, prefix of transactions, parallelism, and the
file whose appearance stops the job, with a savepoint beside it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scurry.common import Configuration, Row, RowKind, Types
from scurry.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from scurry.datastream.state import ValueStateDescriptor
from scurry.table import StreamTableEnvironment

GROUPS = 8


class Numbered(KeyedProcessFunction):
    """Appends to each row how many its group has had."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[Row]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield Row(*value, count)


def main(numbers: str, checkpoints: str, address: str, topic: str, prefix: str, parallelism: str, stop: str) -> None:
    settings = {
        "execution.checkpointing.dir": checkpoints,
        "scurry.batch.max-bytes": "700",
        "restart-strategy.type": "none",
        "parallelism.default": parallelism,
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    t_env = StreamTableEnvironment.create(env)
    t_env.execute_sql(
        "CREATE TABLE source (n INT, t STRING) WITH "
        f"('connector' = 'filesystem', 'format' = 'csv', 'path' = '{numbers}')"
    )
    t_env.execute_sql(
        "CREATE TABLE topic (k INT, c BIGINT, s BIGINT, u BIGINT) WITH ('connector' = 'kafka', 'format' = 'json', "
        f"'topic' = '{topic}', 'properties.bootstrap.servers' = '{address}', "
        f"'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{prefix}')"
    )
    rows = t_env.to_data_stream(t_env.sql_query(f"SELECT MOD(n, {GROUPS}) AS k FROM source"))
    counted = Types.ROW_NAMED(["k", "c"], [Types.INT(), Types.LONG()])
    numbered = rows.key_by(lambda row: row["k"], key_type=Types.INT()).process(Numbered(), output_type=counted)
    t_env.create_temporary_view("numbered", numbered)
    sums = t_env.sql_query("SELECT k, COUNT(*) AS c, SUM(c) AS s FROM numbered GROUP BY k")
    changes = t_env.to_changelog_stream(sums).filter(lambda row: row.get_row_kind() is not RowKind.UPDATE_BEFORE)
    plain = changes.map(
        lambda row: Row(*row), output_type=Types.ROW_NAMED(["k", "c", "s"], [Types.INT(), Types.LONG(), Types.LONG()])
    )
    again = plain.key_by(lambda row: row["k"], key_type=Types.INT()).process(
        Numbered(), Types.ROW_NAMED(["k", "c", "s", "u"], [Types.INT(), Types.LONG(), Types.LONG(), Types.LONG()])
    )
    t_env.create_statement_set().add_insert("topic", t_env.from_data_stream(again)).attach_as_datastream()
    job = env.execute_async("streams and tables")
    ended = job.get_job_execution_result()
    while not ended.done():
        if Path(stop).exists():
            job.stop_with_savepoint(False, str(Path(stop).parent)).result()
            break
        time.sleep(0.02)
    ended.result()


if __name__ == "__main__":
    main(*sys.argv[1:])
