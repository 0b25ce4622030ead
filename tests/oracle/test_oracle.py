"""Programs print what real Flink printed (`recordings.py`), on every runner."""

from __future__ import annotations

import runpy
import threading
import time
import zlib
from typing import Any

import pytest
from recordings import Program, programs

from scurry.common._process import launch
from scurry.runtime.local.streaming import LocalEngine
from support.runtime.parts import in_parts

PROGRAMS = programs()

#: Programs that print something else here, and why.
KNOWN: dict[str, str] = {}


def runs(runner: str) -> list[Any]:
    """Every program in each mode and parallelism; on Spark, where a run takes seconds, at its highest parallelism."""
    return [
        pytest.param(program, mode, number, id=f"{program.name}-{mode}-{number}", marks=marks(program, runner))
        for program in PROGRAMS
        for mode in program.modes
        for number in (program.parallelisms if runner == "local" else program.parallelisms[-1:])
    ]


def marks(program: Program, runner: str) -> list[Any]:
    """On Spark a quarter of the programs run with every change, and all of them at night."""
    found: list[Any] = [pytest.mark.xfail(reason=KNOWN[program.name])] if program.name in KNOWN else []
    if runner == "spark":
        often = zlib.crc32(program.name.encode()) % 4 == 0
        found += [pytest.mark.nightly, *([pytest.mark.spark] if often else [])]
    return found


def check(program: Program, options: launch.LaunchOptions, capsys: pytest.CaptureFixture[str]) -> None:
    import scurry.pyflink_alias  # noqa: F401 - `import pyflink` finds scurry from here on

    with launch.activate(options):
        runpy.run_path(str(program.path), run_name="__main__")
    printed = capsys.readouterr().out
    assert program.comparable(printed) == program.comparable(program.recording.read_text(encoding="utf-8"))


@pytest.fixture
def quick_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """`time.sleep` in a source's chain moves its clock instead of waiting: programs pause so that watermarks pass.

    Each source of a micro-batch starts at the time the one before ended, as if they had run next to each other. The
    main thread, in which the runner waits for them, really sleeps.
    """
    ahead, ends = threading.local(), {-1: 0.0}
    sleep, monotonic, wall, read = time.sleep, time.monotonic, time.time_ns, LocalEngine._read

    def skip(seconds: float) -> None:
        if threading.current_thread() is threading.main_thread():
            sleep(seconds)
        else:
            ahead.seconds = skipped() + seconds

    def skipped() -> float:
        return getattr(ahead, "seconds", 0.0)

    def read_at_its_time(engine: LocalEngine, assignment: Any) -> Any:
        batch_id = engine.memory.batch_id
        ahead.seconds = max(seconds for batch, seconds in ends.items() if batch < batch_id)
        rows = read(engine, assignment)
        ends[batch_id] = max(ends.get(batch_id, 0.0), skipped())
        return rows

    monkeypatch.setattr(time, "sleep", skip)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + skipped())
    monkeypatch.setattr(time, "time_ns", lambda: wall() + int(skipped() * 1e9))
    monkeypatch.setattr(LocalEngine, "_read", read_at_its_time)


def test_every_program_is_recorded() -> None:
    assert [program.name for program in PROGRAMS if not program.recording.exists()] == []


def test_known_differences_are_programs() -> None:
    assert set(KNOWN) <= {program.name for program in PROGRAMS}


@pytest.mark.filterwarnings("ignore:scurry loads no jars")
@pytest.mark.usefixtures("quick_sleep")
@pytest.mark.parametrize(("program", "mode", "parallelism"), runs("local"))
def test_program_prints_what_flink_prints(
    program: Program, mode: str, parallelism: int, capsys: pytest.CaptureFixture[str]
) -> None:
    check(program, launch.LaunchOptions(runner="local", mode=mode, parallelism=parallelism), capsys)


@pytest.mark.filterwarnings("ignore:scurry loads no jars")
@pytest.mark.usefixtures("quick_sleep")
@pytest.mark.parametrize(
    "program", [pytest.param(each, id=each.name) for each in PROGRAMS if "streaming" in each.modes]
)
def test_program_prints_what_flink_prints_in_parts(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    with in_parts():
        check(
            program,
            launch.LaunchOptions(runner="local", mode="streaming", parallelism=program.parallelisms[-1]),
            capsys,
        )


@pytest.mark.filterwarnings("ignore:scurry loads no jars")
@pytest.mark.parametrize(("program", "mode", "parallelism"), runs("spark"))
def test_program_prints_what_flink_prints_on_spark(
    program: Program, mode: str, parallelism: int, capsys: pytest.CaptureFixture[str]
) -> None:
    check(program, launch.LaunchOptions(runner="spark", mode=mode, parallelism=parallelism), capsys)
