"""Opening and completing savepoints: every reader begins here and gets intact files or an error.

All files are compared with the manifest before any is decoded. `EntryFile`s later read against the same digests, in any
process.
"""

from __future__ import annotations

import contextlib
import io
import os
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from scurry._dataclasses import dataclass
from scurry.common._process import threads
from scurry.connectors.files.filesystem import FileSystem, LocalFileSystem, file_system, hidden, local_path
from scurry.errors import (
    SavepointError,
    SavepointFormatError,
    SavepointNotFoundError,
    SavepointTrustError,
    StorageError,
)
from scurry.runtime.checkpoint.storage import force_to_disk
from scurry.runtime.savepoint.entries import EntryFile, EntryName, parquet_file
from scurry.runtime.savepoint.format import ENTRIES, KINDS, METADATA, VERSION, Entry, SavepointMetadata
from scurry.runtime.savepoint.manifest import (
    MANIFEST,
    FileDigest,
    Manifest,
    OperatorCounts,
    difference,
    digest,
)
from scurry.runtime.savepoint.trust import trusted_files
from scurry.runtime.state.layout import GROUP_SHIFT

T = TypeVar("T")
R = TypeVar("R")

#: Files read at once: hashing releases Python's lock, and object stores respond slowly.
_THREADS = min(16, 4 * (os.cpu_count() or 1))

#: Number of damaged files that an error names.
_NAMED = 5

_ENTRY_FILE = re.compile(rf"{ENTRIES}/kind=({'|'.join(KINDS)})/[^/]+")


@dataclass(frozen=True)
class Savepoint:
    """A savepoint whose files were checked.

    Attributes:
        metadata: The content of `metadata.json`.
        operators: Uid -> amount of state, of the operators that have state.
        warning: What could not be checked, None if everything was.
    """

    path: str
    metadata: SavepointMetadata
    operators: Mapping[str, OperatorCounts]
    files: Sequence[EntryFile]
    warning: str | None = None

    def files_of(self, *kinds: str) -> list[EntryFile]:
        return [file for kind in kinds for file in self.files if file.kind == kind]

    def entries(self, uids: Collection[str] | None = None, kinds: Collection[str] = KINDS) -> Iterator[Entry]:
        """Yield the entries, optionally only those of some operators and kinds.

        Raises:
            SavepointFormatError: A file has changed since the savepoint was opened.
        """
        for file in self.files_of(*kinds):
            for entry in file.read():
                if uids is None or entry.uid in uids:
                    yield entry


def open_savepoint(path: str, allow_untrusted: bool = False, compare: bool = True) -> Savepoint:
    """Open a savepoint: read all of it once and compare it with its manifest.

    Args:
        path: Its directory: a local path, or an address that `file_system` supports.
        allow_untrusted: Read it although other users could have written it.
        compare: Compare all files; otherwise only the metadata, for those who decode no entries.

    Raises:
        SavepointNotFoundError: There is no savepoint at the path, or an unfinished one.
        SavepointFormatError: It is not what was written, or of a version this release does not know.
        SavepointTrustError: Another user could have written it.
    """
    try:
        with trusted_files(path, allow_untrusted) as (fs, root):
            return _open(fs, root, path, compare)
    except (SavepointError, StorageError):
        raise
    except OSError as error:
        raise SavepointNotFoundError(
            f"{path} is no savepoint: {error.strerror or error}; `scurry savepoint list DIR` lists those in a directory"
        ) from None


def _open(fs: FileSystem, root: str, path: str, compare: bool) -> Savepoint:
    text, listed = (_content(fs, root, path, name) for name in (METADATA, MANIFEST))
    manifest = None if listed is None else Manifest.from_json(listed, path)
    if text is None:
        if manifest is not None:
            raise SavepointFormatError(f"{path} is damaged: {METADATA} is missing")
        reason = f"there is no {METADATA} in it"
        if fs.exists(posixpath.join(root, ENTRIES)):
            reason = f"it was never completed: its writer was stopped before its {METADATA}"
        raise SavepointNotFoundError(f"{path} is no savepoint: {reason}")
    warning = None
    if manifest is not None:
        _require_unchanged(fs, root, path, manifest, sorted(manifest.files) if compare else [METADATA])
        metadata = _metadata(text, path)
    else:
        metadata = _metadata(text, path)
        manifest, warning = _without_manifest(fs, root, path, metadata)
    return Savepoint(path, metadata, manifest.operators, _entry_files(path, manifest), warning)


def _metadata(text: bytes, path: str) -> SavepointMetadata:
    return SavepointMetadata.from_json(text.decode("utf-8", "replace"), path)


