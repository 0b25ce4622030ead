"""The directories in which jobs keep copies of their runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from scurry.common._config.fault_tolerance import LOCAL_DIRECTORY
from scurry.errors import ConfigError, SavepointTrustError
from scurry.runtime.checkpoint.storage import LocalStorage
from scurry.spark.streaming.engine import SparkEngine
from scurry.spark.workers import local_state as local_state_module
from scurry.spark.workers.local_runs import LocalRuns
from scurry.spark.workers.local_state import LocalState
from scurry.spark.workers.run_files import RunFiles
from support.state.runs import run_of

MB = 1 << 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "local"


def local_state(root: Path, key: str = "job", start: str = "a", limit: int = 100 * MB, **options: object) -> LocalState:
    checkpoint = root.parent / f"checkpoint-{key}"
    checkpoint.mkdir(exist_ok=True)
    settings = {"generation": 1, "checkpoint": str(checkpoint), **options}
    return LocalState(str(root), key, start=start, limit=limit, **settings)  # type: ignore[arg-type]


def opened(state: LocalState) -> LocalRuns:
    return state.open(str(Path(state.root).parent / "instead"))


def test_a_job_that_starts_again_finds_its_runs(root: Path) -> None:
    digest, blob = run_of(1)
    opened(local_state(root)).put(digest, blob)
    found = opened(local_state(root, start="b")).get(digest, len(blob))
    assert bytes(found) == blob


def test_it_does_not_if_it_is_told_so(root: Path) -> None:
    digest, blob = run_of(1)
    opened(local_state(root)).put(digest, blob)
    assert opened(local_state(root, start="b", reuses=False)).get(digest, len(blob)) is None


@pytest.mark.parametrize("other", [{"key": "other"}, {"generation": 2}])
def test_other_jobs_and_generations_have_runs_of_their_own(root: Path, other: dict[str, object]) -> None:
    digest, blob = run_of(1)
    held = opened(local_state(root))
    held.put(digest, blob)
    assert opened(local_state(root, **other)).get(digest, len(blob)) is None  # type: ignore[arg-type]


def test_runs_survive_several_starts_that_do_not_use_them(root: Path) -> None:
    digest, blob = run_of(1)
    opened(local_state(root)).put(digest, blob)
    for start in ("b", "c"):
        opened(local_state(root, start=start))
    assert bytes(opened(local_state(root, start="d")).get(digest, len(blob))) == blob


def test_what_many_starts_have_left_is_removed(root: Path) -> None:
    for start in "abcdefgh":
        opened(local_state(root, start=start)).put(*run_of(ord(start)))
    starts = {each.name for each in (root / "job-1").iterdir() if each.is_dir()}
    assert starts == set("efgh")


def test_runs_are_not_used_again_after_the_machine_has_restarted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest, blob = run_of(1)
    opened(local_state(root)).put(digest, blob)
    monkeypatch.setattr(local_state_module, "_boot", lambda: "another")
    assert opened(local_state(root, start="b")).get(digest, len(blob)) is None
    assert not (root / "job-1" / "a").exists()


def test_only_the_user_can_read_and_write_them(root: Path) -> None:
    opened(local_state(root)).put(*run_of(1))
    for directory in (root, root / "job-1", root / "job-1" / "a"):
        assert stat.S_IMODE(directory.stat().st_mode) & 0o077 == 0 or directory == root / "job-1"
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


def test_tasks_link_to_runs_for_a_savepoint_where_a_job_cannot_keep_copies(root: Path) -> None:
    """The state reader would need files of the checkpoint that the job may have deleted meanwhile."""
    root.mkdir()
    root.chmod(0o777)
    generation = root.parent / "generation-1"
    generation.mkdir()
    engine = object.__new__(SparkEngine)
    engine._local_state, engine._on_one_machine = local_state(root), True
    engine._files, engine._savepoints = RunFiles(str(generation / "runs")), cast(Any, SimpleNamespace(links=None))
    engine._job = cast(Any, None)
    engine._hold_local_state()
    assert engine._savepoints.links is not None
    links = Path(engine._savepoints.links())
    assert links.is_dir()
    LocalStorage(str(generation)).sweep()  # at the next start, if the process was killed
    assert not links.exists()


def test_a_directory_that_others_can_write_to_is_refused(root: Path) -> None:
    root.mkdir()
    root.chmod(0o777)
    with pytest.raises(SavepointTrustError, match="local state .* others can write to it"):
        opened(local_state(root, named=True))
    digest, blob = run_of(1)
    opened(local_state(root)).put(digest, blob)  # nobody asked for this directory: another one is used
    assert os.listdir(root) == []
    opened(local_state(root, named=True, allow_untrusted=True)).put(digest, blob)
    assert (root / "job-1").exists()


# ---------------------------------------------------------------- what is removed


def test_the_oldest_of_jobs_that_do_not_run_are_removed_beyond_the_limit(root: Path) -> None:
    for number, key in enumerate(("one", "two", "three")):
        opened(local_state(root, key)).put(*run_of(number))
        os.utime(root / f"{key}-1", ns=(number, number))
    opened(local_state(root, "next", limit=250_000))
    assert {each.name for each in root.iterdir()} == {"two-1", "three-1", "next-1"}


def test_nothing_of_a_job_that_runs_is_removed(root: Path) -> None:
    running = opened(local_state(root, "running"))
    running.put(*run_of(1))
    opened(local_state(root, "next", limit=0))
    assert (root / "running-1").exists()
    del running
    opened(local_state(root, "another", limit=0))
    assert not (root / "running-1").exists()


def test_earlier_generations_and_lost_checkpoints_are_removed(root: Path) -> None:
    opened(local_state(root, "job")).put(*run_of(1))
    opened(local_state(root, "lost", checkpoint=str(root.parent / "not there"))).put(*run_of(1))
    opened(local_state(root, "temporary", checkpoint="")).put(*run_of(1))
    opened(local_state(root, "remote", checkpoint="s3://bucket/checkpoint")).put(*run_of(1))
    opened(local_state(root, "job", generation=2))
    assert {each.name for each in root.iterdir()} == {"remote-1", "job-2"}


def test_what_else_is_in_the_directory_stays(root: Path) -> None:
    root.mkdir(mode=0o700)
    (root / "notes").mkdir()
    (root / "file-1").write_text("")
    opened(local_state(root, limit=0))
    assert {each.name for each in root.iterdir()} == {"notes", "file-1", "job-1"}


def test_a_job_that_has_ended_leaves_nothing(root: Path) -> None:
    state = local_state(root)
    opened(state).put(*run_of(1))
    state.forget()
    assert os.listdir(root) == []


# ---------------------------------------------------------------- where it is


def place_of(
    configuration: Mapping[str, str], checkpoint: str | None = "/checkpoint", on_one_machine: bool = True
) -> LocalState | None:
    settings = SimpleNamespace(configuration=configuration, checkpoint_dir=checkpoint, job_key="key")
    spark = {key: value for key, value in configuration.items() if key.startswith("spark.")}
    context = SimpleNamespace(getConf=lambda: spark)
    generation = SimpleNamespace(number=3, directory="/checkpoint/generation-3")
    plan = SimpleNamespace(settings=settings)
    return LocalState.of(plan, context, generation, "start", on_one_machine)  # type: ignore[arg-type]


def test_it_is_in_a_directory_of_the_user_in_sparks_local_directory() -> None:
    state = place_of({"spark.local.dir": "/fast,/slow"})
    assert state is not None
    assert state.root == f"/fast/scurry-state-{os.getuid()}"
    assert (state.key, state.generation, state.checkpoint) == ("key", 3, "/checkpoint/generation-3")
    assert state.reuses and not state.named and not state.allow_untrusted


def test_the_user_may_name_another_and_turn_local_recovery_off() -> None:
    state = place_of(
        {
            "state.backend.rocksdb.localdir": "/named",
            "execution.state-recovery.from-local": "false",
            "scurry.state.local.max-bytes": "1 mb",
            "scurry.savepoint.allow-untrusted": "true",
        }
    )
    assert state is not None
    assert (state.root, state.limit) == ("/named", MB)
    assert state.named and state.allow_untrusted and not state.reuses


def test_on_a_cluster_it_ends_with_the_application_unless_it_is_named() -> None:
    assert place_of({}, on_one_machine=False) is None
    assert place_of({"state.backend.rocksdb.localdir": "/named"}, on_one_machine=False) is not None


def test_a_checkpoint_that_ends_with_the_job_is_not_looked_for_again() -> None:
    state = place_of({}, checkpoint=None)
    assert state is not None
    assert state.checkpoint == ""


@pytest.mark.parametrize("directory", ["relative", "/one,/two"])
def test_the_directory_must_be_one_absolute_path(directory: str) -> None:
    with pytest.raises(ConfigError, match="expected the absolute path of one directory"):
        LOCAL_DIRECTORY.parse(directory)
