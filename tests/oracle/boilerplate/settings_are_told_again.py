"""Settings of Flink's machinery: their defaults, and what was set."""

# compare: ordered
from __future__ import annotations

from pyflink.common import Configuration, Duration, Time
from pyflink.datastream import (
    CheckpointingMode,
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    MemorySize,
    PredefinedOptions,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import StateTtlConfig


def show_execution(config):
    print("closure cleaner", config.is_closure_cleaner_enabled(), "object reuse", config.is_object_reuse_enabled())
    print("uids", config.has_auto_generated_uids_enabled())
    print("latency", config.get_latency_tracking_interval(), "compression", config.is_use_snapshot_compression())
    print("cancellation", config.get_task_cancellation_interval(), config.get_task_cancellation_timeout())


def show_checkpoints(config):
    print("unaligned", config.is_unaligned_checkpoints_enabled(), config.is_force_unaligned_checkpoints())
    print("alignment of 10 s", config.get_aligned_checkpoint_timeout() == Duration.of_seconds(10))
    print("same by the old name", config.get_alignment_timeout() == config.get_aligned_checkpoint_timeout())
    print("fails on errors", config.is_fail_on_checkpointing_errors(), config.get_tolerable_checkpoint_failure_number())


env = StreamExecutionEnvironment.get_execution_environment()
config = env.get_config()
show_execution(config)
config.disable_closure_cleaner().enable_object_reuse().set_latency_tracking_interval(500)
config.set_task_cancellation_interval(1000).set_task_cancellation_timeout(0).set_use_snapshot_compression(True)
config.disable_auto_generated_uids()
show_execution(env.get_config())
config.enable_closure_cleaner().disable_object_reuse()
config.enable_auto_generated_uids()
show_execution(env.get_config())

checkpoints = env.get_checkpoint_config()
show_checkpoints(checkpoints)
checkpoints.enable_unaligned_checkpoints()
print("without checkpoints", env.is_unaligned_checkpoints_enabled())
env.enable_checkpointing(1000)
checkpoints.set_force_unaligned_checkpoints()
checkpoints.set_aligned_checkpoint_timeout(Duration.of_seconds(10)).set_fail_on_checkpointing_errors(False)
show_checkpoints(checkpoints)
print("in the environment", env.is_unaligned_checkpoints_enabled(), env.is_force_unaligned_checkpoints())
checkpoints.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE)
print("at least once", env.get_checkpointing_consistency_mode(), env.is_unaligned_checkpoints_enabled())
checkpoints.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE).disable_unaligned_checkpoints()
print("disabled", env.is_unaligned_checkpoints_enabled())

print("changelog", env.is_changelog_state_backend_enabled())
print("changelog", env.enable_changelog_state_backend(True).is_changelog_state_backend_enabled())
print("chaining", env.is_chaining_of_operators_with_different_max_parallelism_enabled())

for size in (0, 10, 1024, 1536, 64 << 20, 3 << 30, 5 << 40):
    memory = MemorySize(bytes_size=size)
    print(memory, memory.get_bytes(), memory.get_kibi_bytes(), memory.get_mebi_bytes(), memory.get_tebi_bytes())
mebibyte = MemorySize.of_mebi_bytes(1)
print(mebibyte == MemorySize(bytes_size=1 << 20), mebibyte < MemorySize.of_mebi_bytes(2))

group = SlotSharingGroup.builder("g").set_cpu_cores(1.5).set_task_heap_memory_mb(64).set_external_resource("gpu", 1.0)
for built in (SlotSharingGroup.builder("plain").build(), group.build(), group.set_managed_memory_mb(3).build()):
    print(built.get_name(), built.get_cpu_cores(), built.get_task_heap_memory(), built.get_task_off_heap_memory())
    print(built.get_managed_memory(), built.get_external_resources())

rocks = EmbeddedRocksDBStateBackend(True)
print(rocks.is_incremental_checkpoints_enabled(), rocks.get_predefined_options(), rocks.get_options())
rocks.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
rocks.set_db_storage_paths("/tmp/a", "/tmp/b")
rocks.set_number_of_transfer_threads(7)
print(rocks.get_predefined_options(), rocks.get_db_storage_paths(), rocks.get_number_of_transfer_threads())
for storage in (JobManagerCheckpointStorage(), JobManagerCheckpointStorage("file:///tmp/x", 100)):
    print(storage.get_savepoint_path(), storage.get_max_state_size())
for storage in (FileSystemCheckpointStorage("file:///tmp/x"), FileSystemCheckpointStorage("file:///tmp/x", 0, 8192)):
    print(storage.get_min_file_size_threshold(), storage.get_write_buffer_size())

for builder in (
    StateTtlConfig.new_builder(Time.hours(1)),
    StateTtlConfig.new_builder(Time.hours(1)).disable_cleanup_in_background(),
    StateTtlConfig.new_builder(Time.hours(1)).cleanup_full_snapshot().cleanup_incrementally(10, True),
    StateTtlConfig.new_builder(Time.hours(1)).cleanup_in_rocksdb_compact_filter(20, Duration.of_hours(2)),
):
    cleanup = builder.build().get_cleanup_strategies()
    incremental = cleanup.get_incremental_cleanup_strategy()
    rocksdb = cleanup.get_rocksdb_compact_filter_cleanup_strategy()
    print(cleanup.is_cleanup_in_background(), cleanup.in_full_snapshot())
    print(incremental and (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()))
    print(rocksdb and rocksdb.get_query_time_after_num_entries())
    print(rocksdb and rocksdb.get_periodic_compaction_time() == Duration.of_hours(2))

first, second = Configuration(), Configuration()
first.set_string("a", "1")
second.set_string("b", "2").set_string("c", "3")
everything = {}
first.add_all(second).add_all(second, "other.").add_all_to_dict(everything)
print(sorted(everything.items()))
print([Configuration.parse_list_value(text) for text in ("a;b", "['a', 'b']", "[a, b]", "a", "", None)])
