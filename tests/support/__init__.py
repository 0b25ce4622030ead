"""What tests share: programs they start, models they compare with, and everything else that is not a test itself."""

from __future__ import annotations

from pathlib import Path

#: The directory that makes `support` importable, also for the processes that tests start.
TESTS = Path(__file__).parents[1]
