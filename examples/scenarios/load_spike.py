"""A load spike and how it is worked off: the source reads at most so many records at once, so that memory suffices.

With a topic as the source, `scurry run` shows the backlog and when it will have gone.

Prints:

    250000
    250500
    micro-batches: [300, 300, 300, 100]
"""

from __future__ import annotations

from scurry.common import Configuration, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import NumberSequenceSource

SPIKE, LIMIT = 1000, 300

settings = Configuration()
settings.set_string("scurry.batch.max-records", str(LIMIT))
env = StreamExecutionEnvironment.get_execution_environment(settings)
env.set_parallelism(1)
numbers = env.from_source(NumberSequenceSource(1, SPIKE), WatermarkStrategy.no_watermarks(), "spike")
numbers.key_by(lambda number: number % 2).reduce(lambda a, b: a + b).filter(lambda total: total >= 250_000).print()
client = env.execute_async("load spike")
client.get_job_execution_result().result()
print("micro-batches:", [checkpoint.records for checkpoint in client.checkpoints() if checkpoint.records])
