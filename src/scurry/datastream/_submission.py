"""Plan and start jobs from the nodes and the configuration of an environment."""

from __future__ import annotations

import importlib
import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scurry.common import config_options as options
from scurry.common.completable_future import CompletableFuture
from scurry.common.configuration import Configuration
from scurry.common.job_client import REQUESTER, JobClient
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.common.job_status import JobStatus
from scurry.connectors.cache import CacheSink
from scurry.errors import ConfigError, TopologyError, UnsupportedError
from scurry.graph import operators as ops
from scurry.graph.configured_settings import configured_settings
from scurry.graph.nodes import CacheNode, Node, OperatorNode, SourceNode

if TYPE_CHECKING:
    from scurry.graph.plan import JobPlan
    from scurry.runtime.driver.client import RunningJob


def keeps_caches(mode: str, configuration: Configuration) -> bool:
    """Return whether a job uses caches: BATCH jobs do, STREAMING jobs compute all streams, as in Flink.

    PyFlink 2.3 loses track of its caches and computes a cached stream in every job. A program that imports `pyflink`
    may show how often that happens, so it behaves the same here unless a directory for caches is configured.
    """
    named = configuration.get(options.CACHE_DIR) is not None
    return mode == "BATCH" and (named or "pyflink" not in sys.modules)


def resolve_caches(ends: list[OperatorNode], keep: bool) -> list[OperatorNode]:
    """Replace each cached stream that leads to the sinks of a job by a read of its cache or by its computation.

    If caches are used, a stream that is in its cache is read from there; others are computed and written there.
    Otherwise all are computed.

    Returns:
        The sinks that write the caches.
    """
    sinks: list[OperatorNode] = []
    seen: set[int] = set()
    todo: list[Node] = list(ends)
    while todo:
        node = todo.pop()
        if node.id in seen:
            continue
        seen.add(node.id)
        if isinstance(node, CacheNode):
            filled = keep and node.records.parts is not None
            node.inputs = (node.stored if filled else node.computed,)
            if keep and not filled:
                sink = ops.Sink(CacheSink(node.records))
                sinks.append(
                    OperatorNode(
                        inputs=(node,), name=node.name, output_type=node.output_type, operator=sink, origin=node.origin
                    )
                )
        todo.extend(node.inputs)
    return sinks


_DEFAULT_JOB_NAME = "Flink Streaming Job"


def job_plan(
    operators: list[OperatorNode],
    configuration: Configuration,
    parallelism: int,
    job_name: str | None,
    parameters: dict[str, str],
) -> JobPlan:
    """Return the plan of a job.

    Args:
        operators: All operators built, in that order.
        configuration: The environment's settings.
        parallelism: The environment's parallelism.
        job_name: Name of the job; None takes the configured one.
        parameters: Global job parameters.

    Raises:
        TopologyError: There is nothing to execute, an unbounded source in BATCH mode, or an operator without a required
            uid.
        ConfigError: A STREAMING job is configured to end in a savepoint, or a BATCH job to start from one.
    """
    from scurry.graph.planner import plan_job

    if not operators:
        raise TopologyError("No operators defined in streaming topology. Cannot execute.")
    sinks = _ends(operators)
    sources = _sources(sinks)
    if not configuration.get(options.AUTO_GENERATE_UIDS):
        _require_uids([*sources, *operators])
    mode = _mode(configuration, sources)
    sinks += resolve_caches(sinks, keeps_caches(mode, configuration))
    name = job_name or configuration.get(options.JOB_NAME) or _DEFAULT_JOB_NAME
    final_savepoint_dir = _final_savepoint_dir(configuration, mode)
    settings = configured_settings(configuration, mode, parallelism, name, parameters)
    return plan_job(sinks, replace(settings, final_savepoint_dir=final_savepoint_dir))


def submit_job(plan: JobPlan, configuration: Configuration) -> JobClient:
    """Start a job, or print its plan if the command line only asks for that.

    Args:
        plan: The job's plan.
        configuration: The environment's settings, which include those of the job's REST endpoint.

    Raises:
        ConfigError: The REST endpoint cannot be started as configured; the job was not started.
    """
    from scurry.common._process import launch

    if launch.current().explain_only:
        return _explained(plan, launch.current().plan_file)
    from scurry.rest.endpoint import submit_with_endpoint

    importlib.import_module("scurry.runtime.progress")  # an interrupt of `wait_for` must not meet an import

    return submit_with_endpoint(plan, configuration)


def wait_for(client: JobClient) -> JobExecutionResult:
    """Show a job's progress until it is over, and return its result.

    Raises:
        JobError: The job failed.
        JobCancelledError: It was cancelled before its end.
        KeyboardInterrupt: Ctrl-C. The first one stops the job and waits for its end; a second one does not wait.
    """
    from scurry.runtime.driver.client import RunningJob

    if not isinstance(client, RunningJob):
        return client.get_job_execution_result().result()
    from scurry.runtime.progress import ProgressDisplay

    with _plain_interrupts(), ProgressDisplay(client.execution):
        try:
            return client.get_job_execution_result().result()
        except KeyboardInterrupt:
            _stop(client)
            raise


