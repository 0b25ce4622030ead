"""Nobody else can lead a reader to files of theirs: by links, directories above, or by exchanging what was checked."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import SavepointFormatError, SavepointNotFoundError, SavepointTrustError
from scurry.runtime.savepoint import reading
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.savepoint.reading import complete_savepoint, open_savepoint
from scurry.runtime.savepoint.trust import require_trusted
from scurry.state import OperatorTransformation, SavepointReader, SavepointWriter

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")

STRANGER = 12_345

root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files to others"
)


@pytest.fixture
def savepoint(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    state = OperatorTransformation.keyed_state([("ann", {"count": 1})])
    path = SavepointWriter.new_savepoint().with_operator("counts", state).write(str(tmp_path / "savepoint"))
    for each in (Path(path), *Path(path).rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    return Path(path)


@pytest.fixture
def evil(tmp_path: Path, savepoint: Path) -> Path:
    """The same savepoint with state that leaves a trace where it is unpickled."""
    evil = tmp_path / "evil"
    blob = pickle.dumps(Runs(tmp_path / "ran"))
    opened = open_savepoint(str(savepoint))
    (page,) = opened.entries(kinds=["page"])
    write_entries(str(evil), [Entry("counts", "page", 0, page.id, blob)], "new-0")
    complete_savepoint(str(evil), opened.metadata)
    return evil


class Runs:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (self.trace,)


def give_away(*paths: Path) -> None:
    for path in paths:
        os.chown(path, STRANGER, -1, follow_symlinks=False)


def counts(path: Path | str) -> dict[str, Any]:
    return dict(SavepointReader.read(str(path)).keyed_state("counts"))


# ---------------------------------------------------------------- links in it


@root_only
@pytest.mark.parametrize("what", ["entries", "entries/kind=page", "entries/kind=page/new-0.parquet", "metadata.json"])
def test_a_link_to_files_of_somebody_else_is_refused(savepoint: Path, tmp_path: Path, what: str) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o777)
    theirs.chmod(0o777)
    shutil.move(savepoint / what, theirs / "moved")
    give_away(theirs, theirs / "moved", *(theirs / "moved").rglob("*"))
    (savepoint / what).symlink_to(theirs / "moved")
    with pytest.raises(SavepointTrustError, match=f"{what}: it is a link, .*cp -rL"):
        counts(savepoint)


def test_links_of_a_savepoint_without_a_manifest_are_refused(savepoint: Path, tmp_path: Path) -> None:
    (savepoint / "manifest.json").unlink()
    metadata = savepoint / "metadata.json"
    metadata.write_text(metadata.read_text().replace('"version": 3', '"version": 1'))
    shutil.move(savepoint / "entries", tmp_path / "moved")
    (savepoint / "entries").symlink_to(tmp_path / "moved")
    with pytest.raises(SavepointTrustError, match="entries: it is a link"):
        counts(savepoint)


def test_links_are_followed_if_the_caller_vouches_for_them(savepoint: Path, tmp_path: Path) -> None:
    shutil.move(savepoint / "entries", tmp_path / "moved")
    (savepoint / "entries").symlink_to(tmp_path / "moved")
    assert dict(SavepointReader.read(str(savepoint), allow_untrusted=True).keyed_state("counts"))


@pytest.mark.parametrize("allow_untrusted", [False, True])
@pytest.mark.parametrize("what", ["entries/kind=page/new-0.parquet", "metadata.json"])
def test_a_pipe_is_not_waited_for(savepoint: Path, what: str, allow_untrusted: bool) -> None:
    (savepoint / what).unlink()
    os.mkfifo(savepoint / what, 0o644)
    with pytest.raises(SavepointFormatError, match=f"{what}:? cannot be read: Not a regular file"):
        open_savepoint(str(savepoint), allow_untrusted)


# ---------------------------------------------------------------- the way to it


def test_a_link_of_the_users_own_leads_to_it(savepoint: Path, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir(mode=0o755)
    (tmp_path / "latest").symlink_to("first/link")
    (tmp_path / "first" / "link").symlink_to(savepoint)
    assert counts(tmp_path / "latest") == {"ann": {"count": 1}}


def test_a_link_in_a_directory_that_others_can_write_is_refused(savepoint: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "latest").symlink_to(savepoint)
    with pytest.raises(SavepointTrustError, match="shared: others can put another directory in its place"):
        counts(shared / "latest")


def test_a_link_through_a_directory_that_others_can_write_is_refused(savepoint: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "middle").symlink_to(savepoint)
    (tmp_path / "latest").symlink_to(shared / "middle")
    with pytest.raises(SavepointTrustError, match="shared: others can put another directory in its place"):
        counts(tmp_path / "latest")


@root_only
def test_a_link_of_somebody_else_is_refused_where_the_sticky_bit_is_set(savepoint: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "latest").symlink_to(savepoint)
    assert counts(shared / "latest")
    give_away(shared / "latest")
    with pytest.raises(SavepointTrustError, match="latest: this link belongs to user .*lead elsewhere"):
        counts(shared / "latest")


@root_only
@pytest.mark.parametrize("read", [counts, require_trusted])
def test_a_directory_above_that_belongs_to_somebody_else_is_refused(
    savepoint: Path, tmp_path: Path, read: Callable[[str], Any]
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    read(str(savepoint.rename(theirs / "savepoint")))
    give_away(theirs)
    with pytest.raises(SavepointTrustError, match="theirs: it belongs to user .*in the place of those in it"):
        read(str(theirs / "savepoint"))


def test_links_in_a_circle_are_no_savepoint(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(SavepointNotFoundError, match="one is no savepoint: .*symbolic links"):
        counts(tmp_path / "one")


@root_only
def test_a_directory_that_a_checkpoint_links_to_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "inner").mkdir(parents=True)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "frames").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "loop").symlink_to(tmp_path / "elsewhere")
    require_trusted(str(tmp_path / "checkpoint"))
    give_away(tmp_path / "elsewhere" / "inner")
    with pytest.raises(SavepointTrustError, match="frames/inner: it belongs to user"):
        require_trusted(str(tmp_path / "checkpoint"))


# ---------------------------------------------------------------- what is exchanged after it was checked


def exchange(savepoint: Path, evil: Path) -> None:
    savepoint.rename(savepoint.with_name("before"))
    evil.rename(savepoint)


def test_what_was_checked_is_opened(
    savepoint: Path, evil: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = reading._open

    def exchanged(*args: Any) -> Any:  # the directory is checked by now, and nothing is read
        exchange(savepoint, evil)
        return opened(*args)

    with monkeypatch.context() as patched:
        patched.setattr(reading, "_open", exchanged)
        reader = SavepointReader.read(str(savepoint))
    assert reader.metadata == open_savepoint(str(tmp_path / "before")).metadata
    with pytest.raises(SavepointFormatError, match="new-0.parquet is damaged: .*the file has changed since"):
        list(reader.keyed_state("counts"))
    assert not (tmp_path / "ran").exists()


def test_what_tasks_read_is_what_was_checked(savepoint: Path, evil: Path, tmp_path: Path) -> None:
    (file,) = pickle.loads(pickle.dumps(open_savepoint(str(savepoint)).files_of("page")))
    exchange(savepoint, evil)
    with pytest.raises(SavepointFormatError, match="the file has changed since"):
        list(file.read((0,)))


@pytest.mark.spark
def test_workers_do_not_unpickle_what_was_changed(spark: Any, savepoint: Path, evil: Path, tmp_path: Path) -> None:
    frame = SavepointReader.read(str(savepoint)).keyed_state_frame(spark, "counts")
    assert [row.key for row in frame.collect()] == ["ann"]
    exchange(savepoint, evil)
    with pytest.raises(Exception, match="the file has changed since"):
        frame.collect()
    assert not (tmp_path / "ran").exists()
