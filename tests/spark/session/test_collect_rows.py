"""The rows of a micro-batch, collected by the class in the driver's JVM, are those that the DataFrame collects."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from scurry.spark.session.jvm_classes.collect_rows import collect_frame, row_collector
from scurry.spark.session.jvm_classes.jar import jar_path

_PROGRAM = """
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.exchange.wire import SCHEMA
from scurry.spark.session.jvm_classes.collect_rows import collect_frame, row_collector

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).map(lambda value: value).print()
env.execute()

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
collect = row_collector(spark)
print("OWN", collect is not collect_frame)


def frame(rows, partitions=3):
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), SCHEMA)


for name, block in (("none", None), ("small", b"\\0\\xff"), ("empty", b""), ("large", bytes(range(256)) * 4000)):
    rows = [] if block is None else [(-1 - i, i, 2, 3, -(1 << 60) + i, block * (i % 2)) for i in range(5)]
    print(name.upper(), collect(frame(rows)) == collect_frame(frame(rows)) and len(collect(frame(rows))))


def fail(row):
    raise ValueError(f"no row {row.seq}")


try:
    broken = spark.createDataFrame(frame([(0, 0, 0, 0, 7, b"")]).rdd.map(fail), SCHEMA)
    collect(broken)
except Exception as error:
    print("ERROR", "no row 7" in str(error), type(error).__module__)
"""


@pytest.mark.spark
def test_the_class_collects_what_the_frame_does() -> None:
    assert jar_path().is_file()
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=300)
    found = [line for line in done.stdout.splitlines() if line.split(" ")[0].isupper()]
    assert found == [
        "OWN True",
        "NONE 0",
        "SMALL 5",
        "EMPTY 5",
        "LARGE 5",
        "ERROR True pyspark.errors.exceptions.captured",
    ], done.stderr


_WITHOUT_THE_CLASS = """
from pyspark.sql import SparkSession

from scurry.spark.session.java import ensure_java
from scurry.spark.session.jvm_classes.collect_rows import collect_frame, row_collector

ensure_java()
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("OWN", row_collector(spark) is not collect_frame)
"""


@pytest.mark.spark
def test_a_session_whose_jvm_has_no_such_class_collects_the_frame() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_THE_CLASS], capture_output=True, text=True, timeout=300)
    assert "OWN False" in done.stdout, done.stderr


def test_a_cluster_whose_executors_have_no_such_class_collects_the_frame() -> None:
    cluster = SimpleNamespace(_jvm=None, sparkContext=SimpleNamespace(master="local-cluster[2,1,1024]"))
    assert row_collector(cluster) is collect_frame
