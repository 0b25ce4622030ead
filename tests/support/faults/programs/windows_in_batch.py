"""The job of `windows_and_counts.py` in BATCH.

windows_in_batch.py INPUT OUTPUT PARALLELISM
"""

from __future__ import annotations

import sys

from scurry.common.configuration import Configuration
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from support.faults.programs.windows_and_counts import build


def main(source: str, output: str, parallelism: str) -> None:
    configuration = Configuration.from_dict({"restart-strategy.type": "none"})  # Spark repeats what is lost, or nobody
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(int(parallelism))
    env.set_max_parallelism(2 * int(parallelism))
    build(env, source, output)
    env.execute("windows in batch")


if __name__ == "__main__":
    main(*sys.argv[1:])
