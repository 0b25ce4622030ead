"""A simulation does the same for the same schedule, loses what a machine loses, and shrinks what fails."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.testing.simulation import (
    KINDS,
    Fault,
    FoundFault,
    Program,
    Schedule,
    SimulatedSink,
    SimulatedSource,
    Simulation,
    counts,
    sessions,
    timers,
    windows,
)
from scurry.testing.simulation.files import SimulatedDisk
from scurry.testing.simulation.machine import KilledError, Machine
from scurry.testing.simulation.watermarks import CommittedWatermarks
from support.simulated import PROGRAMS
from support.simulated.on_spark import SparkSimulation

FAULTS = (Fault(20, "kill"), Fault(60, "rescale", 3), Fault(90, "savepoint"), Fault(130, "crash"))


def test_a_job_without_faults_gives_its_output_in_one_process() -> None:
    run = Simulation(counts()).run(Schedule(1, records=5))
    assert run.processes == 1 and run.dealt == ()
    assert len(run.output) == 5


def test_a_job_survives_what_a_schedule_deals() -> None:
    run = Simulation(counts()).run(Schedule(1, records=12, faults=FAULTS))
    assert sorted(run.dealt) == list(FAULTS)
    assert run.processes == 3


def test_a_schedule_has_one_hash_in_all_processes() -> None:
    code = (
        "from scurry.testing.simulation import *\n"
        f"print(Simulation(counts()).run(Schedule(1, records=12, faults={FAULTS!r})).digest)"
    )
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    commands = [[sys.executable, "-c", code]] * 2
    digests = {
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for command, environment in zip(commands, environments, strict=True)
    }
    assert digests == {Simulation(counts()).run(Schedule(1, records=12, faults=FAULTS)).digest + "\n"}


def test_two_timers_of_one_time_are_expected_to_fire_once() -> None:
    assert len(Simulation(timers()).run(Schedule(307, records=2, partitions=1, parallelism=1)).output) == 1


def test_classes_of_the_main_module_are_no_part_of_a_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each plan has them, and cloudpickle draws a name for a class once in a process."""
    schedule = Schedule(1, records=12, faults=FAULTS)
    alone = Simulation(counts()).run(schedule).digest
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "Another", type("Another", (), {"__module__": "__main__"}), raising=False)
    assert Simulation(counts()).run(schedule).digest == alone


def test_other_threads_of_the_process_are_no_part_of_a_schedule() -> None:
    """They neither change its events nor feel its clock."""
    schedule = Schedule(1, records=12, faults=FAULTS)
    alone = Simulation(counts()).run(schedule).digest
    ends, errors = threading.Event(), []

    def works() -> None:
        try:
            while not ends.is_set():
                began = time.monotonic()
                uuid.uuid4()
                os.urandom(8)
                time.sleep(0.001)
                assert time.monotonic() - began < 60
        except BaseException as error:
            errors.append(error)

    other = threading.Thread(target=works)
    other.start()
    try:
        assert {Simulation(counts()).run(schedule).digest for _ in range(3)} == {alone}
    finally:
        ends.set()
        other.join()
    assert errors == []


def test_seeds_draw_all_kinds_of_faults_and_other_schedules_each() -> None:
    schedules = [Schedule.of_seed(seed, 20, 200) for seed in range(300)]
    assert {fault.kind for each in schedules for fault in each.faults} == set(KINDS)
    assert len({str(each) for each in schedules}) > 295
    assert schedules[7] == Schedule.of_seed(7, 20, 200)


def test_the_text_of_a_schedule_makes_it_again() -> None:
    schedule = Schedule(3, records=9, faults=FAULTS)
    assert eval(str(schedule)) == schedule
    assert eval(str(Schedule(3, faults=FAULTS[:1]))) == Schedule(3, faults=FAULTS[:1])


def drops(value: tuple[str, int]) -> bool:
    return value[1] != 3


def dropping() -> Program:
    """Return a program that loses one record, whatever happens."""

    def build(env: StreamExecutionEnvironment, source: SimulatedSource, sink: SimulatedSink) -> None:
        stream = env.from_source(source, None, "source", Types.TUPLE([Types.STRING(), Types.INT()]))
        stream.filter(drops).sink_to(sink)

    def records(count: int, chance: random.Random) -> list[tuple[str, tuple[str, int], int]]:
        return [("a", ("a", number), number) for number in range(count)]

    return Program("dropping", records, build, lambda given: [record for _, record, _ in given])


