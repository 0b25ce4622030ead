"""What a job's sources are fed: how much one micro-batch may read, and all there is to read in BATCH."""

from __future__ import annotations

from typing import Any

from scurry.connectors.source import BatchLimits
from scurry.graph.plan import JobPlan


def limits_of(plan: JobPlan) -> BatchLimits:
    """How much a micro-batch may read, from the configuration."""
    configuration = plan.settings.configuration
    return BatchLimits(
        int(configuration.get("scurry.batch.max-bytes", BatchLimits.max_bytes)),
        int(configuration.get("scurry.batch.max-records", BatchLimits.max_records)),
    )


def all_works(plan: JobPlan, source: Any) -> dict[int, list[Any]]:
    """Everything a bounded source has to read, by channel."""
    enumerator = source.source.create_enumerator(source.parallelism, limits_of(plan))
    works: dict[int, list[Any]] = {number: [] for number in range(source.channels)}
    while assignments := enumerator.next_batch():
        for assignment in assignments:
            if assignment.work is not None:
                works[assignment.channel].append(assignment.work)
    return works
