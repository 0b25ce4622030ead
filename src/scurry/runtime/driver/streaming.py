"""The driver of a STREAMING job: one loop for every engine that executes micro-batches.

It defines draining, ticks, requests, idle channels, source positions, restored state and ends of sources. An engine
executes what is submitted to it, in order, and reports commits.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from scurry._dataclasses import dataclass
from scurry.errors import SavepointError
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import Request, RescaleRequest, Resumed, SavepointRequest, Tick
from scurry.runtime.driver.source_coordinator import SourceCoordinator
from scurry.runtime.driver.steps import Steps, Wait, in_this_thread
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME, Assigned, SplitAssignment
from scurry.runtime.savepoint.format import new_savepoint_path
from scurry.runtime.savepoint.metadata import SourcePositions, restore_source
from scurry.runtime.savepoint.restore import Restore, Work

#: Seconds to wait for a commit before requests and sources are looked at again.
_POLL_SECONDS = 0.01


@dataclass(frozen=True)
class Finished:
    """All input is processed and committed."""


@dataclass(frozen=True)
class Cancelled:
    """The job was stopped or cancelled; all submitted batches are committed."""


@dataclass(frozen=True)
class Stopped:
    """The job ended with a savepoint."""

    path: str


@dataclass(frozen=True)
class Rescaled:
    """The job ended at a batch boundary and continues at another parallelism."""

    request: RescaleRequest


Outcome = Finished | Cancelled | Stopped | Rescaled


@dataclass(frozen=True)
class CommittedBatch:
    """A micro-batch that was committed.

    Attributes:
        seconds: How long it took, without what the engine needs for planning and its logs.
    """

    seconds: float


class MicroBatchEngine(Protocol):
    """Execute micro-batches of a job."""

    def recover(self) -> SourcePositions | None:
        """Return the source positions after the batches of earlier attempts, None without such batches."""

    @property
    def replaying(self) -> bool:
        """Return whether batches of an earlier attempt must still be repeated; new assignments wait for them."""

    @property
    def not_computed_again(self) -> int | None:
        """Return the newest batch that sinks may know and that was rolled back, until it is computed again."""

    def start(self) -> None:
        """Begin to execute; the first submission, if any, was made before."""

    def submit(self, assigned: Sequence[Assigned], positions: SourcePositions) -> None:
        """Include all of `assigned` in the next micro-batch; `positions` are the source positions after it."""

    def committed(self) -> CommittedBatch | None:
        """Return a batch that was committed since the last call, None without one.

        Raises:
            BaseException: The error of the engine.
        """

    def wait(self, seconds: float) -> None:
        """Block the present thread until `committed` has a batch, so many seconds at most."""

    def finish(self) -> None:
        """Wait until all that was submitted is committed.

        Raises:
            BaseException: The error of the engine.
        """

    def begin_savepoint(self, request: SavepointRequest) -> None:
        """Save the committed state, while the job continues; the request's future gets the path, or the error."""

    def saving(self) -> Sequence[Assigned]:
        """Return the messages that let tasks save for savepoints that were begun; the next micro-batch has them."""

    def write_savepoint(self, request: SavepointRequest, positions: SourcePositions | None) -> None:
        """Save the committed state, after `finish`; `positions` are those before draining, None without draining."""

    def save_for_rescaling(self) -> None:
        """Save the committed state for the same job at another parallelism, if that is quicker than after `stop`."""

    def stop(self) -> None:
        """Stop executing, and wait for savepoints that were begun."""

    def close(self) -> None:
        """Close the user's functions and release everything."""


