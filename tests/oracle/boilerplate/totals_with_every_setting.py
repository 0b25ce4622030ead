"""A job as programs in the field write it, with all the settings around it."""

# compare: per-key
from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

from pyflink.common import Configuration, Duration, Time, Types
from pyflink.datastream import (
    CheckpointingMode,
    ExternalizedCheckpointRetention,
    KeyedProcessFunction,
    RuntimeContext,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor


class Totals(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        ttl = (
            StateTtlConfig.new_builder(Time.hours(1))
            .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
            .cleanup_in_rocksdb_compact_filter(1000)
            .build()
        )
        descriptor = ValueStateDescriptor("total", Types.LONG())
        descriptor.enable_time_to_live(ttl)
        self.total = runtime_context.get_state(descriptor)
        self.currency = runtime_context.get_job_parameter("currency", "?")

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        total = (self.total.value() or 0) + value[1]
        self.total.update(total)
        yield value[0], total, self.currency


def jar(directory: str, name: str) -> str:
    path = Path(directory) / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    return path.as_uri()


def main() -> None:
    directory = tempfile.mkdtemp()
    conf = Configuration()
    conf.set_string("state.backend.type", "rocksdb")
    conf.set_string("state.backend.incremental", "true")
    conf.set_string("execution.checkpointing.dir", (Path(directory) / "checkpoints").as_uri())
    conf.set_string("restart-strategy.type", "fixed-delay")
    conf.set_string("restart-strategy.fixed-delay.attempts", "3")
    conf.set_string("restart-strategy.fixed-delay.delay", "1 s")
    conf.set_string("pipeline.jars", jar(directory, "flink-connector-jdbc-3.3.0-1.20.jar"))
    conf.set_string("python.fn-execution.bundle.size", "1000")
    conf.set_integer("taskmanager.numberOfTaskSlots", 8)
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    env.add_jars(jar(directory, "flink-sql-connector-kafka-4.0.1-2.0.jar"), jar(directory, "our-own.jar"))
    env.add_classpaths(jar(directory, "flink-sql-avro-2.3.0.jar"))
    env.set_max_parallelism(64)
    env.enable_checkpointing(60_000, CheckpointingMode.EXACTLY_ONCE)
    checkpoints = env.get_checkpoint_config()
    checkpoints.set_min_pause_between_checkpoints(500).set_checkpoint_timeout(600_000)
    checkpoints.set_max_concurrent_checkpoints(1).set_tolerable_checkpoint_failure_number(3)
    checkpoints.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
    checkpoints.enable_unaligned_checkpoints().set_aligned_checkpoint_timeout(Duration.of_seconds(10))
    env.enable_changelog_state_backend(False)
    config = env.get_config()
    config.enable_object_reuse().set_auto_watermark_interval(100).set_latency_tracking_interval(0)
    config.set_task_cancellation_timeout(0)
    config.set_global_job_parameters({"currency": "EUR"})
    group = SlotSharingGroup.builder("totals").build()
    env.register_slot_sharing_group(group)
    orders = env.from_collection(
        [("apple", 3), ("pear", 2), ("apple", 4), ("plum", 9), ("pear", 5)],
        type_info=Types.TUPLE([Types.STRING(), Types.LONG()]),
    )
    orders.uid("orders").name("orders").key_by(lambda order: order[0], key_type=Types.STRING()).process(
        Totals(), output_type=Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
    ).uid("totals").name("totals").slot_sharing_group(group).map(str, output_type=Types.STRING()).uid(
        "texts"
    ).slot_sharing_group("default").print().uid("console").name("console")
    env.execute("totals with every setting")


if __name__ == "__main__":
    main()
