"""TestHarness: runs a pipeline under the control of a test."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from scurry.common._api import ApiObject
from scurry.common.configuration import Configuration
from scurry.common.output_tag import OutputTag
from scurry.common.time import TimeDomain, checked_time
from scurry.common.typeinfo import TypeInformation
from scurry.common.watermark_strategy import Watermark
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.state import StateDescriptor
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.graph.nodes import OperatorNode
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.local.streaming import Levels
from scurry.runtime.operators.sink import SinkStage
from scurry.testing.captured import Captured, EveryTag, Output, StreamRecord
from scurry.testing.inputs import FedSource, Input
from scurry.testing.inspection import (
    Timer,
    broadcast_operators,
    entries_of,
    keyed_operators,
    read_broadcast_state,
    read_state,
    the_operator,
    timers_of,
)
from scurry.testing.snapshot import Snapshot, restore_snapshot, take_snapshot

__all__ = ["TestHarness"]


class TestHarness(ApiObject):
    """Run a pipeline step by step, in this process (Flink's `OneInputStreamOperatorTestHarness` and similar).

    Every step (a record, a watermark, a new processing time) is a separate micro-batch: state is written and read again
    between steps, as on Spark. Time advances only when the test advances it.

    Create it with `TestHarness.of`. As a context manager it closes the functions at the end.
    """

    __test__ = False  # pytest would collect a class named Test...

    def __init__(self, plan: JobPlan, captured: Captured, processing_time: int, snapshot: Snapshot | None) -> None:
        """Start a planned pipeline; tests call `of`."""
        self._plan = plan
        self._captured = captured
        self._now = processing_time if snapshot is None else snapshot.processing_time
        self._batch_id = 0
        self._batching = False
        self._job = JobExecution(plan)
        # a single subtask uses the functions themselves, so that a test can inspect them; several need copies
        several = len(plan.subtask_ids) > 1
        load_plan: Callable[[], JobPlan] = (lambda: copy.deepcopy(plan)) if several else (lambda: plan)
        self._inputs = [Input(plan, source, 0, lambda: self._now) for source in plan.sources.values()]
        self._levels = Levels(plan, load_plan, lambda: self._now)
        self._open()
        if snapshot is not None:
            self._restore(snapshot)

    @classmethod
    def of(
        cls,
        build: Callable[..., Any],
        *,
        input_types: Sequence[TypeInformation | None] = (),
        parallelism: int = 1,
        max_parallelism: int = 128,
        processing_time: int = 0,
        job_parameters: Mapping[str, Any] | None = None,
        snapshot: Snapshot | None = None,
    ) -> TestHarness:
        """Open a pipeline.

        Args:
            build: Takes one stream per input of the pipeline, and returns the output stream or the sink. If no operator
                has several subtasks, its functions are used without copying, so a test can inspect them.
            input_types: Declared types of the inputs; None or omitted for any Python object.
            parallelism: Subtasks of operators that do not set their own. If an operator has more than one, every
                subtask gets copies of the functions.
            max_parallelism: Number of key groups.
            processing_time: Initial processing time in milliseconds; ignored with a snapshot, which has its own.
            job_parameters: Global job parameters, for `RuntimeContext.get_job_parameter`.
            snapshot: Initial state, from `snapshot()` of a harness of the same or a compatible pipeline.

        Raises:
            ArgumentError: `build` takes no streams.
            SnapshotMismatchError: The snapshot does not fit the pipeline.
            OperatorError: A function's `open` failed.
        """
        env = _environment(parallelism, max_parallelism, job_parameters)
        streams = [
            env.from_source(FedSource(), None, f"Input {number + 1}", *input_types[number : number + 1])
            for number in range(_parameters(build))
        ]
        captured = Captured()
        result = build(*streams)
        if isinstance(result, DataStream):
            env._register(OperatorNode(inputs=(result._node,), name="Output", operator=Output(captured)))
        plan = env._plan("test")
        if len(plan.sources) < len(streams):
            raise ArgumentError(f"the pipeline uses {len(plan.sources)} of the {len(streams)} streams it was given")
        for edge in plan.edges.values():
            edge.progress = True  # the test may send watermarks and set the clock even if they are not used
        return cls(plan, captured, processing_time, snapshot)

    def _open(self) -> None:
        tasks = [each.task for each in self._inputs]
        for level, level_task in self._levels.tasks.items():
            for head in level_task.plan.heads(level):
                count = max(self._plan.edges[edge].receivers for edge in head.input_edges)
                tasks += [level_task.task(head, subtask) for subtask in range(count)]
        for task in tasks:
            for _, collector in task.collectors:
                collector.side = EveryTag(collector.side, self._captured)

    def _restore(self, snapshot: Snapshot) -> None:
        try:
            self._job.took_over(restore_snapshot(snapshot, self._plan, self._levels))
        except Exception:
            self.close()
            raise

    # ------------------------------------------------------------------ input

    def process(self, value: Any, timestamp: int | None = None, *, input: int = 1) -> None:  # noqa: A002
        """Send a record (Flink's `processElement`).

        Args:
            value: The record.
            timestamp: Its timestamp in milliseconds, None for none.
            input: The number of the stream, from 1 as in `process_element1`.

        Raises:
            TimestampError: The timestamp is not a 64-bit int.
            OperatorError: A function failed on it.
        """
        self._input(input).process([value], None if timestamp is None else [checked_time(timestamp)])
        self._step()

    def advance_watermark(self, timestamp: int, *, input: int | None = None) -> None:  # noqa: A002
        """Send a watermark (Flink's `processWatermark`): timers up to it fire.

        Args:
            timestamp: The watermark in milliseconds. It stops at an `assign_timestamps_and_watermarks`, as in Flink.
            input: The number of the stream, from 1; None for all.

        Raises:
            ArgumentError: It is lower than the last one.
            TimestampError: It is not a 64-bit int.
        """
        timestamp = checked_time(timestamp, "a watermark")
        for fed in self._inputs if input is None else [self._input(input)]:
            fed.advance_watermark(timestamp)
        self._time_has_moved()

    def advance_processing_time(self, timestamp: int) -> None:
        """Set the processing time (Flink's `setProcessingTime`): timers fire, and state with a time to live expires.

        Args:
            timestamp: The new time in milliseconds since the epoch, not a duration.

        Raises:
            ArgumentError: It is before the current time.
            TimestampError: It is not a 64-bit int.
        """
        timestamp = checked_time(timestamp, "processing time")
        if timestamp < self._now:
            raise ArgumentError(f"processing time never goes back: it is {self._now} already, not {timestamp}")
        self._now = timestamp
        self._time_has_moved()

    def end_input(self) -> None:
        """End all inputs with the +inf watermark: windows close and all event-time timers fire."""
        self.advance_watermark(MAX_TIME)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Send everything inside the `with` block as one micro-batch; outputs are available after the block."""
        self._batching = True
        try:
            yield
        finally:
            self._batching = False
        self._step()

    def _input(self, number: int) -> Input:
        if not 1 <= number <= len(self._inputs):
            raise ArgumentError(f"the pipeline has inputs 1 to {len(self._inputs)}, not {number}")
        return self._inputs[number - 1]

    def _time_has_moved(self) -> None:
        for fed in self._inputs:
            fed.cut()
        self._step()

    def _step(self) -> None:
        if self._batching:
            return
        rows = [row for fed in self._inputs for row in fed.take_rows()]
        rows = self._levels.process(rows, self._batch_id)
        self._job.commit(self._batch_id, SinkStage(self._plan, 0, self._batch_id).run(rows))
        self._batch_id += 1

    # ------------------------------------------------------------------ output

    def outputs(self) -> list[Any]:
        """Return the records emitted so far, in order (Flink's `extractOutputValues`)."""
        return [record.value for record in self.records()]

    def records(self) -> list[StreamRecord]:
        """Return the records emitted so far with their timestamps."""
        return [event for event in self._captured.events if isinstance(event, StreamRecord)]

    def watermarks(self) -> list[int]:
        """Return the watermarks emitted so far, in milliseconds."""
        return [event.timestamp for event in self._captured.events if isinstance(event, Watermark)]

    def events(self) -> list[StreamRecord | Watermark]:
        """Return records and watermarks in the order of emission (Flink's `getOutput`)."""
        return list(self._captured.events)

    def side_output(self, tag: OutputTag) -> list[Any]:
        """Return the records sent to a side output so far."""
        return [record.value for record in self.side_output_records(tag)]

    def side_output_records(self, tag: OutputTag) -> list[StreamRecord]:
        """Return the records of a side output so far with their timestamps."""
        return list(self._captured.side_output(tag.tag_id).records)

    def clear_outputs(self) -> None:
        """Drop the outputs so far, side outputs and watermarks included."""
        self._captured.clear()

    # ------------------------------------------------------------------ state and timers

    @property
    def processing_time(self) -> int:
        """The processing time, in milliseconds."""
        return self._now

    def state(
        self, descriptor: StateDescriptor, key: Any = None, *, window: Any = None, operator: str | None = None
    ) -> Any:
        """Read the state of a key as plain Python: a value, a list or a dict.

        Args:
            descriptor: The descriptor with which the function gets its state.
            key: The key; `window_all` has none.
            window: The window, for a trigger's state and for `Context.window_state()`.
            operator: Name or uid of the operator, if the pipeline has several keyed ones.

        Returns:
            The result of `value()`, `get()` or `items()`; None, [] or {} if there is no state.
        """
        if not isinstance(descriptor, StateDescriptor):
            raise ArgumentTypeError(
                "state takes the descriptor that the function gets its state with, such as "
                f"ValueStateDescriptor({descriptor!r}, Types.INT()), got {descriptor!r}"
            )
        (found,) = self._operators(operator, only_one=True)
        return read_state(found, self._levels, descriptor, key, window, self._now)

    def broadcast_state(self, descriptor: StateDescriptor, *, operator: str | None = None) -> dict[Any, Any]:
        """Read broadcast state as a dict.

        Args:
            descriptor: The descriptor with which the stream is broadcast.
            operator: Name or uid of the operator, if several have broadcast state.
        """
        return read_broadcast_state(the_operator(broadcast_operators(self._plan), operator), self._levels, descriptor)

    def num_keyed_state_entries(self, *, operator: str | None = None) -> int:
        """Return the number of non-empty states of keys (and windows), without timers.

        Args:
            operator: Name or uid of one operator; None for all.
        """
        return sum(
            len([slot for slot in entry if type(slot) is not int])
            for each in self._operators(operator)
            for entry in entries_of(each, self._levels).values()
        )

    def timers(self, key: Any = None, *, domain: TimeDomain | None = None, operator: str | None = None) -> list[Timer]:
        """Return the timers that are set, the earliest first.

        Args:
            key: Return only timers of this key.
            domain: Return only timers of this time domain.
            operator: Return only timers of the operator with this name or uid.
        """
        return [
            timer
            for timer in timers_of(self._operators(operator), self._levels)
            if (key is None or timer.key == key) and domain in (None, timer.domain)
        ]

    def num_event_time_timers(self, *, operator: str | None = None) -> int:
        """Return the number of event-time timers that are set."""
        return len(self.timers(domain=TimeDomain.EVENT_TIME, operator=operator))

    def num_processing_time_timers(self, *, operator: str | None = None) -> int:
        """Return the number of processing-time timers that are set."""
        return len(self.timers(domain=TimeDomain.PROCESSING_TIME, operator=operator))

    def num_late_records_dropped(self) -> int:
        """Return the number of late records that windows have dropped (Flink's `numLateRecordsDropped`)."""
        return self._job.totals.late_records

    def metrics(self) -> dict[str, Any]:
        """Return the metrics of the pipeline by `operator name.metric name`; see `JobClient.get_metrics`."""
        return self._job.metrics()

    def snapshot(self) -> Snapshot:
        """Return the state of all operators, for the `snapshot` argument of `of`."""
        return take_snapshot(self._plan, self._levels, self._now, self._job.state_schemas)

    def notes(self) -> list[str]:
        """Return the notes that a job would log, such as which state of a snapshot was dropped."""
        return list(self._job.log.notes)

    def _operators(self, name: str | None, only_one: bool = False) -> list[OperatorPlan]:
        """Return all keyed operators, or the one with a name."""
        operators = keyed_operators(self._plan)
        return operators if name is None and not only_one else [the_operator(operators, name)]

    # ------------------------------------------------------------------ the end

    def close(self) -> None:
        """Close the functions; does not end the input."""
        for fed in self._inputs:
            fed.close()
        self._levels.close()

    def __enter__(self) -> TestHarness:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _environment(
    parallelism: int, max_parallelism: int, job_parameters: Mapping[str, Any] | None
) -> StreamExecutionEnvironment:
    settings = Configuration()
    settings.set_string("execution.runtime-mode", "STREAMING")
    settings.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment(settings)  # not get_execution_environment, which reads the command line
    env._captures = False  # the functions themselves run, so that a test can inspect them
    env.set_parallelism(parallelism)
    env.set_max_parallelism(max_parallelism)
    env.get_config().set_global_job_parameters(job_parameters or {})
    return env


def _parameters(build: Callable[..., Any]) -> int:
    """Return the number of streams that a pipeline takes."""
    parameters = [p for p in inspect.signature(build).parameters.values() if p.default is p.empty]
    if not parameters or any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
        raise ArgumentError("build must take one stream per input, such as `lambda stream: stream.key_by(...)`")
    return len(parameters)