@contextmanager
def _plain_interrupts() -> Iterator[None]:
    """Let Ctrl-C only interrupt this thread.

    A SparkSession that the program created has installed a handler that cancels the current micro-batch.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or "pyspark" not in str(
        getattr(before, "__module__", "")
    ):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(job: RunningJob) -> None:
    settings = job.execution.plan.settings
    where = "the end of the micro-batch" if settings.mode == "STREAMING" else "its end, having no micro-batches"
    print(f"{settings.job_name}: stopping at {where}; Ctrl-C again to exit at once", file=sys.stderr, flush=True)
    asked_before = REQUESTER.set("Ctrl-C")
    try:
        stopped = job.stop()
    finally:
        REQUESTER.reset(asked_before)
    stopped.result()


def _ends(operators: list[OperatorNode]) -> list[OperatorNode]:
    """Return the sinks, plus a discarding one after each operator that nothing follows: Flink runs those, too."""
    from scurry.connectors.sink import DiscardSink

    followed: set[int] = set()
    todo: list[Node] = [node for operator in operators for node in operator.inputs]
    while todo:
        node = todo.pop()
        if node.id not in followed:
            followed.add(node.id)
            todo.extend(node.inputs)
    ends = []
    for operator in operators:
        if isinstance(operator.operator, ops.Sink):
            ends.append(operator)
        elif operator.id not in followed:
            sink = ops.Sink(DiscardSink(), implied=True)
            ends.append(OperatorNode(inputs=(operator,), name="Discard", operator=sink, origin=operator.origin))
    return ends


def _sources(ends: list[OperatorNode]) -> list[SourceNode]:
    seen: dict[int, Node] = {}
    todo: list[Node] = list(ends)
    while todo:
        node = todo.pop()
        if node.id not in seen:
            seen[node.id] = node
            todo.extend(node.inputs)
    return [node for node in seen.values() if isinstance(node, SourceNode)]


def _require_uids(nodes: list[Node]) -> None:
    for node in nodes:
        if node.uid is None:
            raise TopologyError(
                "Auto generated UIDs have been disabled but no UID or hash has been assigned to operator "
                f"{node.name} ({node.origin}): call uid(...) on it"
            )


def _mode(configuration: Configuration, sources: list[SourceNode]) -> Literal["STREAMING", "BATCH"]:
    mode = configuration.get(options.RUNTIME_MODE)
    unbounded = [source for source in sources if not source.source.bounded]
    if mode == "STREAMING" or (mode == "AUTOMATIC" and unbounded):
        return "STREAMING"
    if unbounded:
        raise TopologyError(
            f"source {unbounded[0].name!r} ({unbounded[0].origin}) is unbounded, but execution.runtime-mode is BATCH; "
            "set it to STREAMING or AUTOMATIC"
        )
    return "BATCH"


def _final_savepoint_dir(configuration: Configuration, mode: str) -> str | None:
    directory = configuration.get(options.FINAL_SAVEPOINT_DIR)
    start = configuration.get(options.RECOVERY_PATH)
    if start is not None and mode == "BATCH":
        raise ConfigError(
            f"{options.RECOVERY_PATH.key} = {start!r}: a BATCH job begins without state; only STREAMING jobs start "
            "from a savepoint"
        )
    if directory is not None and mode == "STREAMING":
        raise ConfigError(
            f"{options.FINAL_SAVEPOINT_DIR.key} = {directory!r}: only a BATCH job ends in a savepoint, and this one is "
            "STREAMING; set execution.runtime-mode to BATCH, or save the running job with "
            "JobClient.stop_with_savepoint(...)"
        )
    return directory


def _explained(plan: JobPlan, file: Path | None) -> JobClient:
    """Print a plan, hand it over, or write it to a file and end the program."""
    from scurry.common._process import launch

    if (take := launch.current().take_plan) is not None:
        take(plan)
        return _ExplainedJob()
    if file is None:
        print(plan.describe())
        return _ExplainedJob()
    from scurry.rest.plan_json import plan_json

    file.write_text(json.dumps(plan_json(str(JobID()), plan)), encoding="utf-8")
    raise SystemExit(0)


class _ExplainedJob(JobClient):
    """The client of a job that was only explained: finished, without results."""

    def __init__(self) -> None:
        self._id = JobID()

    def get_job_id(self) -> JobID:
        """Return an identifier."""
        return self._id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return FINISHED."""
        return CompletableFuture.completed(JobStatus.FINISHED)

    def cancel(self) -> CompletableFuture[None]:
        """Do nothing."""
        return CompletableFuture.completed(None)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """Fail: there is no state to save."""
        raise UnsupportedError("the job was only explained, not run: it has no state to save")

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Fail: there is no state to save."""
        raise UnsupportedError("the job was only explained, not run: it has no state to save")

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return nothing."""
        return CompletableFuture.completed({})

    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """Return nothing."""
        return CompletableFuture.completed({})

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return an empty result."""
        return CompletableFuture.completed(JobExecutionResult(self._id, 0))
