"""Sessions of jobs have the functions of Spark ML from the import of `pyspark.ml` on."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import sys

from scurry.datastream import StreamExecutionEnvironment

{before}
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).map(lambda value: value).print()
env.execute()

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
waits = any(type(finder).__module__.endswith("ml_functions") for finder in sys.meta_path)
print("WAITS", waits, "Without" in loader.toString())

from pyspark.ml.functions import array_to_vector, vector_to_array

for session in (spark, spark.newSession()):
    numbers = session.range(3).selectExpr("array(CAST(id AS DOUBLE)) AS a")
    print("FOUND", [row.a for row in numbers.select(vector_to_array(array_to_vector("a")).alias("a")).collect()])
"""


@pytest.mark.spark
@pytest.mark.parametrize(("before", "waits"), [("", True), ("import pyspark.ml", False)])
def test_a_program_finds_the_functions_whenever_it_imports_them(before: str, waits: bool) -> None:
    program = _PROGRAM.format(before=before)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert f"WAITS {waits} False" in done.stdout, done.stderr
    assert done.stdout.count("FOUND [[0.0], [1.0], [2.0]]") == 2, done.stderr
