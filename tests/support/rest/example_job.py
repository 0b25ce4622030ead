"""A job with something to show on every screen of the web page."""

from __future__ import annotations

import logging
import math
import random
import time
from dataclasses import replace

from scurry.graph.settings import TableProgram
from scurry.rest.history import Point
from scurry.runtime.driver.checkpoint_history import CheckpointInfo
from scurry.runtime.driver.dead_letters import SampledDeadLetter
from scurry.runtime.driver.restarting import JobFailure
from scurry.table import EnvironmentSettings, TableEnvironment
from support.rest.fake_jobs import FakeJob

__all__ = ["SCREENS", "example", "last_hour"]

#: Name of a screen -> part of the job's address, None for the list of jobs.
SCREENS = {
    "jobs": None, "graph": "", "metrics": "/metrics", "checkpoints": "/checkpoints", "exceptions": "/exceptions",
    "dead-letters": "/dead-letters", "sql": "/sql", "state": "/state",
    "operate": "/operate", "configuration": "/configuration", "log": "/log",
}  # fmt: skip
NOON = 1_790_000_000_000


def example() -> FakeJob:
    """A job that has something to show on every screen."""
    job = FakeJob()
    job.metrics = {"numbers.numRecordsOut": 812_400, "sums.numRecordsOut": 811_977, "sums.numLateRecordsDropped": 423}
    (numbers,), (sums, _) = job.execution.plan.sources, job.execution.plan.operators
    job.execution.subtasks = {
        numbers: {"numRecordsOut": {0: 405_200, 1: 407_200}, "numRecordsOutPerSecond": {0: 4012.2, 1: 4039.0},
                  "busyTimeMsPerSecond": {0: 310, 1: 290}, "backPressuredTimeMsPerSecond": {0: 230, 1: 230}},
        sums: {"numRecordsIn": {0: 703_300, 1: 109_100}, "numRecordsOut": {0: 702_977, 1: 109_000},
               "stateSize": {0: 1_412_310, 1: 203_690}, "numRecordsOutPerSecond": {0: 7011.5, 1: 1030.2},
               "busyTimeMsPerSecond": {0: 640, 1: 95},
               "currentOutputWatermark": {0: int(time.time() * 1000) - 4200, 1: int(time.time() * 1000) - 3900}},
    }  # fmt: skip
    durations = [310, 290, 420, 1900, 480, 330, 350, 300, 720, 310, 340, 360, 290, 410, 380, 300]
    job.taken = [
        CheckpointInfo(
            number, NOON + 5000 * number, duration, 50_000, 1_000_000 + 41_000 * number, phases=phases(duration)
        )
        for number, duration in enumerate(durations)
    ]
    for event, text, level in (
        ("started", "orders: started: STREAMING on Spark, parallelism 2", logging.INFO),
        ("restarted", "orders: failed, restart 1 in 1 s (exponential-delay)", logging.WARNING),
        ("savepoint taken", "orders: savepoint taken: /savepoints/savepoint-3f6c (14 kB in 1.3 s)", logging.INFO),
    ):
        record = logging.LogRecord("scurry.job", level, "", 0, text, (), None)
        record.created = NOON / 1000 + 60 * len(job.execution.log.records)
        record.__dict__.update(event=event, text=text.removeprefix("orders: "))
        job.execution.log.records.append(record)
    job.execution.dead_letters.latest = [
        SampledDeadLetter(NOON + 7000, "numbers", 1, "'17,x,2026-11-22'", "ValueError",
                          "invalid literal for int() with base 10: 'x'", "/data/orders.csv", 4812),
        SampledDeadLetter(NOON + 9000, "sums", 0, "Row(customer=17, count=0)", "ZeroDivisionError", "division by zero",
                          None, None),
    ]  # fmt: skip
    job.metrics |= {"numbers.numDeadLetters": 211, "sums.numDeadLetters": 1}
    plan = job.execution.plan
    plan.settings = replace(plan.settings, tables=tables())
    job.execution.spark_ui = "http://127.0.0.1:4040"
    job.state = {17: {"count": 4, "total": 99.5}}
    text = (
        "ZeroDivisionError: division by zero\n  in the function of 'sums' (orders.py:14): total / count\n"
        "  record: Row(customer=17, count=0)"
    )
    job.execution.failures = [JobFailure(NOON + 20_000, 0, text, "Traceback ...", "ZeroDivisionError", "sums", 1000)]
    return job


def phases(duration: int) -> dict[str, int]:
    """What a micro-batch on Spark spends its time with."""
    return {"latestOffset": 2, "walCommit": 41, "queryPlanning": 18, "addBatch": duration - 110, "commitOffsets": 38}


def tables() -> TableProgram:
    """The statement of a job, and its plan."""
    table_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name in ("clicks", "counts"):
        connector = "datagen" if name == "clicks" else "print"
        table_env.execute_sql(f"CREATE TABLE {name} (customer INT, total BIGINT) WITH ('connector' = '{connector}')")
    sql = "INSERT INTO counts\nSELECT customer, SUM(total)\nFROM clicks\nWHERE total > 0\nGROUP BY customer"
    explained = table_env.explain_sql(sql)
    return TableProgram(sql, explained[explained.index("== Optimized Execution Plan") :])


def last_hour() -> list[Point]:
    """An hour of a job that falls behind in its middle."""
    now, points, read, phases, batches = int(time.time() * 1000), [], 0, {"read": 0, "process": 0, "write": 0}, 0
    chance = random.Random(7)
    for step in range(450):
        crowd = max(0.0, 1 - abs(step - 230) / 70)
        read += int(8 * (4000 + 900 * math.sin(step / 40) + 3000 * crowd + chance.randint(-300, 300)))
        batches += 8
        for phase, milliseconds in (("read", 90), ("process", 140), ("write", 60)):
            phases[phase] += int(8 * milliseconds * (1 + 2 * crowd) + chance.randint(-200, 200))
        moment, delay = now - 8000 * (450 - step), int(3000 + 45_000 * crowd + chance.randint(0, 1500))
        points.append(
            Point(moment, read, read // 2, int(200_000 * crowd + chance.randint(0, 900)), None, moment - delay,
                  min(1000, int(1000 * crowd)), min(990, 420 + int(600 * crowd) + chance.randint(0, 40)),
                  1_200_000 + 2400 * step, batches, dict(phases))
        )  # fmt: skip
    return points
