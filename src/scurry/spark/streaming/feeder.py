"""What a streaming query is fed, batch by batch: the state it begins with, then the work of its sources."""

from __future__ import annotations

import pickle
from collections import deque
from typing import Any

from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import StateQueries, Tick
from scurry.runtime.driver.source_coordinator import SourceCoordinator
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.savepoint.restore import Restore, RestoreWork
from scurry.runtime.savepoint.taking import SourcePositions, restore_source
from scurry.spark.streaming.assignment_stream import CONTROL_SOURCE, AssignmentStream

#: (source, channel, work, final), as the assignment stream takes them.
_Dealt = tuple[int, int, Any, bool]


class Feeder:
    """Asks the sources for work and hands it to the assignment stream.

    Args:
        job: The job.
        assignments: The stream.
        restore: The savepoint its generation begins with, None if it begins with nothing or has restored it all.
    """

    def __init__(self, job: JobExecution, assignments: AssignmentStream, restore: Restore | None) -> None:
        plan = job.plan
        self._job, self._assignments = job, assignments
        self._native = [source for source in plan.sources.values() if source.source.native]
        self._all_native = len(self._native) == len(plan.sources)
        self._coordinator = SourceCoordinator(job, self._native)
        self._enumerators = self._coordinator.enumerators
        self._open_channels = {(s.uid, i) for s in self._native for i in range(s.channels)}
        self._ended: set[tuple[str, int]] = set()
        self._restored = None if restore is None else 0
        self._restoring: deque[list[RestoreWork]] = deque(restore.batches() if restore is not None else ())
        self._first: list[_Dealt] = []
        self._recover(restore)

    # ---------------------------------------------------------------- where it begins

    def _recover(self, restore: Restore | None) -> None:
        source_positions = self._assignments.recover()
        #: whether an earlier run of the job is continued
        self.recovered = source_positions is not None
        if source_positions is not None:
            self._restored = source_positions.restored
            self._ended = source_positions.ended
            for source in self._native:
                self._enumerators[source.id].restore(source_positions.positions[source.uid])
                for channel in range(source.channels):
                    if (
                        source.uid,
                        channel,
                    ) in source_positions.ended:  # it will not say again that nobody need wait for it
                        self._job.totals.source_watermarks[source.id, channel] = MAX_TIME
        if restore is not None:
            self._restore_sources(restore)
        self._open_channels -= self._ended

    def _restore_sources(self, restore: Restore) -> None:
        for source in self._native:
            if source.uid in restore.sources:
                enumerator = self._enumerators[source.id]
                for first in restore_source(source, restore.sources[source.uid], enumerator):
                    self._first.append((source.id, first.channel, first.work, first.final))

    # ---------------------------------------------------------------- feeding

    @property
    def restoring(self) -> bool:
        """Whether there is state left to restore before the sources are read."""
        return bool(self._restoring)

    def feed(self) -> bool:
        """Hands on what comes next; returns whether there was anything."""
        if self._restoring:
            works = self._restoring.popleft()
            assert self._restored is not None
            self._restored = self._restored + 1 if self._restoring else None
            dealt: list[_Dealt] = [(CONTROL_SOURCE, 0, work, False) for work in works]
            self._add(dealt if self._restoring else dealt + self._begin())
            return True
        dealt = [
            (source.id, assignment.channel, assignment.work, assignment.final)
            for source in self._native
            for assignment in self._coordinator.next(source)
        ]
        if dealt:
            self._add(dealt)
        return bool(dealt)

    def _begin(self) -> list[_Dealt]:
        """What the sources have to read first, with the last of the state to restore."""
        dealt, self._first = self._first, []
        return dealt

    def _add(self, dealt: list[_Dealt]) -> None:
        uids = {source.id: source.uid for source in self._native}
        self._ended.update((uids[source], channel) for source, channel, _, final in dealt if final)
        self._open_channels -= self._ended
        source_positions = self.source_positions()
        self._job.checkpoints.source_positions = source_positions.positions
        self._assignments.add(dealt, source_positions)

    def source_positions(self) -> SourcePositions:
        """Where the sources stand now."""
        positions = {source.uid: self._enumerators[source.id].position() for source in self._native}
        return SourcePositions(positions, self._ended, self._restored)

    def tick(self) -> None:
        """Lets processing time pass although no source has data."""
        self._add([(CONTROL_SOURCE, 0, Tick(MIN_TIME, wall_clock_ms()), False)])

    def ask(self, queries: StateQueries) -> None:
        """Ask for the state of keys, in one task of one micro-batch."""
        self._add([(CONTROL_SOURCE, 0, queries, False)])

    def end_of_input(self) -> SourcePositions:
        """Lets every source end where it stands; returns where that is."""
        source_positions: SourcePositions = pickle.loads(pickle.dumps(self.source_positions(), 5))
        numbers = {source.uid: source.id for source in self._native}
        if self._open_channels:
            self._add([(numbers[uid], channel, None, True) for uid, channel in sorted(self._open_channels)])
        return source_positions

    @property
    def all_ended(self) -> bool:
        """Whether every source has ended, and all state is restored."""
        return self._all_native and not self._open_channels and not self._restoring

    @property
    def all_native(self) -> bool:
        """Whether everything the query reads comes from here."""
        return self._all_native

    def committed(self, seconds: float) -> None:
        """What the sources have dealt is committed; the batch took so many seconds."""
        self._coordinator.batch_took(seconds)
        self._coordinator.committed()

    def close(self) -> None:
        """Closes the sources."""
        self._coordinator.close()
