"""The objects passed to user functions: the runtime context, the timer service and the process contexts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common.output_tag import DeadLetter
from scurry.errors import ArgumentTypeError, KeyedStateError
from scurry.runtime.clock import ProcessingClock
from scurry.runtime.exchange.report import DeadLetterSample, TaskReport
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.failure import shorten
from scurry.runtime.functions.metrics import OperatorMetricGroup
from scurry.runtime.keys import original_key
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.declared import StateConversion, conversion_of
from scurry.runtime.state.primitives import plain_value
from scurry.runtime.state.registry import StateRegistry
from scurry.runtime.state.slots import EVENT, PROCESSING, window_state
from scurry.runtime.state.states import create_state

if TYPE_CHECKING:
    from scurry.graph.plan import OperatorPlan
    from scurry.runtime.functions.state_descriptor import StateDescriptor


#: The most dead letters that a task reports of a batch.
_SAMPLES = 5


class TaskInfo:
    """The subtask in which an operator instance runs, and its metrics."""

    def __init__(
        self,
        subtask: int,
        parallelism: int,
        max_parallelism: int,
        batch_id: int = 0,
        mode: str = "STREAMING",
        job_parameters: dict[str, str] | None = None,
        clock: ProcessingClock | None = None,
        job_key: str = "",
        attempt: int = 0,
        saves_state: bool = False,
    ) -> None:
        self.job_key = job_key
        self.attempt = attempt
        self.subtask = subtask
        self.parallelism = parallelism
        self.max_parallelism = max_parallelism
        self.batch_id = batch_id
        self.mode = mode
        #: in BATCH: whether the job ends in a savepoint, so that event time ends at the last watermarks
        self.saves_state = saves_state
        self.job_parameters = job_parameters or {}
        self.clock = clock or ProcessingClock()
        #: what the task has to report since its last report
        self.report = TaskReport()
        #: (operator id, metric) -> a metric that user functions registered, of a class in `functions/metrics.py`
        self.user_metrics: dict[tuple[int, str], Any] = {}

    def count(self, operator: int, metric: str, value: int = 1) -> None:
        """Add to one of scurry's own counters."""
        counters = self.report.counters
        counters[operator, metric] = counters.get((operator, metric), 0) + value

    def dead_letters(self, operator: int, letters: Sequence[DeadLetter]) -> None:
        """Count the dead letters of an operator or source, and report the first of a batch as samples."""
        self.count(operator, "numDeadLetters", len(letters))
        samples = self.report.dead_letters
        samples += [
            DeadLetterSample(operator, shorten(one.record), one.error, one.message, one.place, one.line)
            for one in letters[: max(0, _SAMPLES - len(samples))]
        ]


class StateAccess:
    """The keyed states of one operator instance, bound to the backend of the current batch."""

    def __init__(self, plan: OperatorPlan, clock: ProcessingClock) -> None:
        self.backend: KeyedStateBackend | None = None
        self.registry = StateRegistry(plan)
        self._plan = plan
        self._clock = clock
        self._states: dict[tuple[str, str], tuple[Any, Any]] = {}
        self._conversions: list[StateConversion] = []

    def _stamp(self) -> int:
        return self._clock.stamp

    def bind(self, backend: KeyedStateBackend) -> None:
        """Bind every state created so far to this backend."""
        self.backend = backend
        backend.written = self.registry.classes.look_at
        backend.lifetimes = self.registry.lifetimes
        backend.conversions = self._conversions
        for conversion in self._conversions:
            conversion.begin()
        for state, _ in self._states.values():
            state._backend = backend
            backend.adopt(state)

    def get(self, descriptor: StateDescriptor, namespace: Any = None) -> Any:
        """Return the state of a descriptor; `namespace` is the window it belongs to, if any.

        Raises:
            ArgumentTypeError: It is no descriptor.
            KeyedStateError: The stream is not keyed.
        """
        if not hasattr(descriptor, "kind"):
            raise ArgumentTypeError(
                f"state is asked for by its descriptor, such as ValueStateDescriptor('count', Types.INT()), "
                f"got {descriptor!r}"
            )
        if self.backend is None:
            raise KeyedStateError(
                f"state {descriptor.name!r} of operator {self._plan.name!r} ({self._plan.origin}) is keyed state: "
                "it needs a keyed stream; call key_by() before this operator"
            )
        if namespace is not None:
            if descriptor.name not in self.registry.states or descriptor.ttl_config is not None:
                self.registry.register(descriptor, scoped=True)
            return create_state(self.backend, descriptor, window_state(descriptor.name, namespace), self._stamp)
        known = self._states.get((descriptor.kind, descriptor.name))
        if known is None:
            self.registry.register(descriptor)
            state = create_state(self.backend, descriptor, descriptor.name, self._stamp)
            known = self._states[descriptor.kind, descriptor.name] = (state, descriptor)
            self.backend.adopt(state)
            conversion = conversion_of(descriptor, state)
            if conversion is not None:
                self._conversions.append(conversion)
        return known[0]

    def read(self, name: str, backend: KeyedStateBackend) -> tuple[bool, Any]:
        """Read the plain value of a state for the backend's current key.

        Returns:
            Whether the state is registered, and its value, or else an error message.
        """
        for (kind, known), (_, descriptor) in self._states.items():
            if known == name:
                return True, plain_value(kind, create_state(backend, descriptor, name, self._stamp))
        names = ", ".join(repr(known) for _, known in self._states) or "none"
        return False, f"operator {self._plan.uid!r} has registered no state {name!r}; it has: {names}"


