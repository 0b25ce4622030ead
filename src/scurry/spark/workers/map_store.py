"""Store a level's state in Spark's MapState, with requests sent ahead of their answers.

Spark's Python client waits for the JVM after every request, 70 µs each. Here, writes and the announcement of the next
subtask are sent without waiting, and reads are sent together; answers are read when one is needed. So the pages of a
block of records cost one round trip, and the JVM writes while Python continues.
"""

from __future__ import annotations

import pickle
import struct
from collections import deque
from collections.abc import Sequence
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql.types import BinaryType, LongType, StringType, StructType

from scurry.runtime.state.store import RunInfo, StoreKey, StoreReads
from scurry.spark.workers.local_runs import LocalRuns
from scurry.spark.workers.run_files import LARGE_RUN, RunFiles, is_reference, name_in

NAME = "entries"
KEY_TYPE = StructType().add("uid", StringType()).add("kind", StringType()).add("id", LongType())
VALUE_TYPE = StructType().add("blob", BinaryType())

#: The keys of what the store itself keeps beside the entries: the batches that have superseded files, with the bytes of
#: the files, and by their ids plus one, the names of the files.
FILES_KIND = "files"
_SUPERSEDING: StoreKey = ("", FILES_KIND, 0)

#: Runs are read together up to this many bytes.
_READ_BYTES = 16 * 1024 * 1024

#: Unread answers at which all are read: more might fill the socket's buffer and block the JVM.
_MAX_UNREAD = 100

#: Entries of at least this size are written without copies.
_LARGE_BYTES = 32 * 1024

#: Version of the protocol and length of the message.
_HEADER = struct.Struct("!ii")


