"""Handle requests about the settings of a job, without secrets."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request

from scurry import __version__
from scurry.common._pyflink.version import __version__ as pyflink_version
from scurry.common.redaction import redacted
from scurry.rest import models
from scurry.rest.job import ServedJob
from scurry.rest.routes.common import REFUSALS, Job

router = APIRouter(responses=REFUSALS, tags=["configuration"])


@router.get("/config")
def config() -> models.DashboardConfiguration:
    """Return the versions and features of this endpoint."""
    return dashboard_configuration()


def dashboard_configuration(web_submit: bool = False) -> models.DashboardConfiguration:
    """Return versions and features.

    Args:
        web_submit: Whether programs can be uploaded.
    """
    local = time.localtime()
    return models.DashboardConfiguration(
        refresh_interval=3000,
        timezone_name=local.tm_zone,
        timezone_offset=local.tm_gmtoff * 1000,
        flink_version=pyflink_version,
        flink_revision="scurry",
        scurry_version=__version__,
        features=models.Features(web_submit=web_submit),
    )


@router.get("/jobmanager/config")
def process_config(request: Request) -> list[models.ConfigurationEntry]:
    """Return all configuration keys of the job; values of secrets are hidden."""
    job: ServedJob = request.app.state.job
    shown = redacted(job.plan.settings.configuration)
    return [models.ConfigurationEntry(key=key, value=value) for key, value in sorted(shown.items())]


@router.get("/jobs/{jobid}/config")
def job_config(job: Job) -> models.JobConfig:
    """Return the settings of a job; values of secrets are hidden."""
    settings = job.plan.settings
    shown = redacted({**settings.configuration, **settings.job_parameters})
    return models.JobConfig(
        jid=job.id,
        name=job.name,
        execution_config=models.ExecutionConfig(
            execution_mode=settings.mode,
            restart_strategy=shown.get("restart-strategy.type", shown.get("restart-strategy", "none")),
            job_parallelism=settings.parallelism,
            object_reuse_mode=shown.get("pipeline.object-reuse", "false").lower() == "true",
            user_config=shown,
        ),
    )
