"""Collections that declare STRING where they hold numbers: the source makes texts of them, as Java has them."""

# modes: streaming batch
from __future__ import annotations

from decimal import Decimal

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
numbers = [1, -(2**40), 2**80, 1.5, 1e20, 0.0001, True, Decimal("1.50"), Decimal("1E+3"), "text"]
text = Types.STRING()
env.from_collection(numbers, text).map(repr).print("alone")
env.from_collection([(i, n) for i, n in enumerate(numbers)], Types.ROW([Types.INT(), text])).map(str).print("row")
env.from_collection([Row(a=7)], Types.ROW_NAMED(["a"], [text])).map(str).print("named")
env.from_collection([(7, 8)], Types.TUPLE([text, Types.INT()])).map(repr).print("tuple")
env.from_collection([[1, "a", None]], Types.BASIC_ARRAY(text)).map(repr).print("array")
env.from_collection([{"a": 1}], Types.MAP(text, text)).map(repr).print("map")
env.from_collection([(Row(1),)], Types.ROW([Types.ROW([text])])).map(str).print("row in a row")
env.execute()