def _content(fs: FileSystem, root: str, path: str, name: str) -> bytes | None:
    try:
        with fs.open_input(posixpath.join(root, name)) as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (SavepointTrustError, StorageError):
        raise
    except OSError as error:
        raise SavepointFormatError(f"{path}: {name} cannot be read: {error.strerror or error}") from error


def _require_unchanged(fs: FileSystem, root: str, path: str, manifest: Manifest, names: Sequence[str]) -> None:
    """Refuse a savepoint of which one of some files differs from its digest in the manifest."""

    def damage(name: str) -> str | None:
        found = _difference(fs, posixpath.join(root, name), manifest.files[name])
        return None if found is None else f"{name}: {found}"

    if METADATA not in manifest.files:
        raise SavepointFormatError(f"{path}: {MANIFEST} is damaged: it does not list {METADATA}")
    damages = [found for found in _in_threads(damage, names) if found is not None]
    if damages:
        more = f"; and {len(damages) - _NAMED} more" if len(damages) > _NAMED else ""
        raise SavepointFormatError(
            f"{path} is damaged, {len(damages)} of its {len(manifest.files)} files are not what was written: "
            f"{'; '.join(damages[:_NAMED])}{more}. Nothing was read from it: restore it from a copy, or start from "
            "another savepoint or checkpoint"
        )


def _difference(fs: FileSystem, place: str, expected: FileDigest) -> str | None:
    try:
        with fs.open_input(place) as stream:
            return difference(stream, expected)
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except (SavepointTrustError, StorageError):
        raise
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def _without_manifest(fs: FileSystem, root: str, path: str, metadata: SavepointMetadata) -> tuple[Manifest, str]:
    """Return the actual content of a savepoint without a manifest, and a warning."""
    if metadata.version > 1:
        raise SavepointNotFoundError(
            f"{path} is no savepoint: it was never completed. By its {METADATA} a {MANIFEST} belongs to it, which is "
            "written last, and there is none: its writer was stopped before the end, or the file was removed"
        )
    warning = (
        f"{path} was written by scurry {metadata.scurry_version}, whose savepoints have no {MANIFEST}: whether "
        "files are missing or changed cannot be checked. SavepointWriter.from_existing_savepoint(...).write(...) makes "
        "one that can"
    )
    return describe(fs, root, path), warning


def _entry_files(path: str, manifest: Manifest) -> list[EntryFile]:
    found = []
    for name, file in sorted(manifest.files.items()):
        if name != METADATA:
            match = _ENTRY_FILE.fullmatch(name)
            if match is None:
                raise SavepointFormatError(f"{path}: {MANIFEST} is damaged: it lists {name!r}")
            found.append(EntryFile(f"{path.rstrip('/')}/{name}", match[1], file))
    return found


# ------------------------------------------------------------------ creating a manifest


def complete_savepoint(path: str, metadata: SavepointMetadata, written: Iterable[EntryName] | None = None) -> None:
    """Complete a savepoint in a directory with all entries: write metadata and, last of all, the manifest.

    On a local disk it survives a crash of the machine: a job may have ended with it, so it may be all that is left.
    The entries do before the manifest names them, so one whose writer was killed is complete, or none.

    Args:
        written: The files of entries, where they are known: the listing of a store may lack some. None lists them.

    Raises:
        SavepointFormatError: What was written cannot be read.
    """
    fs, root = file_system(path)
    content = replace(metadata, version=VERSION).to_json().encode()
    _replace(fs, root, METADATA, content)
    entries = describe(fs, root, path, written)
    files = {METADATA: digest(io.BytesIO(content)), **entries.files}
    if isinstance(fs, LocalFileSystem):
        force_to_disk(root)
    _replace(fs, root, MANIFEST, Manifest(files, entries.operators).to_json().encode())
    force_name(fs, root)


def force_name(fs: FileSystem, root: str) -> None:
    """Let the names of a complete savepoint survive a crash of the machine."""
    fs.force(root)
    fs.force(posixpath.join(root, ".."))


def _replace(fs: FileSystem, root: str, name: str, content: bytes) -> None:
    staged = posixpath.join(root, f".{name}.tmp")
    with fs.open_output(staged) as file:
        file.write(content)
    fs.force(staged)
    fs.rename(staged, posixpath.join(root, name))


