"""Handle requests about a job: its state, plan, failures, metrics and accumulators; and cancel it."""

from __future__ import annotations

import time
from typing import Any, Literal

from fastapi import APIRouter, Request

from scurry.common.redaction import without_secrets
from scurry.graph.plan import JobPlan, OperatorPlan, SourcePlan
from scurry.metrics import DistributionResult, MeterResult
from scurry.rest import models
from scurry.rest.history import Point
from scurry.rest.job import ServedJob
from scurry.rest.plan_json import plan_json, vertex_id, vertices
from scurry.rest.routes.common import REFUSALS, Aggregations, Job, LiveJob, Names
from scurry.rest.routes.process import application_details, applications_of, overview_of
from scurry.rest.statistics import aggregations

router = APIRouter(responses=REFUSALS, tags=["jobs"])

_TASK_STATES = tuple(
    "created scheduled deploying running finished canceling canceled failed reconciling initializing".split()
)


#: Flink's figures of a vertex. What is not counted is 0 there, too: what sources read, what sinks write.
IO: dict[str, int | bool] = {
    **dict.fromkeys(("read-bytes", "write-bytes", "read-records", "write-records"), 0),
    **dict.fromkeys(
        ("read-bytes-complete", "write-bytes-complete", "read-records-complete", "write-records-complete"), True
    ),
    **dict.fromkeys(("accumulated-backpressured-time", "accumulated-idle-time", "accumulated-busy-time"), 0),
}


@router.get("/jobs")
def list_jobs(request: Request) -> models.JobList:
    """Return the job of this endpoint, in a list as in Flink."""
    job: ServedJob = request.app.state.job
    return models.JobList(jobs=[models.JobIdWithStatus(id=job.id, status=job.status.name)])


@router.get("/jobs/overview")
def overview(request: Request) -> models.JobsOverview:
    """Return the job of this endpoint with its times, in a list as in Flink."""
    return models.JobsOverview(jobs=[_overview(request.app.state.job)])


def _overview(job: ServedJob) -> models.JobOverview:
    count = sum(vertex.parallelism for vertex in vertices(job.plan))
    tasks = {"total": count, **dict.fromkeys(_TASK_STATES, 0)}
    tasks[task_state(job)] = count
    return models.JobOverview(
        jid=job.id,
        name=job.name,
        state=job.status.name,
        start_time=job.started_ms,
        end_time=job.ended_ms or -1,
        duration=job.duration_ms,
        last_modification=job.ended_ms or job.started_ms,
        tasks=tasks,
    )


@router.get("/overview")
def cluster_overview(request: Request) -> dict[str, Any]:
    """Return how many jobs there are in each state: one."""
    job: ServedJob = request.app.state.job
    return overview_of([job.status.name])


@router.get("/applications/overview")
def applications(request: Request) -> dict[str, Any]:
    """Return the program of the job, in a list as in Flink."""
    return applications_of([_overview(request.app.state.job).model_dump(by_alias=True)])


@router.get("/applications/{jobid}")
def application(job: Job) -> dict[str, Any]:
    """Return the program of the job, which has its id."""
    return application_details(_overview(job).model_dump(by_alias=True))


@router.get("/jobs/metrics")
def metrics_of_jobs(request: Request, get: Names = None, agg: Aggregations = None) -> list[dict[str, Any]]:
    """Return metrics over all jobs of this endpoint, of which there is one: all names, or aggregations of some."""
    job: ServedJob = request.app.state.job
    values = dict(_flat(job.client.get_metrics().result()))
    if get is None:
        return [{"id": name} for name in values]
    return [
        {"id": name, **aggregations([values[name]], agg)}
        for name in get.split(",")
        if isinstance(values.get(name), (int, float))
    ]


@router.get("/jobs/{jobid}")
def details(job: Job) -> models.JobDetails:
    """Return the details of a job."""
    state, metrics = job.status.name, job.client.execution.operator_metrics()
    parts = [_vertex(job, vertex, metrics) for vertex in vertices(job.plan)]
    finished, known = job.client.execution.tasks or (None, None)
    return models.JobDetails(
        jid=job.id,
        name=job.name,
        isStoppable=job.plan.settings.mode == "STREAMING",
        state=state,
        job_type=job.plan.settings.mode,
        start_time=job.started_ms,
        end_time=job.ended_ms or -1,
        duration=job.duration_ms,
        maxParallelism=job.plan.settings.max_parallelism,
        spark_ui=None if job.ended_ms else job.client.execution.spark_ui,
        now=int(time.time() * 1000),
        finished_tasks=finished,
        known_tasks=known,
        timestamps={"CREATED": job.started_ms, **({state: job.ended_ms} if job.ended_ms else {})},
        vertices=parts,
        status_counts={task_state(job).upper(): len(parts)},
        plan=plan_json(job.id, job.plan),
    )


@router.patch("/jobs/{jobid}", status_code=202)
def cancel(job: LiveJob, mode: Literal["cancel"] = "cancel") -> dict[str, str]:
    """Cancel a job: in STREAMING it stops at the next batch boundary and keeps only its checkpoints, in BATCH now."""
    job.client.cancel()
    return {}


@router.get("/jobs/{jobid}/plan")
def plan(job: Job) -> models.JobPlanInfo:
    """Return the plan of a job."""
    return models.JobPlanInfo(plan=plan_json(job.id, job.plan))


@router.get("/jobs/{jobid}/exceptions")
def exceptions(job: Job) -> models.JobExceptions:
    """Return the failures of a job, including those after which it was restarted; the latest first."""
    entries = [
        models.ExceptionEntry(
            exceptionName=failure.error,
            stacktrace=f"{failure.text}\n{failure.details}",
            timestamp=failure.timestamp_ms,
            taskName=failure.operator,
        )
        for failure in reversed(list(job.client.execution.failures))
    ]
    return models.JobExceptions(exceptionHistory=models.ExceptionHistory(entries=entries))