def test_a_fault_is_shrunk_to_a_test_of_a_line_that_finds_it_again() -> None:
    simulation = Simulation(dropping())
    with pytest.raises(FoundFault) as found:
        simulation.check(3, first=4)
    schedule = found.value.schedule
    assert (schedule.records, schedule.partitions, schedule.parallelism, schedule.faults) == (4, 1, 1, ())
    assert found.value.reason == "lost: [('a', 3)], twice or wrong: []"
    assert f"    Simulation(dropping()).run({schedule})" in str(found.value)
    with pytest.raises(FoundFault, match="lost"):
        simulation.run(schedule)


# ---------------------------------------------------------------- what jobs read and write


@pytest.mark.parametrize("name", ["files", "log"])
def test_files_and_logs_are_written_once_over_kills(name: str) -> None:
    run = Simulation(PROGRAMS[name]()).run(Schedule(3, records=12, faults=FAULTS))
    assert run.processes > 1 and len(run.output) == 12


def test_calls_of_async_functions_end_by_the_clock_of_the_machine() -> None:
    simulation = Simulation(PROGRAMS["overlapping"]())
    run = simulation.run(Schedule(3, records=12, faults=(Fault(40, "kill"),)))
    assert run.digest == simulation.run(Schedule(3, records=12, faults=(Fault(40, "kill"),))).digest


def test_a_change_goes_on_with_another_version_of_the_program() -> None:
    program = counts()
    built: list[int] = []

    def version(number: int) -> Any:
        def build(env: StreamExecutionEnvironment, source: Any, sink: Any) -> None:
            built.append(number)
            program.build(env, source, sink)

        return build

    changed = replace(program, build=version(0), versions=(version(1), version(2)))
    Simulation(changed).run(Schedule(1, records=8, faults=(Fault(40, "change", 2), Fault(90, "change", 1))))
    assert built == [0, 2, 1]


# ---------------------------------------------------------------- the disk


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(1, (), str(tmp_path))


@pytest.fixture
def disk(machine: Machine) -> Iterator[SimulatedDisk]:
    simulated = SimulatedDisk(machine)
    with simulated.active():
        yield simulated


def contents_after_crashes(machine: Machine, disk: SimulatedDisk, path: Path, force: bool) -> set[str | None]:
    """Return what a file that was written anew may hold after a crash."""
    found: set[str | None] = set()
    for _ in range(40):
        disk.forced(str(path))
        path.write_text("before")
        disk.forced(str(path))
        with open(path.with_suffix(".new"), "w") as file:
            file.write("afterwards")
            file.flush()
            if force:
                os.fsync(file.fileno())
        os.replace(path.with_suffix(".new"), path)
        disk.lose()
        found.add(path.read_text() if path.exists() else None)
    return found


def test_a_crash_leaves_one_of_two_files_if_the_new_one_was_forced(
    machine: Machine, disk: SimulatedDisk, tmp_path: Path
) -> None:
    assert contents_after_crashes(machine, disk, tmp_path / "file", True) == {"before", "afterwards"}


def test_a_crash_may_leave_part_of_a_file_that_was_not(machine: Machine, disk: SimulatedDisk, tmp_path: Path) -> None:
    found = contents_after_crashes(machine, disk, tmp_path / "file", False)
    assert {"before", "afterwards"} < found
    assert all(text == "before" or (text is not None and "afterwards".startswith(text)) for text in found)


def test_a_crash_does_not_lose_the_forced_beginning_of_a_file_that_is_cut_and_appended_to(
    disk: SimulatedDisk, tmp_path: Path
) -> None:
    path, found = tmp_path / "file", set()
    for _ in range(40):
        path.write_text("forced, cut")
        disk.forced(str(path))
        with open(path, "r+b") as file:
            file.truncate(6)
            file.seek(6)
            file.write(b" and more")
        disk.lose()
        found.add(path.read_text())
    assert {"forced, cut", "forced and more"} < found
    assert all(text.startswith("forced") for text in found)


def test_a_second_driver_may_run_while_the_first_has_not_got_the_directory() -> None:
    Simulation(PROGRAMS["files"]()).run(Schedule(1, 1, 1, 1, (Fault(1, "second"), Fault(1, "full"))))


def test_a_process_that_has_died_changes_nothing_more(disk: SimulatedDisk, tmp_path: Path) -> None:
    path, machine = tmp_path / "file", disk.machine
    with pytest.raises(KilledError), open(path, "w") as file:
        file.write("lost, because it is in a buffer")
        machine.die()
    with pytest.raises(KilledError):
        path.unlink()
    with pytest.raises(KilledError):
        os.replace(path, tmp_path / "moved")
    with pytest.raises(KilledError):
        (tmp_path / "new").mkdir()
    assert path.stat().st_size == 0