class StreamingDriver:
    """Submit micro-batches to an engine until the sources end or the job must stop.

    Args:
        engine: Executes the micro-batches.
        restore: The savepoint to restore; None without one, or once all of it was restored.
        next_request: Returns the next request to save or to rescale, or None.
        interval_ms: Shortest time between the starts of two micro-batches, unless a source is behind; for an engine
            that does not keep an interval itself.
        clock: Seconds of a clock that does not go back; the job's if not given.
        wall_clock: Returns processing time, in milliseconds; the job's if not given.
    """

    def __init__(
        self,
        job: JobExecution,
        engine: MicroBatchEngine,
        restore: Restore | None = None,
        next_request: Callable[[], Request | None] | None = None,
        interval_ms: int = 0,
        clock: Callable[[], float] | None = None,
        wall_clock: Callable[[], int] | None = None,
    ) -> None:
        plan = job.plan
        self._job, self._engine, self._plan = job, engine, plan
        self._next_request = next_request or job.requests.take
        self._clock, self._wall_clock = clock or job.clock.monotonic, wall_clock or job.clock.wall_ms
        self._interval_seconds = interval_ms / 1000
        self._sources = [source for source in plan.sources.values() if source.source.native]
        self._uids = {source.id: source.uid for source in self._sources}
        #: whether the driver assigns all input; Spark itself reads streaming DataFrames
        self._all_native = len(self._sources) == len(plan.sources)
        self._coordinator = SourceCoordinator(job, self._sources)
        self._open_channels = {(source.uid, i) for source in self._sources for i in range(source.channels)}
        self._ended: set[tuple[str, int]] = set()
        self._restored = None if restore is None else 0
        self._restoring: deque[list[Work]] = deque(() if restore is None else restore.batches())
        self._first: list[Assigned] = []
        #: whether a submission awaits its commit: submitting more would make the next batch too large
        self._submitted = False
        self._recover(restore)

    # ---------------------------------------------------------------- the start

    def _recover(self, restore: Restore | None) -> None:
        positions = self._engine.recover()
        #: whether the engine continues an earlier attempt or run of the job
        self.recovered = positions is not None
        #: whether operators still have to be told that the job did not run for a while
        self._resumes = (self.recovered or restore is not None) and self._plan.ticks
        if self.recovered or restore is not None:
            self._job.checkpoints.restored += 1
        enumerators = self._coordinator.enumerators
        if positions is not None:
            self._restored, self._ended = positions.restored, set(positions.ended)
            for source in self._sources:
                enumerators[source.id].restore(positions.positions[source.uid])
                for channel in range(source.channels):
                    if (source.uid, channel) in self._ended:  # it will not report its end again
                        self._job.totals.source_watermarks[source.id, channel] = MAX_TIME
        if restore is not None:
            for source in self._sources:
                if source.uid in restore.sources:
                    first = restore_source(source, restore.sources[source.uid], enumerators[source.id])
                    self._first += [SplitAssignment(source.id, each.channel, each.work, each.final) for each in first]
        self._open_channels -= self._ended

    # ---------------------------------------------------------------- the loop

    def run(self) -> Outcome:
        """Run all steps in the present thread, which waits for the engine between them; return how the job ended.

        Raises:
            BaseException: The error of the job.
        """
        return in_this_thread(self.steps())

    def steps(self) -> Steps[Outcome]:
        """Run until the sources end or the job must stop, and return how it ended.

        A step looks once at the engine, the requests and the sources, and submits at most one micro-batch of input.

        Raises:
            BaseException: The error of the job.
        """
        stop: SavepointRequest | RescaleRequest | None = None
        drained: SourcePositions | None = None
        try:
            self._job.start_clock()
            self._submit_next()
            self._engine.start()
            try:
                stop = yield from self._run_batches()
                if isinstance(stop, SavepointRequest) and stop.drain:
                    drained = self._end_input()
                self._finish()
                return self._outcome(stop, drained)
            finally:
                self._engine.stop()
        except BaseException as error:
            self._job.requests.attempt_failed(error)
            if stop is not None and not stop.future.done():
                stop.future.set_exception(error)
            raise
        finally:
            self._engine.close()
            self._coordinator.close()

    def _run_batches(self) -> Steps[SavepointRequest | RescaleRequest | None]:
        """Submit batch after batch; return the request that ends this, None if the sources or the job ended."""
        idle_since = began = self._clock()
        resume_at = 0.0
        tick_seconds = int(self._plan.settings.configuration.get("scurry.tick-interval", 200)) / 1000
        while not (self._job.stopping.is_set() or self._all_ended):
            stop = self._serve()
            if stop is not None:
                return stop
            # submit the next batch directly after a commit: it is ready when Spark has written its own commit
            yield Wait(_POLL_SECONDS, self._engine.wait)
            committed = self._engine.committed()
            if committed is not None:
                interval = 0.0 if self._restoring or self._coordinator.behind else self._interval_seconds
                self._batch_committed(committed)
                pause = self._clock() + self._plan.settings.checkpoint_pause_ms / 1000
                resume_at = max(began + interval, pause)
            if self._submitted:
                continue
            self._job.requests.all_is_committed()
            self._submit_requests()
            if self._clock() < resume_at or self._job.sinks.full:
                continue
            now = self._clock()
            if self._submit_next():
                began, idle_since = now, self._clock()
            elif self._plan.ticks and self._clock() - idle_since >= tick_seconds:
                began = idle_since = self._clock()
                self._submit([Tick(MIN_TIME, self._wall_clock())])
        return None

    def _finish(self) -> None:
        """Wait until everything is committed, and notify the sources."""
        self._engine.finish()
        committed = self._engine.committed()
        if committed is not None:
            self._batch_committed(committed)

    def _batch_committed(self, batch: CommittedBatch) -> None:
        self._submitted = False
        self._coordinator.batch_took(batch.seconds)
        self._coordinator.committed()

    @property
    def _all_ended(self) -> bool:
        return self._all_native and not self._open_channels and not self._restoring

    def _outcome(self, stop: SavepointRequest | RescaleRequest | None, drained: SourcePositions | None) -> Outcome:
        if isinstance(stop, RescaleRequest):
            self._engine.save_for_rescaling()
            return Rescaled(stop)
        if isinstance(stop, SavepointRequest):
            self._engine.write_savepoint(stop, drained)
            self._job.requests.answer_at_end(stop)
            return Stopped(stop.path)
        if not self._all_ended:
            return Cancelled()
        self._save_history()
        return Finished()

    def _save_history(self) -> None:
        """Save the state of a job over history, if another one goes on with it, from sources of its own."""
        directory = self._plan.settings.final_savepoint_dir
        if directory is not None:
            path = new_savepoint_path(directory, str(self._job.job_id))
            self._engine.write_savepoint(SavepointRequest(path, has_sources=False), None)
            self._job.savepoint_path = path

    # ---------------------------------------------------------------- requests

    def _serve(self) -> SavepointRequest | RescaleRequest | None:
        """Answer the next request, or return it if the engine must stop for it."""
        if self._restoring or self._engine.replaying:
            return None
        request = self._next_request()
        if not isinstance(request, SavepointRequest):
            return request
        if not request.stop:
            self._engine.begin_savepoint(request)
        elif (batch := self._engine.not_computed_again) is not None:
            request.future.set_exception(
                SavepointError(
                    f"the job cannot stop with a savepoint before batch {batch} is committed again: it was rolled "
                    "back, as files of the checkpoint were damaged. Sinks may have its output, which a job from the "
                    "savepoint would repeat. Ask again later"
                )
            )
        else:
            return request
        return None

    def _submit_requests(self) -> None:
        """Submit the state queries that arrived since the last batch began, all in one message, and savepoints."""
        if self._restoring:
            return
        queries = self._job.requests.state_queries()
        messages = [*([] if queries is None else [queries]), *self._engine.saving()]
        if messages:
            self._submit(messages)

    def _end_input(self) -> SourcePositions:
        """Let every source end at its present position; return the positions."""
        positions: SourcePositions = pickle.loads(pickle.dumps(self._positions(), 5))
        numbers = {uid: number for number, uid in self._uids.items()}
        if self._open_channels:
            self._submit([SplitAssignment(numbers[uid], i, None, True) for uid, i in sorted(self._open_channels)])
        return positions

    # ---------------------------------------------------------------- batches

    def _submit_next(self) -> bool:
        """Submit state to restore, or else the assignments of the sources; return whether anything was submitted."""
        if self._engine.replaying:
            return False
        if self._restoring:
            self._submit_state()
            return True
        assigned = [
            SplitAssignment(source.id, each.channel, each.work, each.final)
            for source in self._sources
            for each in self._coordinator.next(source)
        ]
        if assigned:
            self._submit(assigned)
        return bool(assigned)

    def _submit_state(self) -> None:
        """Submit the next part of the state to restore; the first assignments of the sources go with the last part."""
        assert self._restored is not None
        assigned: list[Assigned] = [*self._restoring.popleft()]
        if self._restoring:
            self._restored += 1
        else:
            self._restored = None
            assigned += self._first
            self._first = []
        self._submit(assigned)

    def _submit(self, assigned: Sequence[Assigned]) -> None:
        if self._resumes and not self._restoring:
            self._resumes = False
            assigned = [*assigned, Resumed(self._wall_clock())]
        ended = {(self._uids[a.source], a.channel) for a in assigned if isinstance(a, SplitAssignment) and a.final}
        self._ended |= ended
        self._open_channels -= ended
        positions = self._positions()
        self._job.checkpoints.source_positions = positions.positions
        self._job.require_directory()
        self._engine.submit(assigned, positions)
        self._submitted = True

    def _positions(self) -> SourcePositions:
        enumerators = self._coordinator.enumerators
        positions = {source.uid: enumerators[source.id].position() for source in self._sources}
        return SourcePositions(positions, set(self._ended), self._restored)