@router.get("/jobs/{jobid}/dead-letters")
def dead_letters(job: Job) -> models.JobDeadLetters:
    """Return samples of the records that went to dead letters, the latest first; scurry's own."""
    counted = job.client.execution.operator_metrics()
    entries = [
        models.DeadLetterEntry(
            timestamp=one.timestamp_ms,
            operator=without_secrets(one.operator),
            subtask=one.subtask,
            record=one.record,
            error=one.error,
            message=one.message,
            place=one.place,
            line=one.line,
        )
        for one in reversed(list(job.client.execution.dead_letters.latest))
    ]
    count = sum(own.get("numDeadLetters", 0) for own in counted.values())
    return models.JobDeadLetters(count=count, entries=entries)


@router.get("/jobs/{jobid}/history")
def history(job: Job) -> models.JobHistory:
    """Return the metrics of a job over the last hour; scurry's own."""
    points = job.history.points
    columns = {name: [getattr(point, name) for point in points] for name in Point._fields}
    moments, of_points = columns.pop("timestamp"), columns.pop("phases")
    names = list(dict.fromkeys(phase for own in of_points for phase in own))
    phases = {phase: [own.get(phase, 0) for own in of_points] for phase in names}
    return models.JobHistory(interval=int(1000 * job.history.step), timestamps=moments, phases=phases, **columns)


@router.get("/jobs/{jobid}/sql")
def sql(job: Job) -> models.JobTables:
    """Return the statements and the execution plan of a job of tables; scurry's own."""
    tables = job.plan.settings.tables
    return models.JobTables(sql="" if tables is None else tables.sql, plan="" if tables is None else tables.plan)


@router.get("/jobs/{jobid}/accumulators")
def accumulators(job: Job) -> models.Accumulators:
    """Return the accumulators of a job's functions."""
    counted = job.client.get_accumulators().result()
    return models.Accumulators(
        job_accumulators=[],
        user_task_accumulators=[
            models.Accumulator(name=name, type="LongCounter", value=str(value)) for name, value in counted.items()
        ],
        serialized_user_task_accumulators={},
    )


@router.get("/jobs/{jobid}/metrics", response_model_exclude_none=True)
def metrics(job: Job, get: Names = None) -> list[models.Metric]:
    """Return the metrics of a job: all names, or the values of the requested ones."""
    values = dict(_flat(job.client.get_metrics().result()))
    if get is None:
        return [models.Metric(id=name) for name in values]
    return [models.Metric(id=name, value=str(values[name])) for name in get.split(",") if name in values]


def _flat(metrics: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return metrics with one value each, as Flink's have."""
    flat: list[tuple[str, Any]] = []
    for name, value in metrics.items():
        if isinstance(value, MeterResult):
            flat += [(f"{name}_count", value.count), (f"{name}_rate", value.rate)]
        elif isinstance(value, DistributionResult):
            flat += [(f"{name}_{part}", getattr(value, part)) for part in ("sum", "count", "min", "max", "mean")]
        elif isinstance(value, dict):
            flat += [(f"{subtask}.{name}", part) for subtask, part in value.items()]
        elif value is not None:
            flat.append((name, value))
    return flat


def _vertex(job: ServedJob, vertex: SourcePlan | OperatorPlan, metrics: dict[int, dict[str, Any]]) -> models.Vertex:
    names = {
        "read-records": "numRecordsIn",
        "write-records": "numRecordsOut",
        "late-records": "numLateRecordsDropped",
        "dead-letters": "numDeadLetters",
        "pending-records": "pendingRecords",
        "accumulated-busy-time": "accumulateBusyTimeMs",
    }
    counted = metrics.get(vertex.id, {})
    known = {name: counted.get(metric) for name, metric in names.items()}
    own = {name: value for name, value in known.items() if isinstance(value, int)}
    if "read-records" not in own and (received := _received(job.plan, vertex, metrics)) is not None:
        own["read-records"] = received
    subtasks = vertex.channels if isinstance(vertex, SourcePlan) else vertex.parallelism
    return models.Vertex(
        id=vertex_id(vertex.uid),
        name=without_secrets(vertex.name),
        uid=without_secrets(vertex.uid),
        parallelism=vertex.parallelism,
        maxParallelism=job.plan.settings.max_parallelism,
        status=task_state(job).upper(),
        start_time=job.started_ms,
        end_time=job.ended_ms or -1,
        duration=job.duration_ms,
        tasks={**dict.fromkeys(map(str.upper, _TASK_STATES), 0), task_state(job).upper(): subtasks},
        metrics={**IO, "read-bytes": counted.get("numBytesIn") or 0, **own},
    )


def _received(plan: JobPlan, vertex: SourcePlan | OperatorPlan, metrics: dict[int, dict[str, Any]]) -> int | None:
    """Return the number of records that an operator received: all sent by those before it, if they came here once."""
    received = 0
    for sender in vertices(plan):
        targets = [
            plan.edges[output.edge].target if output.edge is not None else output.operator for output in sender.outputs
        ]
        if vertex.id not in targets:
            continue
        if any(output.tag is not None or output.ship == "BROADCAST" for output in sender.outputs):
            return None
        received += metrics.get(sender.id, {}).get("numRecordsOut") or 0
    return received if isinstance(vertex, OperatorPlan) else None


def task_state(job: ServedJob) -> str:
    """Return the state that all tasks of a job share."""
    state = job.status.name.lower()
    return {"cancelling": "canceling", "restarting": "created", "failing": "running"}.get(state, state)