class RuntimeContext:
    """Flink's RuntimeContext: where the function runs, its state, its metrics."""

    def __init__(self, plan: OperatorPlan, info: TaskInfo, states: StateAccess, metric_group: Any = None) -> None:
        self._plan = plan
        self._info = info
        self._states = states
        self._metric_group = metric_group
        #: whether state was requested from it
        self.gave_state = False

    def get_task_name(self) -> str:
        """Return the operator's name."""
        return str(self._plan.name)

    def get_number_of_parallel_subtasks(self) -> int:
        """Return the operator's parallelism."""
        return self._info.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the number of key groups."""
        return self._info.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Return this instance's index, from 0."""
        return self._info.subtask

    def get_attempt_number(self) -> int:
        """Return how often the job was restarted, from 0."""
        return self._info.attempt

    def get_task_name_with_subtasks(self) -> str:
        """Return name, position and attempt, such as ``Map (1/2)#0``."""
        info = self._info
        return f"{self._plan.name} ({info.subtask + 1}/{info.parallelism})#{info.attempt}"

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global job parameter."""
        return self._info.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> Any:
        """Return the operator's metric group."""
        if self._metric_group is None:
            info = self._info
            self._metric_group = OperatorMetricGroup(self._plan.id, info.subtask, info.user_metrics)
        return self._metric_group

    def get_state(self, state_descriptor: StateDescriptor) -> Any:
        """Return keyed ValueState."""
        self.gave_state = True
        return self._states.get(state_descriptor)

    get_list_state = get_map_state = get_reducing_state = get_aggregating_state = get_state


class TimerService:
    """Flink's TimerService of a keyed operator; times are milliseconds since the epoch."""

    def __init__(self, clock: ProcessingClock) -> None:
        self.backend: KeyedStateBackend | None = None
        self.watermark = MIN_TIME
        self.clock = clock

    def current_processing_time(self) -> int:
        """Return the processing time of the current record."""
        return self.clock.now()

    def current_watermark(self) -> int:
        """Return the operator's watermark."""
        return self.watermark

    def register_event_time_timer(self, timestamp: int) -> None:
        """Call on_timer when the watermark has reached `timestamp`."""
        (self.backend or self._keyed()).register_timer(EVENT, timestamp, None)

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Call on_timer when processing time has reached `timestamp`."""
        (self.backend or self._keyed()).register_timer(PROCESSING, timestamp, None)

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete an event-time timer, if it is registered."""
        self._keyed().delete_timer(EVENT, timestamp, None)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete a processing-time timer, if it is registered."""
        self._keyed().delete_timer(PROCESSING, timestamp, None)

    def _keyed(self) -> KeyedStateBackend:
        if self.backend is None:
            raise KeyedStateError("Setting timers is only supported on a keyed stream: call key_by() first")
        return self.backend


class ProcessContext:
    """Context of every process function; `time` is the record's timestamp or the timer's."""

    __slots__ = ("_service", "domain", "time")

    def __init__(self, service: TimerService) -> None:
        self._service = service
        self.time: int | None = None
        self.domain: Any = None

    def timer_service(self) -> TimerService:
        """Return the service for time and timers."""
        return self._service

    def timestamp(self) -> int:
        """Return the record's timestamp, or the time of the timer that fires; Long.MIN_VALUE if the record has none."""
        return MIN_TIME if self.time is None else self.time

    def time_domain(self) -> Any:
        """Return the TimeDomain of the timer, in on_timer."""
        return self.domain

    def get_current_key(self) -> Any:
        """Return the key of the record or timer."""
        backend = self._service.backend
        if backend is None:
            raise KeyedStateError("get_current_key() needs a keyed stream: call key_by() first")
        return original_key(backend.key)


def method(function: Any, name: str) -> Callable[..., Any]:
    """Return the hook of a function object, or the callable itself."""
    return getattr(function, name) if hasattr(function, name) else function  # type: ignore[no-any-return]
