"""Settings given as text, in every form Flink reads, and by every name of their key."""

# compare: ordered
from __future__ import annotations

from pyflink.common import Configuration, Duration
from pyflink.datastream import StreamExecutionEnvironment


def show(values, get):
    env = StreamExecutionEnvironment.get_execution_environment()
    configuration = Configuration()
    for key, value in values.items():
        configuration.set_string(key, value)
    try:
        env.configure(configuration)
        print(values, get(env))
    except Exception:
        print(values, "refused")


READABLE = [
    "1 min", "60000", "1000 ms", "1s", "2 sec", "2secs", "2 seconds", "3 minute", "3m", "1 h", "2 hours", "1 d",
    "2days", "20 milli", "50 milliseconds", "15000 µs", "15000micros", "30000000 ns", "PT1M", "PT0.5S", "pt1m", "P1D",
    "P1DT1H", "PT1M-5S", " 7 s ", "7  s", "1 MIN",
]  # fmt: skip
UNREADABLE = [
    "-PT1M", "PT-1M", "-5 ms", "-1", "+5 s", "", "  ", "ms", "5 fortnights", "1 w", "1.5 s", "10 s 5 ms", "P", "PT",
    "99999999999999999999",
]  # fmt: skip
DURATIONS = {
    "execution.buffer-timeout": lambda env: env.get_buffer_timeout(),
    "execution.buffer-timeout.interval": lambda env: env.get_buffer_timeout(),
    "execution.checkpointing.interval": lambda env: env.get_checkpoint_interval(),
    "execution.checkpointing.min-pause": lambda env: env.get_checkpoint_config().get_min_pause_between_checkpoints(),
    "execution.checkpointing.timeout": lambda env: env.get_checkpoint_config().get_checkpoint_timeout(),
    "metrics.latency.interval": lambda env: env.get_config().get_latency_tracking_interval(),
    "pipeline.auto-watermark-interval": lambda env: env.get_config().get_auto_watermark_interval(),
    "task.cancellation-interval": lambda env: env.get_config().get_task_cancellation_interval(),
    "task.cancellation.interval": lambda env: env.get_config().get_task_cancellation_interval(),
    "task.cancellation.timeout": lambda env: env.get_config().get_task_cancellation_timeout(),
}
for key, get in DURATIONS.items():
    for text in READABLE + UNREADABLE:
        show({key: text}, get)
for key in ("execution.checkpointing.interval", "execution.checkpointing.timeout"):
    for text in ("0", "9 ms", "10"):
        show({key: text}, DURATIONS[key])

BOOLEANS = {
    "execution.buffer-timeout.enabled": lambda env: env.get_buffer_timeout(),
    "pipeline.operator-chaining": lambda env: env.is_chaining_enabled(),
    "pipeline.operator-chaining.enabled": lambda env: env.is_chaining_enabled(),
    "pipeline.object-reuse": lambda env: env.get_config().is_object_reuse_enabled(),
    "pipeline.auto-generate-uids": lambda env: env.get_config().has_auto_generated_uids_enabled(),
    "execution.checkpointing.snapshot-compression": lambda env: env.get_config().is_use_snapshot_compression(),
    "execution.checkpointing.unaligned.forced": lambda env: env.is_force_unaligned_checkpoints(),
    "state.changelog.enabled": lambda env: env.is_changelog_state_backend_enabled(),
    "state.backend.changelog.enabled": lambda env: env.is_changelog_state_backend_enabled(),
}
for key, get in BOOLEANS.items():
    for text in ("true", "FALSE", "False", "yes", "1", "", " true"):
        show({key: text}, get)

NUMBERS = {
    "parallelism.default": lambda env: env.get_parallelism(),
    "pipeline.max-parallelism": lambda env: env.get_max_parallelism(),
    "execution.checkpointing.max-concurrent-checkpoints": lambda env: (
        env.get_checkpoint_config().get_max_concurrent_checkpoints()
    ),
    "execution.checkpointing.tolerable-failed-checkpoints": lambda env: (
        env.get_checkpoint_config().get_tolerable_checkpoint_failure_number()
    ),
}
for key, get in NUMBERS.items():
    for text in ("4", "04", "+4", "0", " 4", "4.0", "4L", "x", "", "2147483648"):
        show({key: text}, get)

ENUMS = {
    "execution.checkpointing.mode": lambda env: env.get_checkpointing_mode().name,
    "execution.checkpointing.externalized-checkpoint-retention": lambda env: (
        env.get_checkpoint_config().get_externalized_checkpoint_retention().name
    ),
    "pipeline.closure-cleaner-level": lambda env: env.get_config().is_closure_cleaner_enabled(),
}
for key, get in ENUMS.items():
    for text in (
        "EXACTLY_ONCE", "at_least_once", "at-least-once", " AT_LEAST_ONCE", "Retain_on_Cancellation",
        "retain-on-cancellation", "none", "TOP_LEVEL", "top-level", "",
    ):  # fmt: skip
        show({key: text}, get)

for text in (
    "a:1,b:2", "{a: 1, b: 2}", "a:1, b:2", "", "{}", "a", "a:", "a:b:c", ":b", "a:1,", "a: 1;b: 2", "a:''", 'a:"b:c"',
    "{a: 'x y'}", "a:'it''s'", "'a':'1'", "'a:1,2',b:3", "a:'b,c'", "'a:\"1:2\"', b:'3'", "a:'b",
):  # fmt: skip
    show(
        {"pipeline.global-job-parameters": text},
        lambda env: sorted(env.get_config().get_global_job_parameters().items()),
    )

print("by several names of their key")
show({"execution.buffer-timeout": "5 s", "execution.buffer-timeout.interval": "1 s"}, lambda e: e.get_buffer_timeout())
show({"execution.buffer-timeout": "5 s", "execution.buffer-timeout.enabled": "false"}, lambda e: e.get_buffer_timeout())
for key in ("execution.checkpointing.aligned-checkpoint-timeout", "execution.checkpointing.alignment-timeout"):
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string(key, "10 s"))
    print(key, env.get_checkpoint_config().get_aligned_checkpoint_timeout() == Duration.of_seconds(10))
SAVEPOINTS = ("execution.checkpointing.savepoint-dir", "state.savepoints.dir", "savepoints.state.backend.fs.dir")
for number, key in enumerate(SAVEPOINTS):
    show({key: "/a"}, lambda env: env.get_default_savepoint_directory())
    show(dict.fromkeys(SAVEPOINTS[number:], "/b") | {key: "/a"}, lambda env: env.get_default_savepoint_directory())

print("set and told again")
for timeout in (-2, -1, 0, 5):
    for values in ({}, {"execution.buffer-timeout": "5 s"}, {"execution.buffer-timeout.enabled": "false"}):
        show(values, lambda env: env.set_buffer_timeout(timeout).get_buffer_timeout())  # noqa: B023