def describe(fs: FileSystem, root: str, path: str, written: Iterable[EntryName] | None = None) -> Manifest:
    """Read all files of entries and return their digests and counts.

    Args:
        root: The savepoint's path there.
        path: The savepoint, for errors.
        written: The files; None lists them.

    Raises:
        SavepointFormatError: A file is damaged.
    """
    entries = _listed(fs, root) if written is None else sorted(written, key=lambda each: KINDS.index(each.kind))
    names = [(f"{ENTRIES}/kind={kind}/{name}", kind) for kind, name in entries]

    def described(named: tuple[str, str]) -> tuple[FileDigest, dict[str, OperatorCounts]]:
        name, kind = named
        return _described(fs, posixpath.join(root, name), f"{path.rstrip('/')}/{name}", kind)

    files: dict[str, FileDigest] = {}
    operators: dict[str, OperatorCounts] = {}
    for (name, _), (file, counted) in zip(names, _in_threads(described, names), strict=True):
        files[name] = file
        for uid, counts in counted.items():
            _add(operators.setdefault(uid, OperatorCounts()), counts)
    return Manifest(files, operators)


def _listed(fs: FileSystem, root: str) -> list[EntryName]:
    return [
        EntryName(kind, name)
        for kind in KINDS
        for name, is_directory in sorted(fs.entries(posixpath.join(root, ENTRIES, f"kind={kind}")))
        if name.endswith(".parquet") and not is_directory and not hidden(name)
    ]


def _described(fs: FileSystem, place: str, name: str, kind: str) -> tuple[FileDigest, dict[str, OperatorCounts]]:
    """Return the digests of a file of entries, and its counts by operator."""
    import pyarrow as pa

    counted: dict[str, OperatorCounts] = {}
    try:
        with fs.open_input(place) as stream:
            found = digest(stream)
            stream.seek(0)
            file = parquet_file(stream)
            sizes = tuple(file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups))
            spans: list[dict[str, tuple[int, int]]] = []
            for number in range(file.num_row_groups):
                table = file.read_row_group(number, columns=["uid", "id", "bytes"], use_threads=False)
                counts = _counts(kind, *(column.to_pylist() for column in table.columns))
                for uid, each in counts.items():
                    _add(counted.setdefault(uid, OperatorCounts()), each)
                if kind == "page":
                    spans.append({uid: (min(each.key_groups), max(each.key_groups)) for uid, each in counts.items()})
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, (SavepointTrustError, StorageError)):
            raise
        raise SavepointFormatError(f"{name} is damaged: {error}") from error
    return replace(found, row_groups=sizes, spans=tuple(spans)), counted


def _counts(kind: str, uids: list[str], ids: list[int], sizes: list[int]) -> dict[str, OperatorCounts]:
    found = {uid: OperatorCounts(entries={kind: number}) for uid, number in Counter(uids).items()}
    for uid, size in zip(uids, sizes, strict=True):
        found[uid].bytes += size
    if kind == "page":
        groups = (number >> GROUP_SHIFT for number in ids)
        for (uid, group), pages in Counter(zip(uids, groups, strict=True)).items():
            found[uid].key_groups[group] = pages
    return found


def _add(counts: OperatorCounts, more: OperatorCounts) -> None:
    counts.bytes += more.bytes
    for kind, number in more.entries.items():
        counts.entries[kind] = counts.entries.get(kind, 0) + number
    for group, number in more.key_groups.items():
        counts.key_groups[group] = counts.key_groups.get(group, 0) + number


def _in_threads(call: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return the results of a call for some items, in their order."""
    if len(items) < 2:
        return list(map(call, items))
    with threads.pool(min(_THREADS, len(items)), "scurry-savepoint") as pool:
        return list(pool.map(call, items))


def dispose_savepoint(path: str) -> None:
    """Delete the files of a savepoint that its manifest names, and its directories if nothing else is in them.

    Args:
        path: Its directory or URI.

    Raises:
        SavepointNotFoundError: There is no savepoint with a manifest.
        SavepointFormatError: The manifest is damaged.
        SavepointTrustError: Another user could have written it: what it names may be anything.
        StorageError: The storage cannot be reached.
    """
    try:
        with trusted_files(path, False) as (fs, root), fs.open_input(posixpath.join(root, MANIFEST)) as stream:
            manifest = Manifest.from_json(stream.read(), path)
    except (SavepointError, StorageError):
        raise
    except OSError as error:
        raise SavepointNotFoundError(f"{path} is no savepoint: {MANIFEST}: {error.strerror or error}") from None
    fs, root = file_system(path)
    # The manifest last: until then it is known what is still to be deleted.
    for name in [*manifest.files, MANIFEST]:
        fs.delete(posixpath.join(root, name))
    if (directory := local_path(path)) is not None:
        _remove_empty(directory, list(manifest.files))


def _remove_empty(root: str, names: list[str]) -> None:
    parents = {""}
    for name in names:
        while name := posixpath.dirname(name):
            parents.add(name)
    for parent in sorted(parents, key=len, reverse=True):
        with contextlib.suppress(OSError):  # something else is in it
            os.rmdir(os.path.join(root, parent))
