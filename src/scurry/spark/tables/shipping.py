"""Shipping of plans to Python tasks, which load them after the worker can import the user-defined functions."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from scurry.common.pickling import by_value
from scurry.graph.dependencies import WorkerSetup

_setup: ContextVar[WorkerSetup | None] = ContextVar("setup", default=None)


@contextmanager
def preparing_workers(setup: WorkerSetup) -> Iterator[None]:
    """Ship objects meanwhile with the setup that their workers need."""
    token = _setup.set(setup)
    try:
        yield
    finally:
        _setup.reset(token)


class Shipped:
    """A value that was pickled on the driver, with the setup of its worker."""

    def __init__(self, value: Any) -> None:
        """Pickle a value."""
        self._pickled = by_value(value)
        self._setup = _setup.get() or WorkerSetup()
        # the program imports scurry as pyflink, so that workers must, too
        self._aliased = "scurry.pyflink_alias" in sys.modules

    def load(self) -> Any:
        """Return a copy of the value, in a worker."""
        if self._aliased:
            import scurry.pyflink_alias  # noqa: F401
        self._setup.activate(_downloads)
        return pickle.loads(self._pickled)


def _downloads() -> str:
    from pyspark import SparkFiles

    return SparkFiles.getRootDirectory()
