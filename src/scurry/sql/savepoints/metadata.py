"""The table function `savepoint_metadata` of the module `state`: the operators of a savepoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from scurry.runtime.savepoint.reading import Savepoint, open_savepoint
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.savepoints.uid_hash import uid_hash
from scurry.sql.types import MAX_LENGTH, BigIntType, DataType, IntType, RowField, RowType, VarCharType

_TEXT = VarCharType(MAX_LENGTH)
_COLUMNS: tuple[tuple[str, DataType], ...] = (
    ("checkpoint-id", BigIntType(False)),
    ("operator-name", _TEXT),
    ("operator-uid", _TEXT),
    ("operator-uid-hash", _TEXT.not_null()),
    ("operator-parallelism", IntType(False)),
    ("operator-max-parallelism", IntType(False)),
    ("operator-subtask-state-count", IntType(False)),
    ("operator-coordinator-state-size-in-bytes", BigIntType(False)),
    ("operator-total-size-in-bytes", BigIntType(False)),
)


class SavepointMetadata:
    """Return a row for each operator and each source of a savepoint."""

    def open(self, function_context: Any) -> None:
        """Need nothing."""

    def close(self) -> None:
        """Keep nothing."""

    def eval(self, path: str | None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows; only JSON is read, which is harmless whoever wrote it.

        Raises:
            SavepointError: There is no savepoint at the path, or its metadata is damaged.
        """
        if path is not None:
            savepoint = open_savepoint(path, allow_untrusted=True, compare=False)
            yield from _operators(savepoint)
            yield from _sources(savepoint)


def _operators(savepoint: Savepoint) -> Iterator[tuple[Any, ...]]:
    metadata = savepoint.metadata
    for uid, operator in metadata.operators.items():
        amount = savepoint.operators.get(uid)
        subtasks = 0 if amount is None else amount.entries.get("meta", operator.parallelism)
        size = 0 if amount is None else amount.bytes
        named = (metadata.batch_id, operator.name, uid, uid_hash(uid))
        yield *named, operator.parallelism, metadata.max_parallelism, subtasks, 0, size


def _sources(savepoint: Savepoint) -> Iterator[tuple[Any, ...]]:
    metadata = savepoint.metadata
    for uid, source in metadata.sources.items():
        size = len(json.dumps([source.position, source.pending]).encode())
        named = (metadata.batch_id, source.name, uid, uid_hash(uid))
        yield *named, source.channels, metadata.max_parallelism, 0, size, size


@cache
def savepoint_metadata() -> UserFunction:
    return UserFunction(
        "table",
        "savepoint_metadata",
        SavepointMetadata(),
        RowType([RowField(name, kind) for name, kind in _COLUMNS]),
        (_TEXT,),
        is_deterministic=False,
        parameters=("path",),
    )
