"""Requests to a running job, from any thread; its runner answers them between micro-batches."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import field
from itertools import count
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.job_client import REQUESTER
from scurry.errors import JobError, StateNotFoundError
from scurry.graph.plan import JobPlan
from scurry.runtime.exchange.wire import MIN_TIME, PROGRESS, QUERY, RESUMED, SAVE, SILENT, WireRow, channel_id, pack
from scurry.runtime.keys import CanonicalKey, canonical_keys, key_hash, subtask_of

#: Channel of rows from the runner itself: ticks of processing time and the end of input.
CONTROL = channel_id(0x7FFF)

#: Maximum requests of a job that wait for an answer; further ones fail.
MOST_REQUESTS = 1000


@dataclass
class SavepointRequest:
    """Request for a savepoint.

    Attributes:
        path: Its target.
        stop: Whether the job ends with it.
        drain: Whether event time ends, too, before it is taken; only if the job ends.
        has_sources: Whether it has the positions of the sources.
        future: Gets the path.
        asked_by: Client that asked for it.
    """

    path: str
    stop: bool = field(default=False, kw_only=True)
    drain: bool = field(default=False, kw_only=True)
    has_sources: bool = field(default=True, kw_only=True)
    future: Future[str] = field(default_factory=Future)
    asked_by: str = field(default_factory=REQUESTER.get)


@dataclass
class RescaleRequest:
    """Continue at another parallelism."""

    parallelism: int
    future: Future[None] = field(default_factory=Future)
    asked_by: str = field(default_factory=REQUESTER.get)


@dataclass
class CheckpointRequest:
    """Wait until the input in progress is committed."""

    future: Future[None] = field(default_factory=Future)


@dataclass
class StateRequest:
    """Read a state of a key, as it is between two micro-batches."""

    query: StateQuery
    future: Future[Any] = field(default_factory=Future)


Request = SavepointRequest | RescaleRequest


class RequestQueue:
    """The requests that a job has not answered yet."""

    def __init__(self) -> None:
        self._requests: deque[Request] = deque()
        self._state_requests: deque[StateRequest] = deque()
        self._checkpoint_requests: deque[CheckpointRequest] = deque()
        #: number of the query -> the request, until it is answered
        self._queried: dict[int, StateRequest] = {}
        #: the request that the job is about to end with
        self._last: SavepointRequest | None = None
        self._ended: str | None = None
        self._lock = threading.Lock()

    def ask(self, request: Request | StateRequest | CheckpointRequest) -> None:
        """Pass a request to the runner; it fails if the job has ended or too many requests wait."""
        with self._lock:
            reason = self._ended
            if reason is None and self._unanswered >= MOST_REQUESTS:
                reason = f"has {self._unanswered:,} requests that wait for an answer: ask again later"
            if reason is None:
                if isinstance(request, StateRequest):
                    self._state_requests.append(request)
                    self._queried[request.query.number] = request
                elif isinstance(request, CheckpointRequest):
                    self._checkpoint_requests.append(request)
                else:
                    self._requests.append(request)
                return
        request.future.set_exception(JobError(f"the job {reason}"))

    @property
    def _unanswered(self) -> int:
        return len(self._requests) + len(self._queried) + len(self._checkpoint_requests)

    def take(self) -> Request | None:
        """Return the next request to save or to rescale, or None."""
        return self._requests.popleft() if self._requests else None

    def all_is_committed(self) -> None:
        """Answer the requests for a checkpoint: no micro-batch runs."""
        while self._checkpoint_requests:
            self._checkpoint_requests.popleft().future.set_result(None)

    def state_queries(self) -> StateQueries | None:
        """Return all waiting state queries, to be answered by one micro-batch, or None."""
        waiting = [self._state_requests.popleft().query for _ in range(len(self._state_requests))]
        return StateQueries(tuple(waiting)) if waiting else None

    def answer(self, number: int, found: bool, value: Any) -> None:
        """Answer a state query: with the value, or if it was not found, with the text of the error."""
        request = self._queried.pop(number, None)
        if request is not None and not request.future.done():
            if found:
                request.future.set_result(value)
            else:
                request.future.set_exception(StateNotFoundError(value))

    def answer_at_end(self, request: SavepointRequest) -> None:
        """Answer a request to stop when the job has ended: until then it may fail, and go on from its checkpoint."""
        self._last = request

    def attempt_failed(self, error: BaseException) -> None:
        """Let the request fail that the attempt was about to end with: a job from its savepoint would repeat output."""
        request, self._last = self._last, None
        if request is not None and not request.future.done():
            failure = JobError(f"a savepoint was written to {request.path}, but the job did not end with it: {error}")
            failure.__cause__ = error
            request.future.set_exception(failure)

    def end(self, how: str) -> None:
        """End the job's requests: those not answered yet fail."""
        with self._lock:
            self._ended = how
        if self._last is not None:
            self._last.future.set_result(self._last.path)
        for request in [*self._requests, *self._queried.values(), *self._checkpoint_requests]:
            if not request.future.done():
                request.future.set_exception(JobError(f"the job {how}"))


