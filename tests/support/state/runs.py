"""Runs that are as large as files."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa

from scurry.runtime.state import row_runs
from scurry.runtime.state.row_runs import Part, RowRun
from scurry.runtime.state.runs import built, digest_of


def run_of(seed: int) -> tuple[int, bytes]:
    """A run of a hundred thousand bytes, and its digest."""
    blob = built([1], [b"i1"], [random.Random(seed).randbytes(100_000)])
    return digest_of(blob), blob


def rows_of(seed: int) -> tuple[int, bytes]:
    """A run of rows, which nothing was merged for, and its digest."""
    texts = pa.array([random.Random(seed).randbytes(100_000)])
    batch = pa.RecordBatch.from_arrays([texts], ["text"])
    none = np.zeros(0, np.uint64)
    blob = row_runs.built([Part(np.array([seed], np.uint64), none, batch)], True, b"description")
    return digest_of(blob), blob


def merged_rows() -> tuple[int, bytes]:
    """A run of rows that is made of two, and its digest."""
    runs = [RowRun(rows_of(seed)[1]) for seed in (2, 1)]
    blob = row_runs.merged(runs, [pa.schema([("text", pa.binary())])], True)
    assert blob is not None
    return digest_of(blob), blob
