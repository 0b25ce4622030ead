"""What the driver learns of errors in tasks; no JVM."""

from __future__ import annotations

import pytest

from scurry.errors import MalformedRecordError, OperatorError, ScurryError, StateMigrationError
from scurry.graph.nodes import Origin
from scurry.graph.operators import Map
from scurry.graph.plan import OperatorPlan
from scurry.runtime.failure import operator_error
from scurry.spark.workers.failures import failure_of
from scurry.spark.workers.instances import Job, WorkerTask

PARSE = OperatorPlan(1, "parse", "parse", Map(int), None, 1, Origin("program.py", 3))


def told(error: Exception) -> BaseException:
    """The error as it reaches the driver, as text in an error of Spark's."""
    with pytest.raises(RuntimeError) as failure, WorkerTask(Job("job", b"")):
        raise error
    return failure_of(RuntimeError(f"Job aborted due to stage failure: {failure.value}\n\tat org.apache.spark..."))


@pytest.mark.parametrize(
    "error", [StateMigrationError("state 'n' cannot be converted"), MalformedRecordError("a.csv", 3, "x", "no number")]
)
def test_errors_of_scurry_arrive_as_what_they_are(error: ScurryError) -> None:
    found = told(error)
    assert type(found) is type(error) and str(found) == str(error)


def test_what_no_restart_can_mend_is_known_on_the_driver() -> None:
    assert told(StateMigrationError("state 'n' cannot be converted")).permanent  # type: ignore[attr-defined]


def test_failures_of_functions_arrive_with_their_operator() -> None:
    found = told(operator_error(PARSE, ValueError("x7"), "x7"))
    assert isinstance(found, OperatorError) and found.failure.operator == "parse"


def test_a_worker_that_does_not_start_in_time_has_advice() -> None:
    failed = failure_of(RuntimeError("org.apache.spark.SparkException: Python worker failed to connect back.\n\tat x"))
    assert str(failed).splitlines()[0].endswith("Python worker failed to connect back.")
    assert "within Spark's 10 s, as on an overloaded machine: start the job again" in str(failed)
