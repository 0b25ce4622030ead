"""What is sent to Spark's state store."""

from __future__ import annotations

import io
import pickle
import random
import struct
from typing import Any

import pytest

from scurry.spark.workers.map_store import NAME, MapStore


class Client:
    """Takes messages, and answers nothing."""

    class pickleSer:
        dumps = staticmethod(pickle.dumps)
        loads = staticmethod(pickle.loads)

    def __init__(self) -> None:
        self.sockfile = io.BytesIO()

    def _send_proto_message(self, message: bytes) -> None:
        raise AssertionError

    _receive_proto_message = _send_proto_message


class Handle:
    def __init__(self) -> None:
        self._statefulProcessorApiClient = Client()

    def getMapState(self, *args: Any) -> None:
        return None


@pytest.mark.parametrize(
    ("size", "kind"),
    [*((size, bytes) for size in (0, 10, 32_767, 32_768, 100_000, 3_000_000)), (100_000, memoryview)],
)
def test_an_entry_of_any_size_is_sent_as_spark_reads_it(size: int, kind: Any) -> None:
    from pyspark.sql.streaming.proto import StateMessage_pb2 as proto

    handle, blob = Handle(), random.Random(size).randbytes(size)
    MapStore(handle).put(("op", "page", 7 << 32 | 1), kind(blob))
    sent = handle._statefulProcessorApiClient.sockfile.getvalue()
    version, length = struct.unpack_from("!ii", sent)
    assert (version, length) == (0, len(sent) - 8)
    call = proto.StateRequest.FromString(sent[8:]).stateVariableRequest.mapStateCall
    assert call.stateName == NAME
    assert pickle.loads(call.updateValue.userKey) == ("op", "page", 7 << 32 | 1)
    assert pickle.loads(call.updateValue.value) == (blob,)
