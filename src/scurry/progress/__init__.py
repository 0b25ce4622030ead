"""What execute() shows of a running job."""

from __future__ import annotations

from scurry.progress.display import ProgressDisplay

__all__ = ["ProgressDisplay"]
