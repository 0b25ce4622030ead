"""In STREAMING mode cache() is accepted, and every job computes the stream."""

from __future__ import annotations

import os
import tempfile

from pyflink.common import Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

log = os.path.join(tempfile.mkdtemp(), "calls")


def noisy(x):
    with open(log, "a") as f:
        f.write(f"{x}\n")
    return x * x


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
cached = env.from_collection([1, 2, 3], type_info=Types.INT()).map(noisy, output_type=Types.INT()).cache()
for _ in range(2):
    print(sorted(cached.execute_and_collect()))
with open(log) as f:
    print("calls", len(f.readlines()))
