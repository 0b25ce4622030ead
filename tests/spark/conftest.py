"""What the tests with Spark share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    from scurry.spark.session.java import ensure_java

    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    present = SparkSession.getActiveSession()
    builder = SparkSession.builder.master("local[4]").config("spark.ui.enabled", "false")
    session = present or builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    yield session
    if present is None:
        session.stop()
