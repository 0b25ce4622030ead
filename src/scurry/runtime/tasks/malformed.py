"""Handling of malformed records: they are dropped, sent to dead letters, or fail the job."""

from __future__ import annotations

import traceback

from scurry.common.output_tag import DeadLetter
from scurry.connectors.source import MalformedRecords
from scurry.errors import MalformedRecordError
from scurry.graph.plan import SourcePlan
from scurry.runtime.exchange.collector import Collector
from scurry.runtime.functions.context import TaskInfo


class MalformedInput:
    """Collector of the malformed records of one reader of a source.

    Args:
        plan: The source.
        collector: Its outputs.
        info: Where it runs.
    """

    def __init__(self, plan: SourcePlan, collector: Collector, info: TaskInfo) -> None:
        self._plan = plan
        self._collector = collector
        self._info = info

    def take(self, records: MalformedRecords) -> None:
        """Count malformed records; fail with the first if the source declares neither dropping nor dead letters."""
        tag, errors = self._plan.dead_letters, records.errors
        if records.dropped:
            self.skipped(len(errors))
        elif tag is not None:
            letters = list(map(self._letter, errors))
            self._info.dead_letters(self._plan.id, letters)
            self._collector.emit_side(tag, letters, records.timestamps)
        else:
            raise errors[0]

    def skipped(self, count: int) -> None:
        """Count records that were dropped."""
        self._info.count(self._plan.id, "numMalformedRecordsDropped", count)

    def _letter(self, error: MalformedRecordError) -> DeadLetter:
        details = "".join(traceback.format_exception(error))
        return DeadLetter(
            error.record,
            type(error).__name__,
            str(error),
            self._plan.name,
            self._plan.uid,
            details,
            error.place,
            error.line,
        )
