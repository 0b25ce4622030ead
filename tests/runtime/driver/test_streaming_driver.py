"""What a STREAMING job submits to its engine, and when: an engine that only remembers takes Spark's place."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.window import TumblingProcessingTimeWindows
from scurry.errors import SavepointError
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import (
    Request,
    RescaleRequest,
    SavepointRequest,
    SaveState,
    StateQueries,
    StateRequest,
    Tick,
    state_query,
)
from scurry.runtime.driver.sink_commits import SinkCommits
from scurry.runtime.driver.streaming import (
    Cancelled,
    CommittedBatch,
    Finished,
    Rescaled,
    Stopped,
    StreamingDriver,
)
from scurry.runtime.exchange.wire import Assigned, SplitAssignment
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.testing import job_plan_of

#: What a source assigns when it is asked: (channel, split, final); () when it has nothing now.
Script = Sequence[tuple[tuple[int, Any, bool], ...]]

TWO_BATCHES: Script = [((0, "a", False), (1, "b", True)), ((0, "c", True),)]


class Letters(Source, Enumerator):
    """A source whose enumerator assigns what a script says."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._next = 0
        self.commits = 0
        self.closed = False

    def channels(self, parallelism: int) -> int:
        return 2

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return self

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        yield [work], None

    def next_batch(self) -> list[Assignment]:
        some = self._script[self._next] if self._next < len(self._script) else ()
        self._next += 1
        return [Assignment(*each) for each in some]

    def position(self) -> dict[str, Any]:
        return {"next": self._next}

    def restore(self, position: dict[str, Any]) -> None:
        self._next = position["next"]

    def committed(self) -> None:
        self.commits += 1

    def close(self) -> None:
        self.closed = True


class Engine:
    """Remembers what it gets; commits a batch when it is next waited for, unless it was told to hold or to fail."""

    replaying = False
    not_computed_again: int | None = None

    def __init__(self, recovered: SourcePositions | None = None) -> None:
        self._recovered = recovered
        self.calls: list[str] = []
        self.batches: list[Sequence[Assigned]] = []
        self.positions: list[SourcePositions] = []
        self.uncommitted = 0
        self.failure: Exception | None = None
        #: what happens while the driver waits, one step at a time
        self.steps: deque[Callable[[], object]] = deque()
        self.saved: list[tuple[str, SourcePositions | None]] = []
        #: what tasks need to save for savepoints beside the job
        self.messages: list[Assigned] = []

    def recover(self) -> SourcePositions | None:
        return self._recovered

    def start(self) -> None:
        self.calls.append("start")

    def submit(self, assigned: Sequence[Assigned], positions: SourcePositions) -> None:
        self.batches.append(assigned)
        self.positions.append(copy.deepcopy(positions))
        self.uncommitted += 1

    def committed(self) -> CommittedBatch | None:
        if self.failure is not None:
            raise self.failure
        if not self.uncommitted:
            return None
        self.uncommitted = 0
        return CommittedBatch(0.1)

    def wait(self, seconds: float) -> None:
        if self.steps:
            self.steps.popleft()()

    def finish(self) -> None:
        self.calls.append("finish")
        if self.failure is not None:
            raise self.failure

    def begin_savepoint(self, request: SavepointRequest) -> None:
        self.saved.append((request.path, None))
        request.future.set_result(request.path)

    def saving(self) -> Sequence[Assigned]:
        some, self.messages = self.messages, []
        return some

    def write_savepoint(self, request: SavepointRequest, positions: SourcePositions | None) -> None:
        self.calls.append("save")
        self.saved.append((request.path, positions))

    def save_for_rescaling(self) -> None:
        self.calls.append("save for rescaling")

    def stop(self) -> None:
        self.calls.append("stop")

    def close(self) -> None:
        self.calls.append("close")

    @property
    def splits(self) -> list[list[Any]]:
        """The splits of each batch; the names of messages that are none."""
        return [
            [each.split if isinstance(each, SplitAssignment) else type(each).__name__ for each in batch]
            for batch in self.batches
        ]


