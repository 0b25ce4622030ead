"""Save the state of a subtask: its task writes the content of its store into a savepoint.

A job that ends writes everything at once. Beside a job that goes on, tasks only link to the files of runs, which never
change and are most of large state; a process of low priority copies them into the savepoint afterwards.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from scurry.errors import CheckpointCorruptedError, SavepointError, ScurryError
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.state.layout import FIRST_RUN, GROUP_SHIFT, NUMBER
from scurry.runtime.state.store import RunInfo, StateStore, StoreKey

#: The number of pages that are read together.
_PAGES = 256

#: Added to the niceness of the process that copies runs: micro-batches come first.
_NICENESS = 7


class _Part(NamedTuple):
    """Some entries of a store: pages and others, and runs of one key group."""

    keys: list[StoreKey]
    runs: list[tuple[StoreKey, RunInfo]]


def save_store(store: StateStore, path: str, name: str, subtask: int) -> None:
    """Write the entries of a store into a savepoint, in the order of their key groups.

    Args:
        name: The prefix of the files' names, different for each store.

    Raises:
        SavepointError: They cannot be written, or what the store holds is damaged.
    """
    _write(path, name, subtask, stored(store))


def stored(store: StateStore) -> Iterator[tuple[StoreKey, Any]]:
    """Yield all entries of a store, ordered by operator, kind and id; runs that this machine has are not asked for."""
    for part in _parts(store):
        yield from _read(store, part.keys)
        yield from _runs(store, part.runs)


def link_store(store: StateStore, path: str, name: str, subtask: int, links: str) -> None:
    """Write the entries of a store into a savepoint, but let `copy_linked` do so with the runs.

    Args:
        name: The prefix of the files' names, different for each store.
        links: A directory on the disk that has the runs.

    Raises:
        SavepointError: They cannot be written, or what the store holds is damaged.
    """
    linked: list[tuple[StoreKey, str]] = []

    def entries() -> Iterator[tuple[StoreKey, Any]]:
        for part in _parts(store):
            yield from _read(store, part.keys)
            for key, info in part.runs:
                file = Path(links, f"{name}-{len(linked)}")
                file.unlink(missing_ok=True)  # of a task that failed; to write to a link would change the run
                if not store.link_run(info, str(file)):
                    for _, blob in _runs(store, [(key, info)]):
                        file.write_bytes(blob)
                linked.append((key, file.name))

    _write(path, name, subtask, entries())
    Path(links, f"{name}.json").write_text(json.dumps([subtask, linked]), encoding="utf-8")


def copy_linked(links: str, path: str) -> None:
    """Copy the runs that tasks have linked to into a savepoint.

    Raises:
        SavepointError: They cannot be written.
    """
    for listed in sorted(Path(links).glob("*.json")):
        subtask, linked = json.loads(listed.read_text(encoding="utf-8"))
        runs = ((tuple(key), _mapped(os.path.join(links, file))) for key, file in linked)
        _write(path, f"{listed.stem}-runs", subtask, runs)


def _mapped(path: str) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _write(path: str, name: str, subtask: int, entries: Iterable[tuple[Any, Any]]) -> None:
    try:
        write_entries(path, (Entry(uid, kind, subtask, id, blob) for (uid, kind, id), blob in entries), name)
    except ScurryError:
        raise
    except Exception as error:
        raise SavepointError(f"the state cannot be written to {path}: {error}") from error


def _parts(store: StateStore) -> Iterator[_Part]:
    for (uid, kind), keys in groupby(sorted(store.stored_keys()), key=itemgetter(0, 1)):
        if kind != "page":
            yield _Part(list(keys), [])
            continue
        for group, own in groupby(keys, key=lambda key: key[2] >> GROUP_SHIFT):
            yield _group(store, (uid, kind, group << GROUP_SHIFT | 1), list(own))


def _group(store: StateStore, first: StoreKey, keys: list[StoreKey]) -> _Part:
    """Return the entries of a key group, given the key of its first page."""
    infos = {}
    if keys[-1][2] & NUMBER >= FIRST_RUN and first in keys:
        content = pickle.loads(store.get_many((first,))[0] or b"")
        infos = {info.number: info for info in getattr(content, "runs", ())}
    runs = [(key, infos[key[2] & NUMBER]) for key in keys if key[2] & NUMBER in infos]
    return _Part([key for key in keys if key[2] & NUMBER not in infos], runs)


def _read(store: StateStore, keys: list[StoreKey]) -> Iterator[tuple[StoreKey, Any]]:
    left = iter(keys)
    while some := list(islice(left, _PAGES)):
        for key, blob in zip(some, store.get_many(some), strict=True):
            if blob is not None:
                yield key, blob


def _runs(store: StateStore, runs: list[tuple[StoreKey, RunInfo]]) -> Iterator[tuple[StoreKey, Any]]:
    for (key, _), blob in zip(runs, store.get_runs(runs), strict=True):
        if blob is None:
            raise CheckpointCorruptedError("the state of a key group is damaged: a run of its index is missing")
        yield key, blob


def main() -> None:
    """Copy linked runs in a process of low priority: `links path`."""
    os.nice(_NICENESS)
    try:
        copy_linked(*sys.argv[1:])
    except SavepointError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
