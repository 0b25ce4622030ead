"""Configuration keys of metric reporters; those of one reporter begin with `metrics.reporter.NAME.`."""

from __future__ import annotations

from scurry.common._config.option import ConfigOption


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.replace(";", ",").split(",") if name.strip()]


REPORTERS = ConfigOption(
    "metrics.reporters",
    _names,
    None,
    "Names of the metric reporters to use; all that are configured by `metrics.reporter.NAME.*` if not set.",
)
SCOPE_JOB = ConfigOption(
    "metrics.scope.jm-job",
    str,
    "<host>.jobmanager.<job_name>",
    "What StatsD's names of a job's metrics begin with.",
    aliases=("metrics.scope.jm.job",),
)
SCOPE_OPERATOR = ConfigOption(
    "metrics.scope.operator",
    str,
    "<host>.taskmanager.<tm_id>.<job_name>.<operator_name>.<subtask_index>",
    "What StatsD's names of the metrics of sources and operators begin with; `<subtask_index>` is left out where a "
    "metric is that of all subtasks together.",
)

METRICS_OPTIONS: tuple[ConfigOption[object], ...] = (REPORTERS, SCOPE_JOB, SCOPE_OPERATOR)  # type: ignore[assignment]
