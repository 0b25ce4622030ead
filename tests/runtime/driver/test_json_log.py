"""Structured logs: what happens to a job, and what its functions log, as JSON with job, operator and subtask."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import JobError
from scurry.runtime.json_log import JsonFormatter

PROGRAM = """
import logging
from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment

def priced(order):
    logging.getLogger("orders").warning("no price for %s, password=hunter2", order)
    return order

env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(
    {"scurry.runner": "local", "scurry.progress": "off", "scurry.log.format": "json"}))
env.set_parallelism(1)
env.from_collection([17]).key_by(lambda order: order).map(priced).name("prices").print()
env.execute("orders")
"""


def logged(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def run(file: Path, divisor: int) -> None:
    settings = {"scurry.runner": "local", "scurry.progress": "off", "restart-strategy.type": "none"}
    settings |= {"scurry.log.file": str(file), "scurry.log.format": "json"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(1)
    env.from_collection([divisor]).map(lambda number: 1 // number).name("shares").print()
    env.execute("orders")


def test_each_event_is_an_object_with_the_job(tmp_path: Path) -> None:
    run(tmp_path / "log", 1)
    started, finished = logged(tmp_path / "log")
    assert (started["event"], finished["event"]) == ("started", "finished")
    assert (started["job"], started["level"], started["logger"]) == ("orders", "INFO", "scurry.job")
    assert started["job_id"] == finished["job_id"] and len(started["job_id"]) == 32
    assert started["timestamp"].endswith("Z") and "operator" not in started


def test_a_failure_names_the_operator(tmp_path: Path) -> None:
    with pytest.raises(JobError):
        run(tmp_path / "log", 0)
    failed = logged(tmp_path / "log")[-1]
    assert (failed["event"], failed["operator"], failed["level"]) == ("failed", "shares", "ERROR")


def test_what_functions_log_names_their_task_and_has_no_secrets() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    (entry,) = [json.loads(line) for line in ran.stderr.splitlines() if line.startswith("{")]
    assert (entry["job"], entry["operator"], entry["subtask"], entry["logger"]) == ("orders", "prices", 0, "orders")
    assert len(entry["job_id"]) == 32
    assert "hunter2" not in entry["message"]


def test_errors_come_with_their_traceback() -> None:
    try:
        raise ValueError("no number")
    except ValueError:
        record = logging.LogRecord("orders", logging.ERROR, "", 0, "failed", None, sys.exc_info())
    assert "ValueError: no number" in json.loads(JsonFormatter().format(record))["exception"]
