"""The engine on Spark, for layers below it: its parts are loaded by name when a job needs them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

#: Part of the engine -> its module. No module below the engine imports it in another way.
SPARK = {
    "prewarm": "scurry.spark.session.prewarm",
    "java": "scurry.spark.session.java",
    "runner": "scurry.spark.runner",
    "shared": "scurry.spark.session.shared",
    "tables": "scurry.spark.tables.execution",
}

_has_begun = False


def spark(part: str) -> Any:
    """Return the module of a part of the engine on Spark, a key of `SPARK`."""
    return importlib.import_module(SPARK[part])


def start_early(configuration: Mapping[str, str]) -> None:
    """Begin to start the JVM for a program with some settings; the job reports any failure."""
    global _has_begun
    if configuration.get("scurry.runner", "spark") == "spark" or _has_begun:
        _has_begun = True
        with suppress(Exception):
            spark("prewarm").begin(configuration)


def end_early() -> None:
    """End the JVM that `start_early` has started if no job has used it."""
    if _has_begun:
        with suppress(Exception):
            spark("prewarm").end_early_jvm()


def join_session() -> None:
    """Join the Spark application of the session that has started this process."""
    spark("shared").join()
