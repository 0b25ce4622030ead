"""Beam's Python pipelines as jobs of scurry: `--runner=scurry.beam.ScurryRunner` (extra `scurry[beam]`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scurry.beam.runner import ScurryOptions, ScurryPipelineResult, ScurryRunner

__all__ = ["ScurryOptions", "ScurryPipelineResult", "ScurryRunner"]


def __getattr__(name: str) -> Any:
    """Return a class of the runner, which imports Beam."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scurry.common._optional import optional_module

    optional_module("ScurryRunner", "apache-beam", "beam", "apache_beam")
    from scurry.beam import runner

    return getattr(runner, name)