def test_other_files_are_not_simulated(disk: SimulatedDisk, tmp_path_factory: pytest.TempPathFactory) -> None:
    (tmp_path_factory.mktemp("elsewhere") / "file").write_text("text")
    assert disk.machine.operations == 0


# ---------------------------------------------------------------- faults that it has found


def test_a_savepoint_outlives_a_crash_of_the_machine() -> None:
    """Simulation: a job that was stopped with a savepoint has nothing else."""
    faults = (Fault(1, "stop"), Fault(85, "crash"))
    Simulation(windows()).run(Schedule(63, records=8, partitions=1, parallelism=1, faults=faults))


def test_a_reader_that_ends_first_does_not_end_time_for_others() -> None:
    Simulation(windows()).run(Schedule(11, records=6, partitions=1, parallelism=1, faults=(Fault(1, "rescale", 5),)))


def test_the_programs_of_the_page_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "simulation.md"
    programs = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(programs) == 2
    namespace: dict[str, Any] = {"__name__": "page"}
    for program in programs:
        exec(compile(program, str(page), "exec"), namespace)


@pytest.mark.parametrize(("operation", "kind"), [(6, "fail"), (7, "fail"), (8, "full"), (12, "fail")])
def test_a_job_restarts_in_its_process_after_a_failure_to_open_its_checkpoint(operation: int, kind: str) -> None:
    """Simulation: the directory was in use by the job itself, and the database locked by its first connection."""
    run = Simulation(counts()).run(Schedule(1, records=5, faults=(Fault(operation, kind),)))
    assert run.processes == 1 and len(run.output) == 5


def test_locks_of_a_killed_process_do_not_last() -> None:
    faults = [(63, "tear"), (71, "crash"), (105, "savepoint"), (109, "kill"), (124, "savepoint"), (150, "kill")]
    schedule = Schedule(116, 19, 1, 4, tuple(Fault(number, kind) for number, kind in faults))
    assert Simulation(sessions()).run(schedule).processes < 10


# ---------------------------------------------------------------- the model of Spark


def test_drivers_and_tasks_of_the_model_of_spark_fail_and_the_output_is_right() -> None:
    faults = (Fault(50, "kill"), Fault(100, "fail"), Fault(150, "rescale", 3), Fault(180, "savepoint"))
    run = SparkSimulation(counts()).run(Schedule(1, records=12, faults=faults))
    assert run.processes > 1 and len(run.output) == 12
    assert sorted(run.dealt) == list(faults)


def test_readers_without_new_records_hold_time_back_after_their_number_changed() -> None:
    faults = (Fault(60, "rescale", 2),)
    run = Simulation(windows()).run(Schedule(2058, records=14, partitions=4, parallelism=3, faults=faults))
    assert run.dealt == faults


@pytest.mark.parametrize(
    ("program", "schedule"),
    [
        # offsets that a crash had torn were those of a batch that sinks had
        ("evolving", Schedule(10000020, 5, 4, 3, (Fault(89, "crash"),))),
        # the state that the changed program was to begin with was torn
        ("evolving", Schedule(10000017, 9, 2, 1, (Fault(77, "change", 3), Fault(101, "crash")))),
        # a first batch was committed by its note, though its state had been deleted
        (
            "counts",
            Schedule(
                10000135, 4, 2, 1,
                (
                    Fault(71, "kill"), Fault(89, "full"), Fault(166, "kill"), Fault(213, "rescale", 2),
                    Fault(233, "crash"),
                ),
            ),
        ),
    ],
    ids=["torn offsets", "torn state", "deleted state"],
)  # fmt: skip
def test_crashes_of_the_machine_on_spark_lose_nothing(program: str, schedule: Schedule) -> None:
    run = SparkSimulation(PROGRAMS[program]()).run(schedule)
    assert len(run.output) == schedule.records


def test_a_watermark_that_goes_back_is_a_fault() -> None:
    watermarks = CommittedWatermarks()
    for watermark in (1, 5, 5):
        watermarks.add("a", watermark)
    watermarks.add("b", 2)
    assert watermarks.wrong == []
    watermarks.add("a", 4)
    assert watermarks.wrong == ["the watermark of 'a' goes back from 5 to 4"]
