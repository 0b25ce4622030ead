"""What the setters of an environment and of a stream were given can be read again."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(3).set_max_parallelism(77).set_buffer_timeout(40)
print(env.get_parallelism(), env.get_max_parallelism(), env.get_buffer_timeout(), env.is_chaining_enabled())
print(env.disable_operator_chaining().is_chaining_enabled(), env.get_checkpoint_interval())
env.enable_checkpointing(5000)
config = env.get_checkpoint_config()
config.set_checkpoint_timeout(7000).set_min_pause_between_checkpoints(10).set_tolerable_checkpoint_failure_number(2)
print(
    config.is_checkpointing_enabled(),
    config.get_checkpoint_interval(),
    config.get_checkpoint_timeout(),
    config.get_min_pause_between_checkpoints(),
    config.get_tolerable_checkpoint_failure_number(),
    config.get_checkpointing_mode().name,
    config.get_max_concurrent_checkpoints(),
)
execution = env.get_config()
execution.set_auto_watermark_interval(123)
execution.set_global_job_parameters({"a": "1"})
print(execution.get_auto_watermark_interval(), execution.get_parallelism(), execution.get_global_job_parameters())
stream = env.from_collection([1], type_info=Types.INT()).map(lambda v: v, output_type=Types.LONG())
stream.name("mine").uid("id")
print(stream.get_name(), stream.get_type() == Types.LONG(), stream.get_execution_environment() is not None)
