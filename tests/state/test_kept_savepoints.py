"""Savepoints of every version of the format: each release reads all of them and goes on with them."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import kept_savepoints
import pytest
from pipelines import PRICES, Visit

from scurry.common import Row
from scurry.datastream.window import TimeWindow
from scurry.state import SavepointReader

KEPT = Path(__file__).parents[1] / "fixtures"
HOME, SHOP = Visit("home", 10, ["a tag"]), Visit("shop", 30, ["a tag"])


@pytest.fixture(params=["savepoint-v1", "savepoint-v2", "savepoint-v3"])
def savepoint(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A copy of one that belongs to whoever runs the tests."""
    copied = tmp_path / request.param
    shutil.copytree(KEPT / request.param, copied, copy_function=shutil.copyfile)
    for each in (copied, *copied.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    return str(copied)


def read(savepoint: str) -> SavepointReader:
    """Reads it; those that have no manifest give rise to a warning."""
    expected = pytest.warns(UserWarning, match="no manifest.json") if savepoint.endswith("v1") else nullcontext()
    with expected:
        return SavepointReader.read(savepoint)


def has_runs(savepoint: str) -> bool:
    return savepoint.endswith("v3")


def test_its_metadata_tells_what_is_in_it(savepoint: str) -> None:
    metadata = read(savepoint).metadata
    articles = {"articles": "KeyedProcess"} if has_runs(savepoint) else {}
    assert {uid: operator.kind for uid, operator in metadata.operators.items()} == articles | {
        "profiles": "KeyedProcess", "windows": "Window", "sessions": "Window", "revenue": "KeyedBroadcastProcess",
    }  # fmt: skip
    assert (metadata.max_parallelism, metadata.watermark) == (128, 2_999)
    assert savepoint.endswith(f"v{metadata.version}")
    assert metadata.sources["lines"].kind == "FileSource"


def test_its_state_is_read(savepoint: str) -> None:
    reader = read(savepoint)
    assert dict(reader.keyed_state("profiles"))["ann"] == {
        "count": 2, "pages": [Row(page="home", seconds=10), Row(page="shop", seconds=30)],
        "by_page": {"home": HOME, "shop": SHOP}, "total": 40, "mean": (40, 2), "last": "shop",
        "recent": ["home", "shop"],
    }  # fmt: skip
    assert sorted(timer.time for timer in reader.timers("profiles")) == [61_000, 62_000, 63_000]
    assert sorted(reader.window_state("windows")) == [
        ("ann", TimeWindow(0, 10_000), (40, 2), {}), ("bob", TimeWindow(0, 10_000), (20, 1), {}),
    ]  # fmt: skip
    assert {state.key: state.window for state in reader.window_state("sessions")} == {
        "ann": TimeWindow(1_000, 7_000), "bob": TimeWindow(3_000, 8_000),
    }  # fmt: skip
    assert dict(reader.keyed_state("revenue")) == {"tea": {"sold": 2}}
    assert reader.broadcast_state("revenue", PRICES) == {"tea": 3}


@pytest.mark.parametrize("savepoint", ["savepoint-v3"], indirect=True)
def test_its_runs_are_read(savepoint: str) -> None:
    reader = read(savepoint)
    assert dict(reader.keyed_state("articles")) == {key: {"text": key.ljust(4000)} for key in kept_savepoints.ARTICLES}
    timers = {timer.key: timer.time for timer in reader.timers("articles")}
    assert timers == dict.fromkeys(kept_savepoints.ARTICLES, 83_000)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_the_program_goes_on_with_it(savepoint: str, parallelism: int) -> None:
    first, before = kept_savepoints.ARTICLES[0], 4000 if has_runs(savepoint) else 0
    due = [("timer", key, 83_000) for key in kept_savepoints.ARTICLES] if has_runs(savepoint) else []
    expected = {
        "articles": sorted([(first, before), ("timer", first, 84_200), *due], key=str),
        "profiles": [("ann", 3), ("ann", 4), ("ann", 5)],
        "timers": [("ann", 61_000), ("ann", 62_000), ("ann", 64_000), ("bob", 63_000)],
        "windows": [10.0, 20.0, 30.0],
        "sessions": [("ann", 1_000, 9_000, [10, 30, 50]), ("ann", 70_000, 75_000, [10]), ("bob", 3_000, 8_000, [20])],
        "revenue": [("tea", 9)],
    }

    def found(results: dict[str, list[Any]]) -> dict[str, list[Any]]:
        profiles = results["profiles"]
        timers = {"timers": sorted(result[1:3] for result in profiles if result[0] == "timer")}
        counts = {"profiles": sorted(result for result in profiles if result[0] != "timer")}
        return {**{name: sorted(values, key=str) for name, values in results.items()}, **timers, **counts}

    results, _ = kept_savepoints.run(
        kept_savepoints.AFTER,
        lambda results: len(results) == 5 and found(results) == expected,
        lambda client: client.cancel().result(),
        execution__state_recovery__path=savepoint,
        parallelism__default=parallelism,
    )
    assert found(results) == expected
