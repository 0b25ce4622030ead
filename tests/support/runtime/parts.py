"""Batches in parts: state is in runs at once, and written back after each block and each group of timers.

Any number of timers that are due counts as many.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from scurry.runtime.state import backend, run_groups, writing
from scurry.runtime.tasks import level_task


@contextmanager
def in_parts() -> Iterator[None]:
    """Process batches in parts as small as they can be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "_LEAST_KEYS", 0)
        patch.setattr(level_task, "STATE_BYTES", 0)
        patch.setattr(writing, "RUN_PAGES", 0)
        patch.setattr(run_groups, "MANY_DUE", 0)
        yield
