"""Start the JVM early, before a program submits its first job on Spark."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

__all__ = ["end_early", "join_session", "start_early"]


def start_early(configuration: Mapping[str, str]) -> None:
    """Begin to start the JVM for a program with some settings; the job reports any failure."""
    with suppress(Exception):
        early: Any = importlib.import_module("scurry.spark.session.early")
        early.begin(configuration)


def end_early() -> None:
    """End the JVM that `start_early` has started if no job has used it."""
    with suppress(Exception):
        early: Any = importlib.import_module("scurry.spark.session.early")
        early.end_early_jvm()


def join_session() -> None:
    """Join the Spark application of the session that has started this process."""
    shared: Any = importlib.import_module("scurry.spark.session.shared")
    shared.join()
