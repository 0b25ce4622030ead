"""A SQL script that inserts the lines of files into tables in STREAMING, run as processes that are killed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, Run

FILES, LINES_PER_FILE = 8, 500
NUMBERS = list(range(FILES * LINES_PER_FILE))


def write_numbers(directory: Path, files: int = FILES) -> Path:
    """Files of lines `number,text`, every number once."""
    directory.mkdir(parents=True)
    for file in range(files):
        lines = [f"{number},{'x' * 20}" for number in NUMBERS[file::files]]
        (directory / f"part-{file}.csv").write_text("\n".join(lines) + "\n")
    return directory


def script(place: Place, sinks: Mapping[str, str]) -> Path:
    """Write the script of a job with some tables.

    Args:
        place: The job.
        sinks: What is behind the columns of each table, by name.
    """
    settings = {
        "execution.checkpointing.dir": place.checkpoints,
        "scurry.batch.max-bytes": 6000,
        "restart-strategy.type": "none",
        "parallelism.default": 2,
    }
    statements = [f"SET '{key}' = '{value}'" for key, value in settings.items()]
    statements.append(
        "CREATE TABLE source (n INT, t STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{place.readings}')"
    )
    statements += [f"CREATE TABLE {name} (n INT, p STRING{rest}" for name, rest in sinks.items()]
    inserts = [f"INSERT INTO {name} SELECT n, 'p' || CAST(MOD(n, 2) AS STRING) FROM source;" for name in sinks]
    statements.append("EXECUTE STATEMENT SET BEGIN " + " ".join(inserts) + " END")
    path = place.root / "job.sql"
    path.write_text(";\n".join(statements) + ";\n")
    return path


def kill_often(
    jobs: Callable[[int], Place],
    program_of: Callable[[Place], Path],
    check: Callable[[Place], None],
    kills: int,
    chance: random.Random,
    first_sign: Callable[[Place], object] | None = None,
    runner: str = "spark",
) -> None:
    """Kill jobs until there were enough kills, let each go on where it committed, and check what it wrote.

    Args:
        jobs: Makes the place of a job.
        program_of: Writes the script of a job.
        check: Checks them once the job has ended.
        kills: Number of kills.
        chance: Decides the moments.
        first_sign: Something that a sink changes when it commits, before Spark has: every other kill follows at once.
        runner: What runs the job.
    """
    killed, number, options = 0, 0, ["--runner", runner]
    while killed < kills:
        number += 1
        place = jobs(number)
        program = program_of(place)
        run = Run(place, options, program, [])
        while killed < kills:
            by_sign = first_sign is not None and killed % 2 == 1
            if not goes_on(run, first_sign if by_sign and first_sign is not None else _batches):
                break
            if not by_sign and run.ends_within(chance.uniform(0, 0.5)):
                break
            run.kill()
            killed += 1
            print(f"job {number}: kill {killed} after {len(place.batches())} batches", flush=True)
            run = Run(place, options, program, [])
        run.finish()
        check(place)


def _batches(place: Place) -> int:
    return len(place.batches())


def goes_on(run: Run, watched: Callable[[Place], object]) -> bool:
    """Wait until something changes; return False if the job ends before."""
    before, give_up = watched(run.place), time.monotonic() + GIVE_UP_SECONDS
    while watched(run.place) == before:
        assert time.monotonic() < give_up, run.story("nothing changes")
        if run.ends_within(0.005):
            return False
    return True
