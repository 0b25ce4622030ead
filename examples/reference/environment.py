"""StreamExecutionEnvironment, its configuration, and the job that runs."""

from __future__ import annotations

import json
import warnings
from datetime import timedelta
from pathlib import Path

from scurry.common import (
    ConfigOptions,
    Configuration,
    ExecutionConfig,
    JobClient,
    RestartStrategies,
    Types,
    WatermarkStrategy,
)
from scurry.datastream import (
    CheckpointingMode,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    HashMapStateBackend,
    RuntimeExecutionMode,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.connectors.number_seq import NumberSequenceSource

# Configuration

configuration = Configuration()
configuration.set_string("pipeline.name", "orders")
configuration.set_integer("parallelism.default", 1)
configuration.set_boolean("pipeline.object-reuse", True)
configuration.set_float("my.share", 0.5)
configuration.set_bytearray("my.key", bytearray(b"\x01"))
configuration.set_string("my.list", "a;b")
assert configuration.get_string("pipeline.name", "") == "orders"
assert configuration.get_integer("parallelism.default", 0) == 1
assert configuration.get_boolean("pipeline.object-reuse", False) is True
assert configuration.get_float("my.share", 0.0) == 0.5
assert configuration.get_bytearray("my.key", bytearray()) == bytearray(b"\x01")
assert configuration.get_string("no.such.key", "default") == "default"
interval = ConfigOptions.key("my.interval").string_type().default_value("10 s")
assert configuration.get(interval) == "10 s"
assert Configuration.parse_list_value("a;b") == ["a", "b"]
assert configuration.contains_key("my.list")
configuration.remove_config("my.list")
configuration.remove_config("my.share")
configuration.remove_config("my.key")
assert configuration.key_set() == {"pipeline.name", "parallelism.default", "pipeline.object-reuse"}
more = Configuration.from_dict({"execution.buffer-timeout.interval": "10 ms"})
more.add_all(configuration)
assert more.to_dict()["pipeline.name"] == "orders"
target: dict[str, str] = {}
configuration.add_all_to_dict(target)
assert target["pipeline.name"] == "orders"
assert configuration.with_prefix("pipeline.")

# The environment

env = StreamExecutionEnvironment.get_execution_environment(more)
env.configure(Configuration.from_dict({"pipeline.max-parallelism": "64"}))
assert env.get_max_parallelism() == 64
env.set_max_parallelism(128)
env.set_parallelism(1)
assert env.get_parallelism() == 1
env.set_default_local_parallelism(1)
assert env.get_default_local_parallelism() == 1
env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
env.set_buffer_timeout(100)
assert env.get_buffer_timeout() == 100
assert env.is_chaining_enabled()
assert isinstance(env.is_chaining_of_operators_with_different_max_parallelism_enabled(), bool)
env.disable_operator_chaining()
env.set_state_backend(HashMapStateBackend())
env.enable_changelog_state_backend(False)
assert env.is_changelog_state_backend_enabled() is not None
env.set_restart_strategy(RestartStrategies.fixed_delay_restart(3, timedelta(seconds=1)))
env.register_slot_sharing_group(SlotSharingGroup.builder("small").build())
env.set_default_savepoint_directory("savepoints")
assert env.get_default_savepoint_directory().endswith("savepoints")

# What functions need beside the program

Path("shop.py").write_text("VAT = 0.2")
Path("requirements.txt").write_text("")
env.add_python_file("shop.py")
other = StreamExecutionEnvironment.get_execution_environment()
other.set_python_requirements("requirements.txt")
other.set_python_executable("python3")
Path("data.zip").write_bytes(b"PK\x05\x06" + bytes(18))
other.add_python_archive("data.zip", "data")
assert other.socket_text_stream("localhost", 9999).get_name()
with warnings.catch_warnings(
    record=True
) as told:  # programs for Flink's Java connectors run, and are told what has no effect
    warnings.simplefilter("always")
    other.add_jars("file:///opt/unknown.jar")
    other.add_classpaths("file:///opt/unknown.jar")
    other.register_cached_file("data.zip", "data")
assert "add_python_archive" in str(told[-1].message)

# Checkpoints

env.enable_checkpointing(10_000, CheckpointingMode.EXACTLY_ONCE)
assert env.get_checkpoint_interval() == 10_000
assert env.get_checkpointing_mode() == env.get_checkpointing_consistency_mode() == CheckpointingMode.EXACTLY_ONCE
assert not env.is_unaligned_checkpoints_enabled()
assert not env.is_force_unaligned_checkpoints()
checkpoints = env.get_checkpoint_config()
assert checkpoints.is_checkpointing_enabled()
checkpoints.set_checkpoint_interval(5_000)
assert checkpoints.get_checkpoint_interval() == 5_000
checkpoints.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE)
assert checkpoints.get_checkpointing_mode() == CheckpointingMode.EXACTLY_ONCE
checkpoints.set_checkpoint_timeout(60_000)
assert checkpoints.get_checkpoint_timeout() == 60_000
checkpoints.set_min_pause_between_checkpoints(500)
assert checkpoints.get_min_pause_between_checkpoints() == 500
checkpoints.set_max_concurrent_checkpoints(1)
assert checkpoints.get_max_concurrent_checkpoints() == 1
checkpoints.set_fail_on_checkpointing_errors(True)
assert checkpoints.is_fail_on_checkpointing_errors()
checkpoints.set_tolerable_checkpoint_failure_number(2)
assert checkpoints.get_tolerable_checkpoint_failure_number() == 2
checkpoints.enable_unaligned_checkpoints()
assert checkpoints.is_unaligned_checkpoints_enabled()
checkpoints.set_force_unaligned_checkpoints(True)
assert checkpoints.is_force_unaligned_checkpoints()
checkpoints.set_force_unaligned_checkpoints(False)
checkpoints.disable_unaligned_checkpoints()
checkpoints.set_aligned_checkpoint_timeout(timedelta(seconds=30))
assert checkpoints.get_aligned_checkpoint_timeout() is not None
checkpoints.set_alignment_timeout(timedelta(0))
assert checkpoints.get_alignment_timeout() is not None
checkpoints.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
assert checkpoints.is_externalized_checkpoints_enabled()
retained = checkpoints.get_externalized_checkpoint_retention()
assert retained == ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
checkpoints.set_checkpoint_storage(FileSystemCheckpointStorage("file:///tmp/checkpoints"))
checkpoints.set_checkpoint_storage_dir("checkpoints")

