"""Hadoop's settings without their origins, which Spark would compress in every micro-batch."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.spark.session.session import forget_origins


@pytest.mark.spark
def test_settings_stay_when_their_origins_are_forgotten(spark: Any) -> None:
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    settings.set("fs.scurry.test", "value")
    values = [settings.get(key) for key in ("fs.scurry.test", "fs.defaultFS", "io.file.buffer.size")]
    assert settings.getPropertySources("fs.scurry.test") is not None
    forget_origins(spark)
    assert settings.getPropertySources("fs.scurry.test") is None
    assert [settings.get(key) for key in ("fs.scurry.test", "fs.defaultFS", "io.file.buffer.size")] == values
