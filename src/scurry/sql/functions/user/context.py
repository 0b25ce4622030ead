"""FunctionContext: the runtime context of user-defined functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass


@dataclass(frozen=True)
class FunctionContext:
    """The task in which a function of a user runs; `open` gets it."""

    _metric_group: Any = None
    _job_parameters: Mapping[str, str] = field(default_factory=dict)
    _task_name: str = "PythonCalc"
    _parallelism: int = 1
    _max_parallelism: int = 128
    _subtask: int = 0
    _attempt: int = 0

    def get_metric_group(self) -> Any:
        """Return the group in which the function registers metrics of its own.

        In BATCH they are those of the first operator of the statement that calls a user-defined function.

        Raises:
            RuntimeError: Metrics are not available.
        """
        if self._metric_group is None:
            raise RuntimeError("Metric has not been enabled.")
        return self._metric_group

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a value of `pipeline.global-job-parameters`.

        Args:
            key: Its key.
            default_value: The result without such a parameter.
        """
        return self._job_parameters.get(key, default_value)

    def get_task_name(self) -> str:
        return self._task_name

    def get_task_name_with_subtasks(self) -> str:
        """Return the name of the task with the number of the subtask: `PythonCalc (3/6)`."""
        return f"{self._task_name} ({self._subtask + 1}/{self._parallelism})"

    def get_number_of_parallel_subtasks(self) -> int:
        """Return how many subtasks the task has."""
        return self._parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return how many subtasks the task could have."""
        return self._max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Return the number of this subtask, from 0."""
        return self._subtask

    def get_attempt_number(self) -> int:
        """Return how often the task has been restarted."""
        return self._attempt
