"""Runs the job on a small file system that is filled at random moments; reports in JSON.

disk_full.py INPUT PLACE FAULTS SEED        where PLACE/checkpoints may be mounted on
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.faults.job_directory import Place
from support.faults.job_in_process import Attempt

SIZE = "24m"


@contextmanager
def small_disk(directory: Path) -> Iterator[None]:
    """A file system of its own; the mount ends with this process at the latest, whose namespace it is in."""
    directory.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "none", str(directory)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def fill(filler: Path) -> None:
    """Writes until nothing fits any more."""
    with open(filler, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def main(readings: str, root: str, faults: str, seed: str) -> None:
    chance, errors, jobs = random.Random(f"{seed} disk full"), list[str](), list[object]()
    while len(errors) < int(faults):
        place = Place.new(Path(root), len(jobs) + 1, Path(readings))
        filler = place.checkpoints / "filler"
        with small_disk(place.checkpoints):
            error: BaseException | None = None
            while len(errors) < int(faults):
                attempt = Attempt(place)
                if attempt.wait_for(chance.randrange(1, 4)) and not attempt.ends_within(chance.uniform(0, 0.5)):
                    fill(filler)
                error = attempt.error()
                filler.unlink(missing_ok=True)
                if error is None:
                    break
                errors.append(str(error))
                print(f"full {len(errors)} after {len(place.batches())} batches", file=sys.stderr)
            if error is not None:
                assert Attempt(place).error() is None
            jobs.append(place.results())
    print(json.dumps({"errors": errors, "results": jobs}))


if __name__ == "__main__":
    main(*sys.argv[1:])
