"""The metadata of a savepoint: the description of its job, and the source positions."""

from __future__ import annotations

import base64
import copy
import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.pickling import loads
from scurry.connectors.source import Assignment, Enumerator
from scurry.errors import SavepointError
from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.exchange.wire import MIN_TIME, SplitAssignment
from scurry.runtime.savepoint.format import OperatorState, SavepointMetadata, SourceState


@dataclass
class SourcePositions:
    """The positions of the sources after some assignments.

    Attributes:
        positions: Source uid -> position of its enumerator.
        ended: Source uid and channel of every channel that has ended for good.
        restored: Micro-batches of state restored so far from the savepoint that the job started from, None if all are.
    """

    positions: dict[str, Any] = field(default_factory=dict)
    ended: set[tuple[str, int]] = field(default_factory=set)
    restored: int | None = None


@dataclass(frozen=True)
class SavedJob:
    """The metadata of the job of a savepoint.

    Attributes:
        id: Its id, 32 hexadecimal digits.
        watermark: The lowest watermark of its operators, MIN_TIME if it has none.
    """

    id: str
    name: str
    watermark: int = MIN_TIME


@dataclass(frozen=True)
class Description:
    """The metadata of the plan of a savepoint.

    Attributes:
        operators: The operators that may have state, by uid.
        sources: Name, number, kind and channels of each, by uid.
    """

    max_parallelism: int
    operators: dict[str, OperatorState]
    sources: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, plan: JobPlan, states: Mapping[str, Any] | None = None) -> Description:
        """Return the description of a plan, with the schemas of its state by uid."""
        schemas = states or {}
        return cls(
            plan.settings.max_parallelism,
            {
                op.uid: OperatorState(
                    op.name, op.id, op.operator.kind, op.parallelism, copy.deepcopy(schemas.get(op.uid, {}))
                )
                for op in plan.operators.values()
                if op.input_edges
            },
            {
                source.uid: {
                    "name": source.name,
                    "number": source.id,
                    "kind": type(source.source).__name__,
                    "channels": source.channels,
                }
                for source in plan.sources.values()
            },
        )

    @classmethod
    def from_json(cls, content: dict[str, Any], states: Mapping[str, Any]) -> Description:
        """Build a description from the JSON of `asdict` and the schemas of its state by uid."""
        operators = {
            uid: OperatorState(**{**op, "states": states.get(uid, {})}) for uid, op in content["operators"].items()
        }
        return cls(content["max_parallelism"], operators, content["sources"])


def metadata_of(
    job: SavedJob,
    description: Description,
    batch_id: int,
    source_positions: SourcePositions,
    pending: Sequence[SplitAssignment] = (),
    drained: bool = False,
) -> SavepointMetadata:
    """Return the metadata of a savepoint of a job.

    Args:
        description: The plan whose state it is.
        batch_id: The batch after which it is taken.
        source_positions: The source positions at that time.
        pending: Splits assigned by then whose records are not part of the state.
        drained: Whether event time was ended before.
    """
    from scurry import __version__

    work: dict[int, list[tuple[int, str]]] = {}
    for each in pending:
        encoded = base64.b64encode(pickle.dumps(each.split, 5)).decode()
        work.setdefault(each.source, []).append((each.channel, encoded))
    return SavepointMetadata(
        created_ms=time.time_ns() // 1_000_000,
        scurry_version=__version__,
        job_id=job.id,
        job_name=job.name,
        max_parallelism=description.max_parallelism,
        batch_id=batch_id,
        watermark=job.watermark if job.watermark > MIN_TIME else None,
        drained=drained,
        operators=description.operators,
        sources={
            uid: SourceState(
                **source,
                position=source_positions.positions[uid],
                ended=sorted(channel for ended, channel in source_positions.ended if ended == uid),
                pending=work.get(source["number"], []),
            )
            for uid, source in description.sources.items()
            if uid in source_positions.positions
        },
    )


def restore_source(source: SourcePlan, state: SourceState, enumerator: Enumerator) -> list[Assignment]:
    """Set a source to its position in a savepoint.

    Returns:
        The first assignments: splits that were being processed, and the end of channels that had ended before, because
        not all downstream operators may know of it.
    """
    try:
        enumerator.restore(state.position)
    except Exception as error:
        raise SavepointError(
            f"source {source.name!r} ({source.origin}) cannot resume at the position in the savepoint: {error}"
        ) from error
    first = [
        Assignment(channel % source.channels, loads(base64.b64decode(work)), False) for channel, work in state.pending
    ]
    if len(state.ended) == state.channels:
        ended = list(range(source.channels))
    else:  # with another number of channels, the enumerator decides which have nothing to read
        ended = state.ended if state.channels == source.channels else []
    return first + [Assignment(channel, None, True) for channel in ended]
