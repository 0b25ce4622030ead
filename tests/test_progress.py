"""What execute() shows of a running job, and what Ctrl-C does to it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import scurry
from scurry.connectors.source import Backlog
from scurry.graph.plan import JobPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.driver.backlog import BacklogTracker
from scurry.runtime.driver.job import BatchReport, JobExecution
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.progress import ProgressDisplay

SOURCE = str(Path(scurry.__file__).parent.parent)
MIDNIGHT = 1_767_225_600_000  # 2026-01-01T00:00:00Z


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Job:
    """A job whose batches the test makes, on a clock it turns."""

    def __init__(self, **configuration: str) -> None:
        settings = JobSettings("counting", 1, configuration={"scurry.progress": "plain", **configuration})
        self.execution = JobExecution(JobPlan(settings))
        self.now = self.execution.started
        self.stderr = io.StringIO()

    def display(self, stream: io.StringIO | None = None) -> ProgressDisplay:
        return ProgressDisplay(self.execution, stream or self.stderr, lambda: self.now)

    def batch(self, records: int = 1000, seconds: float = 1, watermark: int | None = None) -> None:
        self.now += seconds
        totals = self.execution.totals
        totals.batches, totals.records_in = totals.batches + 1, totals.records_in + records
        if watermark is not None:
            totals.watermarks[0] = watermark
        for listener in self.execution.listeners:
            listener(BatchReport(totals.batches, seconds, records, records // 10, self.execution.totals.watermark))

    def lines(self) -> list[str]:
        return self.stderr.getvalue().splitlines()


def test_a_terminal_shows_the_address_of_the_page_with_its_token_and_other_streams_without() -> None:
    job = Job()
    assert job.display().page_text() is None
    job.execution.page = ("http://127.0.0.1:40123", "secret-token")
    assert job.display(Terminal()).page_text() == "page: http://127.0.0.1:40123/#token=secret-token"
    assert job.display().page_text() == "page: http://127.0.0.1:40123"


def test_a_job_at_a_terminal_that_runs_on_shows_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scurry.runtime.progress._PAGE_SECONDS", 0.01)
    job, terminal = Job(), Terminal()
    job.execution.page = ("http://127.0.0.1:40123", None)
    with job.display(terminal):
        wait_until(lambda: "page: http://127.0.0.1:40123\n" in terminal.getvalue())


def test_a_job_that_is_over_at_once_does_not() -> None:
    job, terminal = Job(), Terminal()
    job.execution.page = ("http://127.0.0.1:40123", "t")
    with job.display(terminal):
        pass
    assert "page:" not in terminal.getvalue()


def test_a_job_that_is_behind_says_how_far_and_when_it_will_have_caught_up() -> None:
    job, left = Job(), (9000, 8000)
    behind = job.execution.backlog = BacklogTracker(lambda: job.now)
    display = job.display()
    for records in left:
        job.batch(seconds=2)
        behind.left(1, Backlog(records, None))
        behind.worked(2, {1})
    assert "8,000 records behind (caught up in 16 s)" in display.status()
    behind.left(1, Backlog(8500, 2_500_000))
    assert "8,500 records and 2 MB behind (caught up in 16 s)" in display.status()
    job.batch(seconds=2)
    behind.worked(2, {1})
    behind.left(1, Backlog(9500, None))
    job.batch(seconds=2)
    behind.worked(2, {1})
    assert "9,500 records behind (not catching up)" in display.status()
    behind.worked(2, ())
    assert "behind" not in display.status()


def test_a_short_job_has_its_summary_only() -> None:
    job = Job()
    with job.display():
        job.batch(seconds=4)
    assert job.lines() == ["counting: finished after 4.0 s, 1 batch: 1,000 records in, 0 out"]


def test_a_longer_one_has_a_line_every_five_seconds() -> None:
    job = Job()
    with job.display():
        for _ in range(12):
            job.batch()
    assert job.lines()[:-1] == [
        "counting: streaming, batch 5, 1,000/s in, 100/s out",
        "counting: streaming, batch 10, 1,000/s in, 100/s out",
    ]


def test_rates_are_those_of_the_last_seconds() -> None:
    job = Job()
    with job.display() as display:
        for _ in range(30):
            job.batch(records=1_000_000)
        for _ in range(30):
            job.batch(records=500)
        assert "500/s in" in display.status()


def test_rates_fall_while_the_job_idles() -> None:
    job = Job()
    with job.display() as display:
        job.batch(records=1000)
        job.now += 9
        assert " 100/s in" in display.status()


def test_a_live_job_shows_how_far_its_watermark_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: MIDNIGHT / 1000 + 12)
    job = Job()
    with job.display() as display:
        job.batch(watermark=MIDNIGHT)
        assert "watermark 2026-01-01T00:00:00Z (12 s behind)" in display.status()


def test_a_replay_shows_how_fast_it_goes_instead() -> None:
    job = Job()
    with job.display() as display:
        job.batch(watermark=0)
        job.batch(watermark=86_400_000)
        assert "watermark 1970-01-02T00:00:00Z (1.0 d of data per s)" in display.status()


def test_the_end_of_input_is_no_date() -> None:
    job = Job()
    with job.display() as display:
        job.batch(watermark=MAX_TIME)
        assert "watermark at the end of input" in display.status()


def test_timestamps_in_the_wrong_unit_do_not_disturb_the_job() -> None:
    job = Job()
    with job.display() as display:
        job.batch(watermark=MIDNIGHT * 1_000_000)
        assert "watermark 1767225600000000000 ms" in display.status()


def test_late_records_are_in_the_summary_by_operator() -> None:
    job = Job()
    with job.display():
        job.batch()
        job.execution.totals.late = {"per hour": 12, "per day": 1}
    assert job.lines()[-1].endswith("; 12 late records dropped by per hour; 1 late record dropped by per day")


def test_where_a_job_goes_on_is_said_once() -> None:
    job = Job()
    job.execution.log.note("resuming from checkpoint /state")
    with job.display():
        job.batch()
        job.batch()
    assert job.lines()[0] == "counting: resuming from checkpoint /state"
    assert len(job.lines()) == 2


def test_the_summary_says_how_the_job_ended() -> None:
    failed, stopped = Job(), Job()
    with pytest.raises(ValueError), failed.display():
        raise ValueError
    with stopped.display():
        stopped.execution.stopping.set()
    assert failed.lines()[-1].startswith("counting: failed after")
    assert stopped.lines()[-1].startswith("counting: stopped after")


def test_off_is_silent() -> None:
    job = Job(**{"scurry.progress": "off"})
    with job.display():
        job.batch(seconds=60)
    assert job.stderr.getvalue() == ""


def test_tests_run_by_pytest_are_spared() -> None:
    job = Job(**{"scurry.progress": "auto"})
    with job.display():
        job.batch(seconds=60)
    assert job.stderr.getvalue() == ""


def test_a_terminal_has_a_live_line_that_leaves_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    job, terminal = Job(**{"scurry.progress": "auto"}), Terminal()
    with job.display(terminal):
        job.batch(records=7)
        wait_until(lambda: "counting: streaming, batch 1, 7/s in" in terminal.getvalue())
    assert terminal.getvalue().splitlines()[-1].endswith("counting: finished after 1.0 s, 1 batch: 7 records in, 0 out")


def test_the_address_above_a_live_line_is_whole_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("scurry.runtime.progress._PAGE_SECONDS", 0.01)
    job, terminal = Job(**{"scurry.progress": "auto"}), Terminal()
    job.execution.page = ("http://127.0.0.1:40123", 43 * "t")
    address = f"page: http://127.0.0.1:40123/#token={43 * 't'}\n"
    with job.display(terminal):
        job.batch(records=7)
        wait_until(lambda: "counting: streaming, batch 1" in terminal.getvalue() and "page: " in terminal.getvalue())
    assert terminal.getvalue().count(address) == 1


# ------------------------------------------------------------------ real jobs

COUNTING = """
    import time
    from scurry.common import Types, WatermarkStrategy
    from scurry.datastream import StreamExecutionEnvironment
    from scurry.datastream.connectors.datagen import DataGeneratorSource
    from scurry.datastream.window import TumblingEventTimeWindows

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
"""
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"} | {
    "PYTHONPATH": SOURCE,
    "PYTHONUNBUFFERED": "1",
}


def command(tmp_path: Path, code: str) -> list[str]:
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(COUNTING) + textwrap.dedent(code), encoding="utf-8")
    return [
        sys.executable,
        "-m",
        "scurry",
        "run",
        "--runner",
        "local",
        "-D",
        f"scurry.log.file={tmp_path / 'log'}",
        str(file),
    ]


def test_progress_goes_to_standard_error_alone(tmp_path: Path) -> None:
    code = """
        env.from_collection([1, 2, 3], type_info=Types.INT()).print()
        env.execute("small")
    """
    done = subprocess.run(command(tmp_path, code), capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.stdout == "1\n2\n3\n"
    assert done.stderr.startswith("small: finished after ") and done.stderr.endswith("1 batch: 3 records in, 3 out\n")


def test_execute_async_shows_nothing(tmp_path: Path) -> None:
    code = """
        env.from_collection([1, 2, 3], type_info=Types.INT()).print()
        env.execute_async("small").get_job_execution_result().result()
    """
    done = subprocess.run(command(tmp_path, code), capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert (done.stdout, done.stderr) == ("1\n2\n3\n", "")


def test_rich_is_loaded_for_terminals_only(tmp_path: Path) -> None:
    code = """
        import sys
        env.from_collection([1], type_info=Types.INT()).print()
        env.execute()
        print("rich.live" in sys.modules)
    """
    done = subprocess.run(command(tmp_path, code), capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.stdout == "1\nFalse\n"


def test_the_watermark_and_late_records_of_a_job_reach_its_execution(tmp_path: Path) -> None:
    from scurry.common import Configuration, Types, WatermarkStrategy
    from scurry.datastream import StreamExecutionEnvironment
    from scurry.datastream.window import TumblingEventTimeWindows

    settings = Configuration.from_dict({"scurry.runner": "local", "scurry.batch.max-records": "1"})
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(1)
    listening = tmp_path / "listening"

    def assign(timestamp: int, _: int) -> int:
        while not listening.exists():
            time.sleep(0.01)
        return timestamp

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(assign)
    times = env.from_collection([5, 100, 7], type_info=Types.LONG()).assign_timestamps_and_watermarks(strategy)
    windows = times.key_by(lambda _: 0, key_type=Types.INT()).window(TumblingEventTimeWindows.of(10))
    windows.reduce(max).name("per 10 ms").print()
    client = env.execute_async("late")
    execution, watermarks = client.execution, []  # type: ignore[attr-defined]
    execution.listeners.append(lambda report: watermarks.append(report.watermark))
    listening.touch()
    client.get_job_execution_result().result()
    assert watermarks == sorted(watermarks) and watermarks[-1] == MAX_TIME
    assert execution.totals.late == {"per 10 ms": 1}


STOPPING = """
    import sys, threading

    def briefly(n):
        time.sleep(0.01)
        return n

    def for_ever(n):
        main = threading.main_thread().ident
        while "wait_for" not in functions(sys._current_frames()[main]):  # execute() waits for the job
            time.sleep(0.01)
        print("it waits", flush=True)
        time.sleep(600)

    def functions(frame):
        return {{frame.f_code.co_name, *functions(frame.f_back)}} if frame else set()

    source = DataGeneratorSource(lambda n: n, records_per_second=100)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    numbers.map({function}, Types.LONG()).print()
    env.execute("endless")
"""


def started(tmp_path: Path, function: str) -> subprocess.Popen[str]:
    """Start a job, and wait for the first line that it prints."""
    arguments = command(tmp_path, STOPPING.format(function=function))
    job = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert job.stdout is not None
    job.stdout.readline()
    return job


def test_control_c_stops_a_job_at_the_end_of_its_micro_batch(tmp_path: Path) -> None:
    job = started(tmp_path, "briefly")
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=120)
    assert job.returncode == 130
    assert err.splitlines()[0] == "endless: stopping at the end of the micro-batch; Ctrl-C again to exit at once"
    assert err.splitlines()[1].startswith("endless: stopped after ")
    assert err.splitlines()[2:] == ["interrupted"]
    assert "endless: canceled by Ctrl-C after " in (tmp_path / "log").read_text()


def test_a_second_control_c_does_not_wait_for_it(tmp_path: Path) -> None:
    job = started(tmp_path, "for_ever")
    job.send_signal(signal.SIGINT)
    assert job.stderr is not None and "stopping" in job.stderr.readline()
    job.send_signal(signal.SIGINT)
    job.communicate(timeout=120)
    assert job.returncode == 130
