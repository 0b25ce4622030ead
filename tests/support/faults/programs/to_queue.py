"""Numbers -> messages.

    to_queue.py SYSTEM PORT CHECKPOINTS FUSE NUMBERS PER_SECOND

With a fuse (`failing_sink.py`), the job can be made to die after its sink has committed and before the engine has.
"""

from __future__ import annotations

import sys

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from support.faults.failing_sink import FailingSink
from support.queues import SYSTEMS


def main(system: str, port: str, checkpoints: str, fuse: str, numbers: str, per_second: str) -> None:
    configuration = Configuration.from_dict(dict(SYSTEMS[system].settings))
    configuration.set_string("execution.checkpointing.dir", checkpoints)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_max_parallelism(8)
    source = DataGeneratorSource(lambda index: index, int(numbers), int(per_second), Types.LONG())
    texts = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").map(str, Types.STRING())
    texts.sink_to(SYSTEMS[system].sink(int(port))).name("queue").uid("queue")
    texts.sink_to(FailingSink(fuse))
    env.execute("to a queue")


if __name__ == "__main__":
    main(*sys.argv[1:])