# ------------------------------------------------------------------ what runners feed besides splits


@dataclass(frozen=True)
class Tick:
    """Advance time although no source has data."""

    watermark: int
    stamp: int

    def rows(self, plan: JobPlan) -> Iterator[WireRow]:
        return _to_all(plan, (0, self.watermark, self.stamp, SILENT))


@dataclass(frozen=True)
class Resumed:
    """Let silence of sources begin now: how long they were silent while the job did not run says nothing."""

    stamp: int

    def rows(self, plan: JobPlan) -> Iterator[WireRow]:
        """Yield the rows that say so."""
        return _to_all(plan, (0, MIN_TIME, self.stamp, RESUMED))


def _to_all(plan: JobPlan, point: tuple[int, int, int, int]) -> Iterator[WireRow]:
    """Yield the rows with a progress point of the runner's own."""
    block = pack([point])
    for edge in plan.edges.values():
        if edge.ticks:
            for subtask in plan.subtask_ids[: edge.receivers]:
                yield WireRow(subtask, edge.id, PROGRESS, CONTROL, 0, block)


@dataclass(frozen=True)
class StateQuery:
    """A query for the state of a key.

    Attributes:
        number: Identifies the answer.
        operator: Number of the operator in the plan.
    """

    number: int
    operator: int
    name: str
    key: CanonicalKey

    def rows(self, plan: JobPlan) -> Iterator[WireRow]:
        """Yield the row of the query, sent to the subtask that has the key."""
        block = pack((self.number, self.name, self.key))
        receivers = max(plan.edges[edge].receivers for edge in plan.operators[self.operator].input_edges)
        subtask = subtask_of(key_hash(self.key), plan.settings.max_parallelism, receivers)
        yield WireRow(plan.subtask_ids[subtask], self.operator, QUERY, CONTROL, 0, block)


@dataclass(frozen=True)
class StateQueries:
    """Queries that are answered by one micro-batch."""

    queries: tuple[StateQuery, ...]

    def rows(self, plan: JobPlan) -> Iterator[WireRow]:
        for query in self.queries:
            yield from query.rows(plan)


@dataclass(frozen=True)
class SaveState:
    """Let the tasks of all levels write their state into a savepoint, as it is after this micro-batch.

    Attributes:
        start: The start of the query. A later one that repeats the micro-batch writes nothing: nobody waits for it.
        links: Directory of links to runs, for a job that goes on; None if tasks write runs, too.
    """

    path: str
    start: str
    links: str | None = None

    def rows(self, plan: JobPlan) -> Iterator[WireRow]:
        """Yield a row for each subtask of each level."""
        block = pack((self.path, self.links, self.start))
        for level in range(1, plan.levels + 1):
            head = min(op.id for op in plan.heads(level))
            for subtask in plan.subtask_ids:
                yield WireRow(subtask, head, SAVE, CONTROL, 0, block)


_numbers = count(1)


def state_query(plan: JobPlan, operator: str, name: str, key: Any) -> StateQuery:
    """Return the query for a state of a key.

    Args:
        operator: Uid or name of the operator.
        key: The user's key.

    Raises:
        StateNotFoundError: There is no such operator, or it has no keyed state.
    """
    keyed = [op for op in plan.operators.values() if op.operator.keyed and op.input_edges]
    found = [op for op in keyed if op.uid == operator] or [op for op in keyed if op.name == operator]
    if len(found) != 1:
        known = ", ".join(f"{op.uid!r} ({op.name})" for op in keyed) or "none"
        raise StateNotFoundError(f"there is no one operator {operator!r} with keyed state; there are: {known}")
    (canonical,) = canonical_keys([key])
    return StateQuery(next(_numbers), found[0].id, name, canonical)
