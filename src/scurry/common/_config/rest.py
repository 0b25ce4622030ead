"""Configuration keys of the REST endpoint of a running job, and of its metric reporters."""

from __future__ import annotations

import re

from scurry.common._config.option import ConfigOption


def parse_ports(text: str) -> tuple[int, ...]:
    """Return the ports of a list in Flink's syntax: `8081`, `50100,50101`, `50100-50200` or both together.

    Raises:
        ValueError: The text is not such a list, or a number is not a port.
    """
    ports: list[int] = []
    for part in text.split(","):
        bounds = re.fullmatch(r"\s*(\d{1,5})(?:\s*-\s*(\d{1,5}))?\s*", part)
        low, high = (int(bounds[1]), int(bounds[2] or bounds[1])) if bounds else (1, 0)
        if not low <= high <= 65535:
            raise ValueError("expected ports such as '8081', '50100,50101' or '50100-50200'")
        ports += range(low, high + 1)
    return tuple(ports)


def _port(text: str) -> int:
    ports = parse_ports(text)
    if len(ports) != 1:
        raise ValueError("expected one port; rest.bind-port takes several")
    return ports[0]


def _when(text: str) -> str:
    if text.lower() not in ("auto", "on", "off"):
        raise ValueError("expected one of auto, on, off")
    return text.lower()


REST = ConfigOption(
    "scurry.rest",
    _when,
    "auto",
    "Whether a running job can be reached from outside, as the scurry command does; auto is on for jobs on Spark, and "
    "for those in one process at a terminal.",
)
REST_ADDRESS = ConfigOption(
    "rest.address", str, None, "Host name by which clients reach a job; the address it is bound to if not set."
)
REST_BIND_ADDRESS = ConfigOption(
    "rest.bind-address", str, "127.0.0.1", "Address a job listens on; any other than loopback requires a token."
)
REST_PORT = ConfigOption(
    "rest.port", _port, 0, "Port a job listens on if rest.bind-port is not set; 0 takes a free one."
)
REST_BIND_PORT = ConfigOption(
    "rest.bind-port", parse_ports, None, "Ports a job may listen on, such as 8081,50100-50200: it takes the first free."
)
REST_TOKEN = ConfigOption(
    "scurry.rest.token",
    str,
    None,
    "What requests to a job must present. Better kept in scurry.rest.token-file or the environment variable "
    "SCURRY_REST_TOKEN, which other users cannot read.",
)
REST_TOKEN_FILE = ConfigOption(
    "scurry.rest.token-file", str, None, "File with what requests to a job must present, readable by its owner only."
)

ARCHIVE_DIR = ConfigOption(
    "jobmanager.archive.fs.dir",
    str,
    None,
    "Directory that a job with an endpoint writes an archive to at its end, which Flink's history server reads.",
)

REST_OPTIONS: tuple[ConfigOption[object], ...] = (
    ARCHIVE_DIR,
    REST,
    REST_ADDRESS,
    REST_BIND_ADDRESS,
    REST_PORT,
    REST_BIND_PORT,
    REST_TOKEN,
    REST_TOKEN_FILE,
)  # type: ignore[assignment]
"""All of them."""


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
