"""While records are processed in this process, Python looks for garbage as rarely as in Spark's workers."""

from __future__ import annotations

import gc

import pytest

from scurry.common._garbage import RARELY, rarely_collected
from scurry.testing import TestHarness


def test_thresholds_are_raised_while_records_are_processed_and_no_longer() -> None:
    before, during = gc.get_threshold(), []
    assert before != RARELY
    with TestHarness.of(lambda stream: stream.key_by(str).map(lambda _: during.append(gc.get_threshold()))) as harness:
        harness.process(1)
    assert during == [RARELY]
    assert gc.get_threshold() == before


def test_the_last_one_to_leave_restores_the_thresholds() -> None:
    before = gc.get_threshold()
    with pytest.raises(RuntimeError), rarely_collected():
        with rarely_collected():
            pass
        assert gc.get_threshold() == RARELY
        raise RuntimeError
    assert gc.get_threshold() == before
