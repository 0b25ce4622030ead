"""A damaged savepoint is refused by the name of what is damaged, or read exactly as it was written."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scurry.common import Types
from scurry.datastream import DataStream
from scurry.errors import SavepointError
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry, SavepointMetadata, SourceState
from scurry.runtime.savepoint.metadata import Description
from scurry.runtime.savepoint.reading import Savepoint, complete_savepoint, open_savepoint
from scurry.runtime.savepoint.restore import Restore
from scurry.testing import TestHarness
from support.savepoints.damaged_savepoints import Damage
from support.savepoints.sensor_program import Running

DAMAGES = 200
TEXT = Types.STRING()


def build(stream: DataStream) -> DataStream:
    return stream.key_by(lambda value: value[0], key_type=TEXT).process(Running(), TEXT).uid("running")


@dataclass
class Kept:
    """Two savepoints of a pipeline, one later than the other, and what the earlier holds and leads to."""

    path: Path
    later: Path
    entries: list[Entry]
    metadata: SavepointMetadata
    results: list[str]


def save(harness: TestHarness, path: Path) -> None:
    """Takes a savepoint of three files of each kind, as tasks write them."""
    plan, levels = harness._plan, harness._levels
    numbers = {number: subtask for subtask, number in enumerate(plan.subtask_ids)}
    for (_, subtask), store in levels.stores.items():
        entries = (Entry(uid, kind, numbers[subtask], n, blob) for (uid, kind, n), blob in store.items())
        write_entries(str(path), entries, f"part-{numbers[subtask]}")
    sources = {"readings": SourceState("readings", 1, "DataGeneratorSource", 2, {"next": 340, "left": [1, 2]})}
    operators = Description.of(plan).operators
    complete_savepoint(str(path), SavepointMetadata(1, "test", "0" * 32, "test", 128, 7, 5, False, operators, sources))


def goes_on(savepoint: Savepoint) -> list[str]:
    """What the pipeline gives when it goes on with the state."""
    with TestHarness.of(build, parallelism=2) as harness:
        for works in Restore(savepoint, harness._plan, allow_non_restored=True).batches():
            harness._levels.process([row for work in works for row in work.rows(harness._plan)], 0)
        with harness.batch():
            for number in range(20):
                harness.process((f"sensor-{number}", 5_000, 1), 5_000)
        harness.advance_watermark(10_000)
        return sorted(harness.outputs())


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    place = tmp_path_factory.mktemp("kept")
    with TestHarness.of(build, parallelism=3) as harness:
        for round_, name in enumerate(("earlier", "later")):
            with harness.batch():
                for number in range(40):
                    harness.process((f"sensor-{number % 20}", 100 + round_, number), 100 + round_)
            save(harness, place / name)
    savepoint = open_savepoint(str(place / "earlier"))
    yield Kept(place / "earlier", place / "later", list(savepoint.entries()), savepoint.metadata, goes_on(savepoint))


@pytest.mark.parametrize(("seeds", "allow_untrusted"), [(range(DAMAGES), False), (range(DAMAGES, DAMAGES + 50), True)])
def test_damages_are_refused_by_name_or_harmless(
    kept: Kept, tmp_path: Path, seeds: range, allow_untrusted: bool
) -> None:
    refused = 0
    for seed in seeds:
        place = tmp_path / str(seed)
        shutil.copytree(kept.path, place / "savepoint")
        damage = Damage(place / "savepoint", kept.later, seed)
        told = f"{seed}: {'; '.join(damage.done)}"
        try:
            savepoint = open_savepoint(str(place / "savepoint"), allow_untrusted)
            assert (list(savepoint.entries()), savepoint.metadata) == (kept.entries, kept.metadata), told
            assert goes_on(savepoint) == kept.results, told
        except SavepointError as error:
            refused += 1
            assert any(name in str(error) for name in damage.names), f"{told}: {error}"
        shutil.rmtree(place)
    assert len(seeds) // 2 < refused < len(seeds)  # there were harmless ones as well
