"""Progress display of `execute()`."""

from __future__ import annotations

from scurry.runtime.progress.display import ProgressDisplay

__all__ = ["ProgressDisplay"]
