"""Checks of columns that pyarrow has read quickly: does Flink's reader have the same values?"""

from __future__ import annotations

from typing import Any


class ReaderMismatchError(Exception):
    """A column that pyarrow may read in another way than Flink."""


def require(alike: Any) -> None:
    """Check that a column of BOOLEAN, which says which values are alike, is TRUE throughout.

    Raises:
        ReaderMismatchError: A value may differ.
    """
    import pyarrow.compute as pc

    if not pc.all(alike, min_count=0).as_py():
        raise ReaderMismatchError
