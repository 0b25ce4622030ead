"""Base of all user functions: their life cycle and the runtime context they are opened with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from scurry.common._type_variables import ACC, OUT, K, R, T, V
from scurry.common.output_tag import OutputTag
from scurry.common.pickling import of_functions

if TYPE_CHECKING:
    from scurry.datastream.state import (
        AggregatingState,
        AggregatingStateDescriptor,
        ListState,
        ListStateDescriptor,
        MapState,
        MapStateDescriptor,
        ReducingState,
        ReducingStateDescriptor,
        ValueState,
        ValueStateDescriptor,
    )
    from scurry.metrics import MetricGroup

__all__ = ["Function", "KeyedStateStore", "Results", "RuntimeContext"]

#: Results of process functions: results, and values of side outputs after their tag; None is no result.
Results: TypeAlias = Iterable[OUT | tuple[OutputTag[Any], Any]] | None


class KeyedStateStore(ABC):
    """Give access to state that belongs to the current key.

    A state is identified by the name in its descriptor; another call returns the same state.
    """

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor[T]) -> ValueState[T]:
        """Return the single value described by `state_descriptor`."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor[T]) -> ListState[T]:
        """Return the list described by `state_descriptor`."""

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor[K, V]) -> MapState[K, V]:
        """Return the map described by `state_descriptor`."""

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor[T]) -> ReducingState[T]:
        """Return the reduced value described by `state_descriptor`."""

    @abstractmethod
    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor[T, ACC, R]) -> AggregatingState[T, R]:
        """Return the aggregate described by `state_descriptor`."""


class RuntimeContext(KeyedStateStore):
    """The context that `open` receives: task, state and metrics of the function (Flink's `RuntimeContext`)."""

    @abstractmethod
    def get_task_name(self) -> str:
        """Return the name of the operator."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism of the operator."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the maximum parallelism, which is the number of key groups."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """Return the index of this subtask, from 0."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """Return how often the job was restarted, 0 at first."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Return for example `Map (2/4)`."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global job parameter (see `ExecutionConfig.set_global_job_parameters`)."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Return the group in which the function registers its metrics."""


@of_functions
class Function(ABC):  # noqa: B024 - subclasses say what is abstract
    """Base of user functions that have a life cycle.

    The object is pickled with the job; each subtask has its own copy.
    """

    # The results are for AsyncFunction, where they may be coroutines.
    def open(self, runtime_context: RuntimeContext) -> Any:  # noqa: B027 - overriding is optional
        """Prepare the function; called once per subtask before the first record."""

    def close(self) -> Any:  # noqa: B027 - overriding is optional
        """Release the resources of `open`; called once after the last record."""