# How the job runs

config = env.get_config()
config.set_parallelism(1).set_max_parallelism(128)
assert (config.get_parallelism(), config.get_max_parallelism()) == (1, 128)
config.set_auto_watermark_interval(200)
assert config.get_auto_watermark_interval() == 200
config.set_latency_tracking_interval(0)
assert config.get_latency_tracking_interval() == 0
config.set_task_cancellation_interval(30_000)
assert config.get_task_cancellation_interval() == 30_000
config.set_task_cancellation_timeout(180_000)
assert config.get_task_cancellation_timeout() == 180_000
config.set_global_job_parameters({"currency": "EUR"})
assert config.get_global_job_parameters()["currency"] == "EUR"
config.disable_object_reuse()
assert not config.is_object_reuse_enabled()
config.enable_object_reuse()
config.disable_auto_generated_uids()
assert not config.has_auto_generated_uids_enabled()
config.enable_auto_generated_uids()
config.disable_closure_cleaner()
assert not config.is_closure_cleaner_enabled()
config.enable_closure_cleaner()
config.enable_force_avro()
assert config.is_force_avro_enabled()
config.disable_force_avro()
config.enable_force_kryo()
assert config.is_force_kryo_enabled()
config.disable_force_kryo()
config.disable_generic_types()
assert config.has_generic_types_disabled()
config.enable_generic_types()
config.set_use_snapshot_compression(True)
assert config.is_use_snapshot_compression()
config.set_use_snapshot_compression(False)
assert isinstance(config, ExecutionConfig)

# Sources, and the job

numbers = env.from_source(
    NumberSequenceSource(1, 3), WatermarkStrategy.no_watermarks(), "numbers", type_info=Types.LONG()
)
numbers.map(lambda n: n + 1).uid("next").print()
assert "numbers" in json.dumps(json.loads(env.get_execution_plan()))
result = env.execute("count")
assert len(str(result.get_job_id())) == 32
assert result.get_net_runtime() >= 0
assert result.get_all_accumulator_results() == {}
assert result.get_accumulator_result("no such accumulator") is None
assert result.get_savepoint_path() is None
assert result.get_metrics()

checkpoints.set_checkpoint_storage_dir("checkpoints-of-the-second")  # each job has a directory of its own
env.from_collection(["a", "b"]).print()
client = env.execute_async("in the background")
assert client.get_job_execution_result().result().get_job_id() == client.get_job_id()
assert client.get_job_status().result().name == "FINISHED"
assert client.get_accumulators().result() == {}
assert client.get_metrics().result()

# Savepoints of a job that does not end by itself

checkpoints.set_checkpoint_storage_dir("checkpoints-of-words")
Path("in").mkdir()
Path("in", "words.txt").write_text("to\nbe\n")
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "in").monitor_continuously(100).build()


def started() -> JobClient:
    words = env.from_source(source, WatermarkStrategy.no_watermarks(), "words").uid("words")
    words.print().uid("console")
    return env.execute_async("words")


client = started()
path = client.trigger_savepoint("savepoints").result()
assert path
client.cancel().result()
client = started()
assert client.stop_with_savepoint(False, "savepoints").result()
env.close()

# Restart strategies

none = RestartStrategies.no_restart()
assert none.to_dict() == {"restart-strategy.type": "none"}
assert none.get_description()
default = RestartStrategies.fall_back_restart()
assert default.get_description()
assert default.to_dict() == {}
fixed = RestartStrategies.fixed_delay_restart(3, 1_000)
assert fixed.get_restart_attempts() == 3
assert fixed.get_delay_between_attempts_interval() == timedelta(seconds=1)
assert "3" in fixed.get_description()
assert fixed.to_dict()["restart-strategy.type"]
rate = RestartStrategies.failure_rate_restart(3, timedelta(minutes=5), timedelta(seconds=10))
assert rate.get_max_failure_rate() == 3
assert rate.get_failure_interval() == timedelta(minutes=5)
assert rate.get_delay_between_attempts_interval() == timedelta(seconds=10)
assert rate.get_description()
assert rate.to_dict()["restart-strategy.type"]
