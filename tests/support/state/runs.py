"""Runs that are as large as files."""

from __future__ import annotations

import random

from scurry.runtime.state.runs import built, digest_of


def run_of(seed: int) -> tuple[int, bytes]:
    """A run of a hundred thousand bytes, and its digest."""
    blob = built([1], [b"i1"], [random.Random(seed).randbytes(100_000)])
    return digest_of(blob), blob