class MapStore:
    """A state store on Spark's MapState; one per task.

    Args:
        handle: Spark's handle of the stateful processor, in `init`.

    Attributes:
        local: The runs that this machine has; set before runs are read or written.
    """

    local: LocalRuns

    #: where large runs are files; None: they are entries
    _files: RunFiles | None = None
    _batch = -1

    def __init__(self, handle: Any) -> None:
        from pyspark.sql.streaming.proto import StateMessage_pb2 as proto

        self._map = handle.getMapState(NAME, KEY_TYPE, VALUE_TYPE)
        self._proto = proto
        self._client = client = handle._statefulProcessorApiClient
        self._send, self._receive = client._send_proto_message, client._receive_proto_message
        self._dumps, self._loads = client.pickleSer.dumps, client.pickleSer.loads
        self._keys: dict[StoreKey, bytes] = {}
        #: for each request without an answer yet: whether the answer is a value
        self._unread: deque[bool] = deque()
        self._found: list[bytes | None] = []
        self._bytes_read = self._hits = self._misses = 0
        #: the files that this batch supersedes, with their sizes
        self._superseded: dict[str, int] = {}
        # Spark's own requests wait for the answers to those sent ahead; only the next subtask is sent ahead, too
        client._send_proto_message = self._send_in_turn
        self._key_tag, self._value_tag = _tag(proto.UpdateValue, "userKey"), _tag(proto.UpdateValue, "value")
        #: the fields that an update is nested in, from the inside out: what comes before each, and its tag
        self._nesting = (
            (
                _bytes_field(_tag(proto.MapStateCall, "stateName"), NAME.encode()),
                _tag(proto.MapStateCall, "updateValue"),
            ),
            (b"", _tag(proto.StateVariableRequest, "mapStateCall")),
            (b"", _tag(proto.StateRequest, "stateVariableRequest")),
        )
        client.set_implicit_key = self._set_subtask

    def begin(self, local: LocalRuns, files: RunFiles | None = None, batch: int = -1) -> None:
        """Begin a micro-batch of a subtask.

        Args:
            local: The runs that this machine has.
            files: Where large runs are files; None to let them be entries of Spark's store.
            batch: The micro-batch, by Spark's id.
        """
        self.local, self._files, self._batch = local, files, batch
        self._superseded.clear()

    def get_many(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        """Return the entries of keys, None for each that does not exist.

        Raises:
            DamagedRunError: The file of a run is missing, or not what was written.
        """
        found = self._get(keys)
        if self._files is None:
            return found
        return [None if blob is None else self._files.whole(blob) for blob in found]

    def _get(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        proto = self._proto
        for key in keys:
            self._ask(proto.MapStateCall(stateName=NAME, getValue=proto.GetValue(userKey=self._key(key))), True)
        self._read()
        found, self._found = self._found, []
        self._bytes_read += sum(map(len, filter(None, found)))
        return found

    @property
    def reads(self) -> StoreReads:
        """Return the reads so far."""
        return StoreReads(self._bytes_read, self._hits, self._misses)

    def put(self, key: StoreKey, blob: bytes) -> None:
        """Write an entry."""
        if len(blob) >= _LARGE_BYTES:
            self._put_large(self._key(key), blob)
            return
        update = self._proto.UpdateValue(userKey=self._key(key), value=self._dumps((blob,)))
        self._ask(self._proto.MapStateCall(stateName=NAME, updateValue=update))

    def remove(self, key: StoreKey) -> None:
        """Remove an entry if it exists."""
        self._ask(self._proto.MapStateCall(stateName=NAME, removeKey=self._proto.RemoveKey(userKey=self._key(key))))

    def _put_large(self, key: bytes, blob: bytes) -> None:
        """Write an entry with a message that is made around its content.

        Protocol Buffers copy a value for each message that it is nested in, which costs more than all else.
        """
        head, tail = b"\x80\x03B" + len(blob).to_bytes(4, "little"), b"\x85."  # what pickle writes of (blob,)
        rest = len(blob) + len(tail)
        head = _bytes_field(self._key_tag, key) + self._value_tag + _varint(len(head) + rest) + head
        for before, tag in self._nesting:
            head = before + tag + _varint(len(head) + rest) + head
        self._send_ahead((_HEADER.pack(0, len(head) + rest) + head, blob, tail), False)

    def get_runs(self, runs: Sequence[tuple[StoreKey, RunInfo]]) -> list[Any]:
        """Return the bytes of runs, None for each missing one, from this machine if they are there."""
        found = [self.local.get(info.digest, info.size) for _, info in runs]
        missing = [place for place, blob in enumerate(found) if blob is None]
        self._hits += len(runs) - len(missing)
        self._misses += len(missing)
        read = 0
        while read < len(missing):  # of as many at once as are about so many bytes
            size = 0
            some: list[int] = []
            while read < len(missing) and (not some or size < _READ_BYTES):
                some.append(missing[read])
                size += runs[missing[read]][1].size
                read += 1
            for place, blob in zip(some, self.get_many([runs[place][0] for place in some]), strict=True):
                if blob is None:
                    continue
                self.local.put(runs[place][1].digest, blob)
                kept = self.local.get(runs[place][1].digest, len(blob))
                found[place] = blob if kept is None else kept
        return found

    def put_run(self, key: StoreKey, digest: int, blob: bytes) -> None:
        if self._files is None or not self._files.writes or len(blob) < LARGE_RUN:
            self.local.put(digest, blob)
            self.put(key, blob)
            return
        reference = self._files.write(self._batch, key, digest, blob)
        name = name_in(reference)
        self._superseded.pop(name, None)
        self.local.add(digest, blob, self._files.path(name))
        self.put(key, reference)

    def remove_run(self, key: StoreKey, info: RunInfo) -> None:
        """Remove a run; its file stays as long as the state can be rolled back to a version with it."""
        self.local.remove(info.digest)
        if self._files is not None and self._files.writes and info.size >= LARGE_RUN:
            (before,) = self._get((key,))
            if before is not None and is_reference(before):
                self._superseded[name_in(before)] = info.size
        self.remove(key)

    def _forget_files(self) -> None:
        """Note which files this batch supersedes, and delete those that no version of the state needs any more."""
        files = self._files
        if files is None or not self._superseded:
            return
        (noted,) = self._get((_SUPERSEDING,))
        batches: list[tuple[int, int]] = pickle.loads(noted) if noted else []
        batches.append((self._batch, sum(self._superseded.values())))
        due = files.due(batches, self._batch)
        places = [("", FILES_KIND, batch + 1) for batch in due]
        for place, names in zip(places, self._get(places), strict=True):
            files.delete(pickle.loads(names) if names else ())
            self.remove(place)
        self.put(("", FILES_KIND, self._batch + 1), pickle.dumps(sorted(self._superseded), 5))
        self.put(_SUPERSEDING, pickle.dumps([noted for noted in batches if noted[0] not in due], 5))
        self._superseded.clear()

    def stored_keys(self) -> list[StoreKey]:
        return [(uid, kind, number) for uid, kind, number in self._map.keys() if kind != FILES_KIND]

    def link_run(self, info: RunInfo, path: str) -> bool:
        """Make a link to the file of a run; return False if this machine has none, or none can be made."""
        return self.local.link(info.digest, info.size, path)

    def release(self) -> None:
        """Return the memory of runs that were read."""
        self.local.release()

    def flush(self) -> None:
        """End the batch of the subtask: send all buffered requests to the JVM."""
        self._forget_files()
        self.local.unmap_removed()
        self._client.sockfile.flush()

    def _key(self, key: StoreKey) -> bytes:
        encoded = self._keys.get(key)
        if encoded is None:
            encoded = self._keys[key] = self._dumps(key)
        return encoded

    def _ask(self, call: Any, value: bool = False) -> None:
        variable = self._proto.StateVariableRequest(mapStateCall=call)
        self._request(self._proto.StateRequest(stateVariableRequest=variable), value)

    def _request(self, request: Any, value: bool = False) -> None:
        message = request.SerializeToString()
        self._send_ahead((_HEADER.pack(0, len(message)) + message,), value)

    def _send_ahead(self, parts: Sequence[bytes], value: bool) -> None:
        if len(self._unread) >= _MAX_UNREAD:
            self._read()
        for part in parts:
            self._client.sockfile.write(part)
        self._unread.append(value)

    def _read(self) -> None:
        self._client.sockfile.flush()
        while self._unread:
            value = self._unread.popleft()
            status, error, answer = self._receive()
            if status != 0:
                raise PySparkRuntimeError(f"Spark's state store refused a request: {error}")
            if value:
                self._found.append(bytes(self._loads(answer)[0]) if answer else None)

    def _set_subtask(self, key: Any) -> None:
        encoded = self._client._serialize_to_bytes(self._client.key_schema, key)
        call = self._proto.ImplicitGroupingKeyRequest(setImplicitKey=self._proto.SetImplicitKey(key=encoded))
        self._request(self._proto.StateRequest(implicitGroupingKeyRequest=call))

    def _send_in_turn(self, message: bytes) -> None:
        self._read()
        self._send(message)


def _tag(message: Any, field: str) -> bytes:
    """Return the tag of a field of bytes, text or a message."""
    return _varint(message.DESCRIPTOR.fields_by_name[field].number << 3 | 2)


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _bytes_field(tag: bytes, content: bytes) -> bytes:
    return tag + _varint(len(content)) + content
