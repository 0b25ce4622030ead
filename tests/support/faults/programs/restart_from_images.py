"""Records all that a crash of the job could leave in the first batches, and starts it again from each; reports in JSON.

    restart_from_images.py INPUT ROOT VARIANT SAMPLE SEED

SAMPLE is how many of the images to start from besides those that matter most; all of them if it is 0.

The job begins with nothing (`plain`; `large`: its state is in files of runs, which are merged), with the
state of a savepoint (`savepoint`), with its own state at another
parallelism (`rescaled`), or with damaged files, for which it goes back (`taken_back`).
"""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from support.faults.crash_images import Image, Recorder, compile_recorder
from support.faults.job_directory import Place, Results
from support.faults.job_in_process import Attempt, spark_context

#: Spark does not work on state in the background: it might be that of the start before, which was at the same path.
QUIET = {"spark.sql.streaming.stateStore.maintenanceInterval": "1h"}

#: What is in every sample: the first image whose moment looks like this.
ALWAYS = (
    r"created .*/spark/\.metadata\.",
    r"wrote to .*/offsets/\.0\.",
    r"renamed .*/offsets/\.0\.",
    r"made directory .*/state/0/_metadata",
    r"renamed .*/state/\d/\d/\.1\.changelog",
    r"renamed .*/state/\d/\d/\.2\.changelog",
    r"wrote to .*/commits/\.0\.",
    r"renamed .*/commits/\.0\.",
)


@dataclass
class Case:
    """A job to record and to start again.

    Attributes:
        place: Where it is recorded.
        until: What the path ends with whose existence ends the recording.
        expected: What it has to write.
        settings: What it is started with.
        state_bytes: How much state each of its keys has.
    """

    place: Place
    until: str
    expected: Results
    settings: dict[str, str] = field(default_factory=dict)
    state_bytes: int = 0

    def start(self) -> Attempt:
        return Attempt(self.place, self.settings | QUIET, state_bytes=self.state_bytes)


def plain(place: Place, expected: Results) -> Case:
    return Case(place, "/finished", expected)


def large(place: Place, expected: Results) -> Case:
    return Case(place, "/finished", expected, state_bytes=100_000)


def savepoint(place: Place, expected: Results) -> Case:
    before = Place.new(place.root / "before", 0, place.readings)
    attempt = Attempt(before)
    assert attempt.wait_for(1)
    path = attempt.client.stop_with_savepoint(False, str(place.root.with_name("savepoints"))).result()
    assert attempt.error() is None
    written = before.results()
    rest = {sink: sorted((Counter(expected[sink]) - Counter(written[sink])).elements()) for sink in expected}
    shutil.rmtree(place.root / "before", ignore_errors=True)
    return Case(place, "/offsets/2", rest, {"execution.state-recovery.path": path})


def rescaled(place: Place, expected: Results) -> Case:
    # To more subtasks: fewer would read the rest of two files one after the other, and some of it would be late.
    attempt = Attempt(place, parallelism=1)
    assert attempt.wait_for(1)
    attempt.cancel()
    attempt.error()
    return Case(place, "generation-2/spark/offsets/2", expected)


def taken_back(place: Place, expected: Results) -> Case:
    attempt = Attempt(place)
    assert attempt.wait_for(2)
    attempt.crash()
    last = place.batches()[-1]
    for batch in (last - 1, last):  # the job goes back by two batches
        (place.generation / "spark" / "commits" / str(batch)).write_text("v1\n{")
    return Case(place, f"/offsets/{last + 2}", expected)


VARIANTS: dict[str, Callable[[Place, Results], Case]] = {
    "plain": plain,
    "large": large,
    "savepoint": savepoint,
    "rescaled": rescaled,
    "taken_back": taken_back,
}


def record(case: Case, target: Path) -> list[Image]:
    recorder = Recorder(spark_context()._jvm, case.place.root, target)
    with recorder.until(case.until):
        assert case.start().error() is None
    assert case.place.results() == case.expected
    images = recorder.images()
    with_runs = any("/runs/" in f"/{name}" for image in images for name in image.files)
    assert with_runs == bool(case.state_bytes), "only large state is in files of runs"
    return images


def sample(images: list[Image], size: int, chance: random.Random) -> list[Image]:
    if not size:
        return chance.sample(images, len(images))
    whole = [image for image in images if image.cut is None]
    first = ([image for image in whole if re.match(pattern, image.moment)][:1] for pattern in ALWAYS)
    return [*chain(*first), *chance.sample(images, size)]


def fault(case: Case, image: Image) -> str | None:
    """Starts the job from an image; what is wrong with its end, None if nothing is."""
    image.lay_out()
    error = case.start().error()
    if error is not None:
        return str(error)[:500]
    results, expected = case.place.results(), case.expected
    if results != expected:
        sizes = {sink: (len(results[sink]), len(expected[sink])) for sink in expected}
        return f"other records than without a crash: {sizes}"
    return None


def main(readings: str, root: str, variant: str, size: str, seed: str) -> None:
    settings = compile_recorder(Path(root) / "classes")
    undisturbed = Place.new(Path(root), 0, Path(readings))
    assert Attempt(undisturbed, settings | QUIET).error() is None
    case = VARIANTS[variant](Place.new(Path(root), 1, Path(readings)), undisturbed.results())
    images = record(case, Path(root) / "images")
    chosen, faults = sample(images, int(size), random.Random(f"{seed} {variant}")), list[str]()
    batches = len(undisturbed.batches())
    print(f"{variant}: {len(images)} images, {len(chosen)} restarts, {batches} batches", file=sys.stderr, flush=True)
    for number, image in enumerate(chosen):
        began = time.monotonic()
        found = fault(case, image)
        print(f"{number} {time.monotonic() - began:.1f} s {image} {found or ''}", file=sys.stderr, flush=True)
        if found is not None:
            faults.append(f"{image}: {found}")
    print(json.dumps({"images": len(images), "restarts": len(chosen), "faults": faults}))


if __name__ == "__main__":
    main(*sys.argv[1:])
