"""The wire between levels: rows that carry many records each.

A row is the tuple `(subtask, port, kind, channel, seq, block)`:

- `subtask`: the receiver, by its number in `JobPlan.subtask_ids`; Spark's grouping key.
- `port`: the edge of the plan that the row travels on, or the sink that it goes to.
- `kind`: one of the constants below.
- `channel`: the sender: task id << 16 | subtask. Order is kept per channel.
- `seq`: position in the channel.
- `block`: the payload.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Sized
from typing import Any, NamedTuple, Protocol

from scurry._dataclasses import dataclass
from scurry.graph.plan import JobPlan

DATA = 0  # block: keys, values, timestamps, and the wall clock when they were read
PROGRESS = 1  # block: [(seq, watermark, stamp, activity)], event time and wall clock after position seq
COMMIT = 2  # block: committables of a sink writer, for the sink's committer on the driver
REPORT = 3  # block: a TaskReport, for the driver
SINK = 4  # block: values and timestamps for the writer of the sink `port`
STATE = 5  # block: [(kind, id, blob)], entries of a savepoint for the store of operator `port`
QUERY = 6  # block: (number, state name, key), a query of the keyed state of operator `port`
ANSWER = 7  # block: (number, whether it is the value or an error's text, value), for the driver
RESTORE = 8  # block: a RestoreShare, which the subtask of operator `port` reads from the savepoint itself
SAVE = 9  # block: (path, links, start): the subtask saves its part of the level of `port` in a savepoint

#: The activity of a progress point: whether records arrived since the last one, or the sender declares itself idle.
#: The runner's own is RESUMED in the first point after a start from state: until then nobody was listening.
SILENT, ACTIVE, IDLE, RESUMED = 0, 1, 2, 3

#: Arrow and Spark schema of a row.
SCHEMA = "subtask int, port int, kind int, channel int, seq long, block binary"

#: Flink's Long.MIN_VALUE and Long.MAX_VALUE: the watermark before any, and after the end of input.
MIN_TIME = -(2**63)
MAX_TIME = 2**63 - 1


class WireRow(NamedTuple):
    subtask: int
    port: int
    kind: int
    channel: int
    seq: int
    block: bytes


class BatchRow(NamedTuple):
    """A row of the wire in BATCH: a DATA row holds records of one key in time order; Spark's sorter orders the rows.

    If the job ends in a savepoint, PROGRESS rows come before them. Their block is (channel, watermark, whether the
    channel is idle), which holds after all records of the channel.
    """

    subtask: int
    port: int
    kind: int
    channel: int
    seq: int
    block: bytes
    target: int = -1
    key: bytes = b""
    time: int = 0


BATCH_SCHEMA = SCHEMA + ", target int, key binary, time long"
#: The order in which a level receives the rows of a partition.
BATCH_ORDER = ("target", "subtask", "key", "time", "channel", "seq")


#: Bits of the positions of a channel within a micro-batch; above them is the number of the batch or assignment.
SEQ_BITS = 24


def channel_id(task_id: int, instance: int = 0) -> int:
    assert 0 <= task_id < 1 << 15 and 0 <= instance < 1 << 16, f"no channel of task {task_id}, subtask {instance}"
    return task_id << 16 | instance


def sender_of(channel: int) -> tuple[int, int]:
    """Return the task and the subtask of a channel."""
    assert 0 <= channel < 1 << 31, f"no channel has the number {channel}"
    return channel >> 16, channel & 0xFFFF


def require_columns(port: int, keys: Sized | None, values: Sized, times: Sized | None) -> None:
    """Assert that a block has a key and a timestamp for each value, or none; its sender and its receiver do."""
    count = len(values)
    assert keys is None or len(keys) == count, f"edge {port}: {len(keys)} keys of {count} records"
    assert times is None or len(times) == count, f"edge {port}: {len(times)} timestamps of {count} records"


class _NotBuiltinError(Exception):
    """A payload has other objects than values of builtin types."""


class _BuiltinPickler(pickle.Pickler):
    """Pickle values of builtin types; it does not look for objects that occur twice, which takes half the time."""

    def __init__(self, output: io.BytesIO) -> None:
        super().__init__(output, 5)
        self.fast = True

    def reducer_override(self, value: Any) -> Any:
        """Refuse an object that is of no builtin type."""
        raise _NotBuiltinError


def pack(payload: Any) -> bytes:
    """Encode a payload with pickle.

    Raises:
        Exception: Something in it cannot be pickled.
    """
    output = io.BytesIO()
    try:
        _BuiltinPickler(output).dump(payload)
    except (_NotBuiltinError, ValueError):  # a ValueError says that a list contains itself
        return pickle.dumps(payload, 5)
    return output.getvalue()


def unpack(block: bytes) -> Any:
    """Inverse of `pack`."""
    return pickle.loads(block)


@dataclass(frozen=True)
class SplitAssignment:
    """A split that one channel of a source reads in one micro-batch.

    Attributes:
        source: Number of the source in the plan.
        channel: The parallel reader, from 0.
        split: The argument of `Source.read`; None if there is nothing to read.
        final: Whether this is the last assignment of the channel.
    """

    source: int
    channel: int
    split: Any
    final: bool


class ControlMessage(Protocol):
    """A message of the driver to the levels: a tick, state to restore, or a query for state."""

    def rows(self, plan: JobPlan) -> Iterator[WireRow]: ...


#: Parts of a micro-batch.
Assigned = SplitAssignment | ControlMessage
