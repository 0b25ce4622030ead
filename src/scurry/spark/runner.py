"""Choose between the BATCH and the STREAMING runner on Spark."""

from __future__ import annotations

from scurry.graph.plan import JobPlan
from scurry.runtime.driver.job import Runner


def runner_for(plan: JobPlan) -> Runner:
    """Return the runner for the plan's mode."""
    if plan.settings.mode == "BATCH":
        from scurry.spark.batch import BatchRunner

        return BatchRunner()
    from scurry.spark.streaming.runner import StreamingRunner

    return StreamingRunner()
