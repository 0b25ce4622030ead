"""SavepointWriter: creates savepoints."""

from __future__ import annotations

import posixpath
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from scurry.common._api import ApiObject
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.spark_source import arrow_rows
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.graph.plan import OperatorPlan
from scurry.runtime.savepoint.entries import EntryFile, copy_entries, write_entries
from scurry.runtime.savepoint.format import ENTRIES, METADATA, OperatorState, SavepointMetadata, SourceState
from scurry.runtime.savepoint.naming import no_operator
from scurry.runtime.savepoint.reading import complete_savepoint
from scurry.state.bootstrap import Block, KeyedBootstrap, broadcast_entries
from scurry.state.reader import opened
from scurry.state.transformation import BroadcastTransformation, KeyedTransformation, StateBootstrapTransformation

__all__ = ["SavepointWriter"]

#: Maximum number of key groups, as in Flink.
_MOST_KEY_GROUPS = 1 << 15

#: Number of records passed to the operator at once.
_BLOCK = 4096

#: A number that no operator in a plan has, for operators that were never in a job and have no input gate.
_NO_NUMBER = -1


class SavepointWriter(ApiObject):
    """Create a savepoint to start jobs from (Flink's `SavepointWriter`).

    Operators and sources of an existing savepoint that are not removed are copied unchanged, with watermarks and
    positions. Nothing is written before `write`.
    """

    def __init__(
        self, metadata: SavepointMetadata, path: str = "to be written", files: Sequence[EntryFile] = ()
    ) -> None:
        """Start with a savepoint's metadata; programs call `new_savepoint` or `from_existing_savepoint`."""
        self._metadata = metadata
        self._path, self._files = path, files
        #: uid in the existing savepoint -> uid in the new one
        self._kept = {uid: uid for uid in (*metadata.operators, *metadata.sources)}
        self._removed: dict[str, OperatorState] = {}
        self._new: dict[str, tuple[StateBootstrapTransformation, ...]] = {}

    @staticmethod
    def new_savepoint(max_parallelism: int = 128) -> SavepointWriter:
        """Start with an empty savepoint.

        Args:
            max_parallelism: The number of key groups, which is the maximum parallelism of jobs with this savepoint.

        Raises:
            ArgumentError: It is not between 1 and 32768.
        """
        from scurry import __version__

        if not 1 <= max_parallelism <= _MOST_KEY_GROUPS:
            raise ArgumentError(f"max_parallelism is between 1 and {_MOST_KEY_GROUPS}, not {max_parallelism}")
        return SavepointWriter(
            SavepointMetadata(0, __version__, uuid.uuid4().hex, "scurry.state", max_parallelism, batch_id=0)
        )

    @staticmethod
    def from_existing_savepoint(path: str, *, allow_untrusted: bool = False) -> SavepointWriter:
        """Start with the content of a savepoint, which is not changed itself.

        Args:
            path: Its directory.
            allow_untrusted: As for `SavepointReader.read`.

        Raises:
            SavepointError: It cannot be read.
        """
        savepoint = opened(path, allow_untrusted)
        return SavepointWriter(savepoint.metadata, path, savepoint.files)

    # ---------------------------------------------------------------- content

    def with_operator(self, uid: str, *transformations: StateBootstrapTransformation) -> SavepointWriter:
        """Add an operator.

        Args:
            uid: The operator's uid in the job.
            transformations: Its state: keyed, broadcast, or one of each.

        Raises:
            ArgumentError: The operator already exists; remove it first to replace it.
        """
        if not uid or uid in self._kept.values() or uid in self._new:
            raise ArgumentError(f"there is an operator {uid!r} already; call remove_operator({uid!r}) to replace it")
        for transformation in transformations:
            if not isinstance(transformation, StateBootstrapTransformation):
                raise ArgumentTypeError(
                    f"expected what OperatorTransformation... .transform(...) returns, got {transformation!r}"
                )
        if sorted(map(_sort, transformations)) not in ([0], [1], [0, 1]):
            raise ArgumentError(f"operator {uid!r} takes keyed state, broadcast state, or one of each")
        self._new[uid] = transformations
        return self

    def remove_operator(self, uid: str) -> SavepointWriter:
        """Remove an operator with its state, or a source with its position.

        Raises:
            StateNotFoundError: No operator has the uid.
        """
        if uid in self._new:
            del self._new[uid]
            return self
        before = self._before(uid)
        del self._kept[before]
        if before in self._metadata.operators:
            self._removed[uid] = self._metadata.operators[before]
        return self

    def change_operator_uid(self, old: str, new: str) -> SavepointWriter:
        """Change the uid of an operator or source.

        Raises:
            StateNotFoundError: No operator has the old uid.
            ArgumentError: There is already one with the new uid.
        """
        if new in self._kept.values() or new in self._new:
            raise ArgumentError(f"there is an operator {new!r} already")
        if old in self._new:
            self._new[new] = self._new.pop(old)
        else:
            self._kept[self._before(old)] = new
        return self

    def _before(self, uid: str) -> str:
        for before, now in self._kept.items():
            if now == uid:
                return before
        raise no_operator(uid, (*self._kept.values(), *self._new), self._path)

    # ---------------------------------------------------------------- writing

    def write(self, path: str) -> str:
        """Write the savepoint.

        State from DataFrames is created and written on the workers, which then also copy the kept parts of an existing
        savepoint. State from iterables is created in this process and must fit into its memory.

        Args:
            path: A directory that does not exist or is empty.

        Returns:
            The path.

        Raises:
            ArgumentError: The path exists and is not an empty directory.
            OperatorError: A function failed.
        """
        fs, root = file_system(path)
        if fs.exists(root) and next(fs.files(root), None) is not None:
            raise ArgumentError(f"there is something at {path} already; savepoints are written to a new directory")
        try:
            operators = self._copy(path)
            for number, (uid, transformations) in enumerate(self._new.items()):
                operators[uid] = self._write_operator(path, uid, transformations, f"new-{number}")
            sources: dict[str, SourceState] = {
                self._kept[uid]: state for uid, state in self._metadata.sources.items() if uid in self._kept
            }
            now = time.time_ns() // 1_000_000
            complete_savepoint(path, replace(self._metadata, created_ms=now, operators=operators, sources=sources))
        except BaseException:
            for name in (ENTRIES, METADATA):
                fs.delete(posixpath.join(root, name))
            raise
        return path

    def _copy(self, path: str) -> dict[str, OperatorState]:
        """Copy the entries of kept operators; return these operators."""
        operators = self._metadata.operators
        uids = {before: now for before, now in self._kept.items() if before in operators}
        if self._files and uids:
            works = [(file, f"kept-{number}") for number, file in enumerate(self._files)]
            frames = [each.records for parts in self._new.values() for each in parts if each.from_spark]
            if frames:
                from scurry.spark.savepoint.state_files import copy_on_workers

                copy_on_workers(frames[0].sparkSession, works, path, uids)
            else:
                for file, name in works:
                    copy_entries(file, path, name, uids)
        return {now: operators[before] for before, now in uids.items()}

    def _write_operator(
        self, path: str, uid: str, transformations: tuple[StateBootstrapTransformation, ...], name: str
    ) -> OperatorState:
        kinds: list[str] = []
        schemas: dict[str, Any] = {}
        for transformation in transformations:
            kinds.append(transformation.kind or self._kind_before(uid))
            plan = OperatorPlan(0, uid, uid, transformation.operator, None, 1, transformation.origin)
            if isinstance(transformation, KeyedTransformation):
                self._write_keyed(path, plan, transformation, name, schemas)
            else:
                records = _local_records(transformation.records)
                write_entries(path, broadcast_entries(plan, records, schemas), name)
        kind = kinds[0] if len(kinds) == 1 else "KeyedBroadcastProcess"
        return OperatorState(uid, _NO_NUMBER, kind, 1, schemas)

    def _kind_before(self, uid: str) -> str:
        """Return the kind of an operator that is described by its values: that of the operator it replaces, if any."""
        before = self._removed.get(uid)
        return "KeyedProcess" if before is None or before.kind == "Window" else before.kind

    def _write_keyed(
        self, path: str, plan: OperatorPlan, transformation: KeyedTransformation, name: str, schemas: dict[str, Any]
    ) -> None:
        bootstrap = KeyedBootstrap(
            plan, transformation.partitioner, transformation.timestamps, self._metadata.max_parallelism
        )
        if transformation.from_spark:
            from scurry.spark.savepoint.state_files import write_keyed

            write_keyed(transformation.records, bootstrap, path, name, schemas)
        else:
            write_entries(path, bootstrap.entries([(0, _blocks(transformation.records, bootstrap))], schemas), name)


def _sort(transformation: StateBootstrapTransformation) -> int:
    return 1 if isinstance(transformation, BroadcastTransformation) else 0


def _blocks(records: Iterable[Any], bootstrap: KeyedBootstrap) -> Iterator[Block]:
    source = iter(records)
    while values := list(islice(source, _BLOCK)):
        yield bootstrap.block(values)


def _local_records(records: Any) -> Iterator[Any]:
    if not hasattr(records, "isStreaming"):
        yield from records
        return
    for batch in records.toArrow().to_batches():
        yield from arrow_rows(batch)