class Clock:
    """Seconds that pass when they are asked to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def plan_of(source: Source, timed: bool, settings: Mapping[str, str]) -> JobPlan:
    configuration = Configuration.from_dict({"parallelism.default": "2", **settings})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    stream = env.from_source(source, None, "letters", Types.STRING()).uid("letters")
    keyed = stream.key_by(lambda letter: letter, key_type=Types.STRING())
    (keyed.window(TumblingProcessingTimeWindows.of(1000)) if timed else keyed).reduce(max).uid("last").print()
    return job_plan_of(env, "job")


class Job:
    """A job of one source, and the driver that runs it on an engine that remembers."""

    def __init__(
        self,
        script: Script,
        recovered: SourcePositions | None = None,
        timed: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.source = Letters(script)
        self.execution = JobExecution(plan_of(self.source, timed, settings or {}))
        self.engine = Engine(recovered)
        self.clock = Clock()
        self.driver = StreamingDriver(self.execution, self.engine, clock=self.clock, wall_clock=lambda: 7)

    def at_step(self, *steps: Callable[[], object]) -> Job:
        self.engine.steps.extend(steps)
        return self

    def asks(self, request: Request | StateRequest) -> Callable[[], object]:
        return lambda: self.execution.requests.ask(request)


def nothing() -> None:
    return None


def test_a_batch_is_submitted_when_the_one_before_is_committed() -> None:
    job = Job(TWO_BATCHES)
    assert job.driver.run() == Finished()
    assert job.engine.splits == [["a", "b"], ["c"]]
    assert job.engine.calls == ["start", "finish", "stop", "close"]


def test_the_first_batch_is_there_before_the_engine_starts() -> None:
    job = Job(TWO_BATCHES)
    job.engine.start = lambda: job.engine.calls.append(f"start with {len(job.engine.batches)}")  # type: ignore[method-assign]
    job.driver.run()
    assert job.engine.calls[0] == "start with 1"


def test_positions_say_where_the_sources_stand_and_which_channels_have_ended() -> None:
    job = Job(TWO_BATCHES)
    job.driver.run()
    assert [positions.positions for positions in job.engine.positions] == [
        {"letters": {"next": 1}},
        {"letters": {"next": 2}},
    ]
    assert [positions.ended for positions in job.engine.positions] == [
        {("letters", 1)},
        {("letters", 0), ("letters", 1)},
    ]


def test_sources_learn_of_each_commit_and_are_closed() -> None:
    job = Job(TWO_BATCHES)
    job.driver.run()
    assert job.source.commits == 2
    assert job.source.closed


def test_a_job_resumes_where_the_engine_says_its_sources_stood() -> None:
    stood = SourcePositions({"letters": {"next": 1}}, {("letters", 1)})
    job = Job(TWO_BATCHES, stood)
    assert job.driver.recovered
    assert job.driver.run() == Finished()
    assert job.engine.splits == [["c"]]


def test_a_job_that_begins_with_state_has_restored_a_checkpoint() -> None:
    assert Job(TWO_BATCHES).execution.restored_checkpoints == 0
    stood = SourcePositions({"letters": {"next": 1}}, {("letters", 1)})
    assert Job(TWO_BATCHES, stood).execution.restored_checkpoints == 1


def test_nothing_new_is_read_while_the_engine_repeats_earlier_batches() -> None:
    job = Job(TWO_BATCHES, SourcePositions({"letters": {"next": 1}}, {("letters", 1)}))
    job.engine.replaying = True

    def replayed() -> None:
        assert job.engine.batches == []
        job.engine.replaying = False

    job.at_step(nothing, replayed)
    job.driver.run()
    assert job.engine.splits == [["c"]]


class FullSinks(SinkCommits):
    full = True


def test_nothing_new_is_read_while_the_output_of_a_sink_waits_but_requests_are_answered() -> None:
    job = Job(TWO_BATCHES)
    request = SavepointRequest("/saved")

    sinks = FullSinks(job.execution.plan)
    job.execution.sinks = sinks

    def taken() -> None:
        assert job.engine.splits == [["a", "b"]]
        assert request.future.done()
        sinks.full = False

    job.at_step(nothing, job.asks(request), nothing, nothing, taken)
    assert job.driver.run() == Finished()
    assert job.engine.splits == [["a", "b"], ["c"]]


def test_a_job_whose_output_waits_can_be_cancelled() -> None:
    job = Job(TWO_BATCHES)
    job.execution.sinks = FullSinks(job.execution.plan)
    job.at_step(nothing, job.execution.stopping.set)
    assert job.driver.run() == Cancelled()


def test_a_job_whose_input_had_ended_finishes_without_a_batch() -> None:
    job = Job(TWO_BATCHES, SourcePositions({"letters": {"next": 2}}, {("letters", 0), ("letters", 1)}))
    assert job.driver.run() == Finished()
    assert job.engine.batches == []


def test_channels_that_have_ended_do_not_hold_the_watermark_of_a_resumed_job_back() -> None:
    job = Job(TWO_BATCHES, SourcePositions({"letters": {"next": 1}}, {("letters", 1)}))
    source = next(iter(job.execution.plan.sources))
    assert list(job.execution.totals.source_watermarks) == [(source, 1)]


def test_an_idle_source_is_asked_again() -> None:
    job = Job([TWO_BATCHES[0], (), (), TWO_BATCHES[1]])
    job.driver.run()
    assert job.engine.splits == [["a", "b"], ["c"]]


def test_time_ticks_while_sources_are_idle_and_something_waits_for_it() -> None:
    job = Job([TWO_BATCHES[0], (), (), (), TWO_BATCHES[1]], timed=True)

    def later() -> None:
        job.clock.now += 0.2

    job.at_step(nothing, later, nothing)
    job.driver.run()
    assert job.engine.splits == [["a", "b"], ["Tick"], ["c"]]
    assert job.engine.batches[1][0] == Tick(-(2**63), 7)


def test_a_resumed_job_tells_operators_that_wait_for_time_with_its_first_batch() -> None:
    job = Job(TWO_BATCHES, SourcePositions({"letters": {"next": 1}}, {("letters", 1)}), timed=True)
    job.driver.run()
    assert job.engine.splits == [["c", "Resumed"]]


def test_an_idle_job_that_waits_for_no_time_submits_nothing() -> None:
    job = Job([TWO_BATCHES[0], (), (), TWO_BATCHES[1]])

    def later() -> None:
        job.clock.now += 10

    job.at_step(later, later, later)
    job.driver.run()
    assert job.engine.splits == [["a", "b"], ["c"]]


def test_a_pause_between_checkpoints_delays_the_next_batch() -> None:
    job = Job(TWO_BATCHES, settings={"execution.checkpointing.min-pause": "1 s"})
    seen: list[int] = []

    def look() -> None:
        seen.append(len(job.engine.batches))
        job.clock.now += 0.6

    job.at_step(look, look, look)
    job.driver.run()
    assert seen == [1, 1, 1]
    assert job.engine.splits == [["a", "b"], ["c"]]


def test_a_job_that_is_cancelled_commits_what_was_submitted() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    job.at_step(job.execution.stopping.set)
    assert job.driver.run() == Cancelled()
    assert job.engine.calls == ["start", "finish", "stop", "close"]


def test_a_savepoint_is_taken_while_the_job_runs_on() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    request = SavepointRequest("path")
    job.at_step(job.asks(request))
    assert job.driver.run() == Finished()
    assert request.future.result(0) == "path"
    assert job.engine.saved == [("path", None)]
    assert job.engine.splits == [["a", "b"], ["c"]]


def test_tasks_are_told_to_save_when_nothing_is_under_way() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    message = SaveState("path", "start", "links")
    job.at_step(lambda: job.engine.messages.append(message))
    assert job.driver.run() == Finished()
    assert job.engine.batches[1] == [message]


def test_stop_with_savepoint_reads_no_further_and_saves_when_all_is_committed() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    request = SavepointRequest("path", stop=True)
    job.at_step(job.asks(request))
    assert job.driver.run() == Stopped("path")
    assert job.engine.calls == ["start", "finish", "save", "stop", "close"]
    assert job.engine.splits == [["a", "b"]]
    assert job.engine.saved == [("path", None)]


def test_stop_with_savepoint_waits_for_batches_that_are_repeated() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    job.engine.replaying = True
    request = SavepointRequest("path", stop=True)

    def replayed() -> None:
        assert job.engine.saved == []
        job.engine.replaying = False

    job.at_step(job.asks(request), nothing, replayed)
    assert job.driver.run() == Stopped("path")


def test_stop_with_savepoint_is_refused_until_what_was_rolled_back_is_computed_again() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    job.engine.not_computed_again = 7
    request = SavepointRequest("path", stop=True)
    job.at_step(job.asks(request))
    assert job.driver.run() == Finished()
    with pytest.raises(SavepointError, match="before batch 7 is committed again.*Ask again later"):
        request.future.result(0)
    assert job.engine.saved == []


def test_stop_with_savepoint_is_answered_when_the_job_is_over() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    request = SavepointRequest("path", stop=True)
    job.at_step(job.asks(request))
    job.driver.run()
    assert not request.future.done()
    job.execution.requests.end("has ended")
    assert request.future.result(0) == "path"


def test_drain_ends_the_channels_that_are_open_and_saves_where_they_stood_before() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    job.at_step(job.asks(SavepointRequest("path", stop=True, drain=True)))
    assert job.driver.run() == Stopped("path")
    source = next(iter(job.execution.plan.sources))
    assert job.engine.batches[1] == [SplitAssignment(source, 0, None, True)]
    ((_, positions),) = job.engine.saved
    assert positions is not None
    assert positions.ended == {("letters", 1)}


def test_rescaling_ends_the_loop_at_a_batch_boundary_and_hands_the_request_on() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    request = RescaleRequest(4)
    job.at_step(job.asks(request))
    assert job.driver.run() == Rescaled(request)
    assert job.engine.calls == ["start", "finish", "save for rescaling", "stop", "close"]
    assert not request.future.done()


def test_queries_for_state_are_submitted_together_when_nothing_is_under_way() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    requests = [StateRequest(state_query(job.execution.plan, "last", "_reduce", key)) for key in "ab"]

    def ask() -> None:
        for request in requests:
            job.execution.requests.ask(request)

    job.at_step(ask)
    job.driver.run()
    (queries,) = job.engine.batches[1]
    assert queries == StateQueries(tuple(request.query for request in requests))


def test_a_failure_between_submission_and_commit_ends_the_loop_and_closes_everything() -> None:
    job = Job(TWO_BATCHES)

    def fail() -> None:
        job.engine.failure = RuntimeError("lost")

    job.at_step(fail)
    with pytest.raises(RuntimeError, match="lost"):
        job.driver.run()
    assert job.engine.calls == ["start", "stop", "close"]
    assert job.source.commits == 0
    assert job.source.closed


def test_who_waits_for_a_savepoint_learns_what_the_job_failed_with() -> None:
    job = Job([TWO_BATCHES[0], (), TWO_BATCHES[1]])
    request = SavepointRequest("path", stop=True, drain=True)

    def ask() -> None:
        job.execution.requests.ask(request)

    def fail(assigned: object, positions: object) -> None:
        raise RuntimeError("lost")

    def break_engine() -> None:
        ask()
        job.engine.submit = fail  # type: ignore[method-assign]

    job.at_step(break_engine)
    with pytest.raises(RuntimeError, match="lost"):
        job.driver.run()
    with pytest.raises(RuntimeError, match="lost"):
        request.future.result(0)
