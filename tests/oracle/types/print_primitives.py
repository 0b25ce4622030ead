"""How values of the simple types print, after a map that says its type and after one that does not."""

# parallelism: 1
# timeout: 240
# modes: streaming batch
from __future__ import annotations

from decimal import Decimal

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

CASES = [
    ("BOOLEAN", Types.BOOLEAN(), [True, False]),
    ("BYTE", Types.BYTE(), [-128, 127]),
    ("SHORT", Types.SHORT(), [-32768, 32767]),
    ("INT", Types.INT(), [-(2**31), 0, 2**31 - 1]),
    ("LONG", Types.LONG(), [-(2**63), 2**63 - 1]),
    ("FLOAT", Types.FLOAT(), [0.1, -1.5, 1e10, 1e-5]),
    ("DOUBLE", Types.DOUBLE(), [0.1, 1e300, -0.0, 1e-7, 123456789.0, float("inf"), float("nan"), 1 / 3]),
    ("STRING", Types.STRING(), ["", "a b", "ünïcödé \N{SNOWMAN}", "quote \" and '"]),
    ("BIG_DEC", Types.BIG_DEC(), [Decimal("1.50"), Decimal("-0.001"), Decimal("12345678901234567890.5")]),
]
env = StreamExecutionEnvironment.get_execution_environment()
for name, t, values in CASES:
    stream = env.from_collection(values, type_info=t)
    stream.print(name)
    stream.map(lambda v: v, output_type=t).print(name + "-typed")
    stream.map(lambda v: v).print(name + "-pickled")
env.execute()
