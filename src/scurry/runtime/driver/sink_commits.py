"""The committers of a job's sinks, which run on the driver."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from scurry.connectors.sink import Committer
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan
from scurry.runtime.failure import operator_error
from scurry.runtime.operators.sink import sink_id


class SinkCommits:
    """Commit the output of a job's sinks.

    Args:
        plan: The plan; its job key may still change before the first use of a committer.
    """

    def __init__(self, plan: JobPlan) -> None:
        self._plan = plan
        self._latest = 0

    @cached_property
    def _committers(self) -> dict[int, Committer]:
        job_key, committers = self._plan.settings.job_key, {}
        for number, plan in self._plan.operators.items():
            if isinstance(plan.operator, ops.Sink) and plan.operator.function.native:
                try:
                    committers[number] = plan.operator.function.create_committer(sink_id(plan, job_key))
                except Exception as error:
                    raise operator_error(plan, error) from error
        return committers

    def open(self) -> None:
        """Create the committers at the first call."""
        _ = self._committers

    @property
    def are_lasting(self) -> bool:
        """Return whether output that is committed is still there when the job starts again in another process."""
        return any(committer.is_lasting for committer in self._committers.values())

    def commit(self, batch_id: int, committables: Mapping[int, list[Any]]) -> None:
        """Commit a batch: every sink, in the order of their numbers, also those to which nothing was written.

        Args:
            committables: Sink -> what its writers returned.

        Raises:
            OperatorError: A committer failed; those after it have not committed.
        """
        assert batch_id >= self._latest, f"batch {batch_id} is committed after batch {self._latest}"
        written = {number for number, some in committables.items() if some}  # Spark commits what its own sinks write
        assert written <= self._committers.keys(), f"committables of {sorted(written)}: not all have committers"
        self._latest = batch_id
        for number, committer in self._committers.items():
            try:
                committer.commit(batch_id, committables.get(number, []))
            except Exception as error:
                raise operator_error(self._plan.operators[number], error) from error

    @property
    def full(self) -> bool:
        """Return whether the output of a sink waits to be taken, and the job should wait for that."""
        return any(committer.is_full for committer in vars(self).get("_committers", {}).values())

    def restarted(self) -> None:
        """Notify the committers that the job begins another attempt."""
        self._latest = 0
        for committer in vars(self).get("_committers", {}).values():
            committer.restarted()

    def finish(self) -> None:
        """Finish the committers: the input has ended and every batch is committed."""
        for committer in self._committers.values():
            committer.finish()
