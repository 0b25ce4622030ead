"""A job on Spark with a join and timers fails on a record: `scurry replay` stops there, in a process without Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scurry.errors import OperatorError
from scurry.runtime.replay.finding import captured_starts
from scurry.runtime.replay.replaying import PlanOfStart

PROGRAM = '''
import random

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

PAYMENT = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])


class FieldTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Match(KeyedCoProcessFunction):
    """Join payments with orders; what is not paid in time is told by a timer."""

    def open(self, ctx):
        self.order = ctx.get_state(ValueStateDescriptor("order", Types.INT()))
        self.paid = ctx.get_list_state(ListStateDescriptor("paid", Types.INT()))

    def process_element1(self, order, ctx):
        self.order.update(order[1])
        ctx.timer_service().register_event_time_timer(order[2] + 500)

    def process_element2(self, payment, ctx):
        self.paid.add(payment[1])
        share = payment[1] / (payment[1] - 40) if self.order.value() else 0.0
        yield payment[0], share, random.random()

    def on_timer(self, timestamp, ctx):
        yield "unpaid", self.order.value() or 0, float(len(list(self.paid)))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
timely = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(50))
timely = timely.with_timestamp_assigner(FieldTime())
streams = [
    env.from_collection([(f"k{number % 5}", number, number * 100 + late) for number in range(60)], PAYMENT)
    .assign_timestamps_and_watermarks(timely)
    .key_by(lambda payment: payment[0])
    for late in (0, 30)
]
streams[0].connect(streams[1]).process(Match()).name("match").print()
env.execute("payments")
'''

#: The line that fails.
LINE = next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.startswith("        share ="))


def run(directory: Path, *arguments: str, typed: str = "") -> tuple[int, str]:
    """Return the status of a command, and what it prints on both streams."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    environment["XDG_STATE_HOME"] = str(directory / "state")
    done = subprocess.run(
        [sys.executable, "-m", "scurry", *arguments],
        input=typed, cwd=directory, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.spark
def test_a_job_of_spark_fails_again_at_its_record_under_a_debugger(tmp_path: Path) -> None:
    (tmp_path / "payments.py").write_text(PROGRAM)
    checkpoint = tmp_path / "checkpoint"
    settings = ["scurry.replay.capture=all", "scurry.batch.max-records=20", "spark.ui.enabled=false"]
    options = [part for setting in [*settings, f"execution.checkpointing.dir={checkpoint}"] for part in ("-D", setting)]
    status, said = run(tmp_path, "run", "--master", "local[2]", *options, "payments.py")
    assert status == 1 and "ZeroDivisionError: " in said
    (command,) = [line.partition("run it again: ")[2] for line in said.splitlines() if "run it again: " in line]
    program, *arguments = command.split()
    assert program == "scurry"

    breakpoint_at_record = ["--break", f"payments.py:{LINE}, payment[1] == 40", "--pdb"]
    typed = "p list(self.paid), self.order.value() is not None\nc\np payment\nq\n"
    status, shown = run(tmp_path, *arguments, *breakpoint_at_record, typed=typed)
    assert status == 0 and "  as captured, byte for byte\n" in shown
    at_breakpoint, after_failure = shown.split("micro-batch ", 1)
    assert "-> share = payment[1] / (payment[1] - 40)" in at_breakpoint
    assert "(Pdb) ([0, 5, 10, 15, 20, 25, 30, 35, 40], True)\n" in at_breakpoint
    assert "(Pdb) ('k0', 40, 4030)\n" in after_failure

    # those that did not fail, too: sources, joins, timers that fired
    with captured_starts(str(checkpoint)) as found:
        (start,) = found
        plan = PlanOfStart(start)
        replayed = [plan.replay(capture) for capture in start.captures]
    (failed,) = [each for each in replayed if each.error is not None]
    assert isinstance(failed.error, OperatorError) and failed.error.failure.record == "('k0', 40, 4030)"
    assert [each.differences for each in replayed] == [[]] * len(replayed)
    assert len({each.capture.batch for each in replayed}) > 1
    assert any("('unpaid', " in record for each in replayed for record in each.records)
