"""Objects of a program's own classes travel between operators without a declared type, also as state and in lists."""

# parallelism: 1
from __future__ import annotations

import dataclasses
import enum

from pyflink.common import Types
from pyflink.datastream import (
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import (
    ListStateDescriptor,
)


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Collect(KeyedProcessFunction):
    def open(self, runtime_context):
        self.points = runtime_context.get_list_state(ListStateDescriptor("points", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx):
        self.points.add(value)
        yield list(self.points.get())


env = StreamExecutionEnvironment.get_execution_environment()
points = env.from_collection([1, 2, 3], type_info=Types.INT()).map(lambda n: Point(n, n * n))
points.print("points")
points.map(lambda p: (p, Color.RED if p.x % 2 else Color.GREEN)).map(lambda v: v[1].name).print("colors")
points.key_by(lambda p: "all", key_type=Types.STRING()).process(Collect()).map(lambda ps: sum(p.y for p in ps)).print(
    "sums"
)
env.execute()
