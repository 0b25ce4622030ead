"""What execute() shows of a running job."""

from __future__ import annotations

from scurry.runtime.progress.display import ProgressDisplay

__all__ = ["ProgressDisplay"]
