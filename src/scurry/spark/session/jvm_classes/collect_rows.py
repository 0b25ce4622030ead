"""Collect the rows of a micro-batch without `DataFrame.collect`.

That plans the rows as another query and lets Spark read the byte code of its own classes to clean closures: a tenth of
a near-empty micro-batch. `CollectRows.java` runs one job over the RDD that the micro-batch already is. Its function is
executed by tasks, so it takes a driver whose JVM is the only one; other sessions collect the DataFrame.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from scurry.runtime.exchange.wire import WireRow

_CLASS = "CollectRows"
#: A row as the class writes it: all but the block, then the length of the block.
_ROW = struct.Struct(">iiiiqi")


def row_collector(spark: Any) -> Callable[[Any], list[WireRow]]:
    """Return a function that collects the rows of a micro-batch."""
    from py4j.protocol import Py4JJavaError
    from pyspark.serializers import NoOpSerializer
    from pyspark.util import _load_from_socket

    from scurry.spark.session.options import is_one_jvm

    jvm = spark._jvm
    if not is_one_jvm(spark.sparkContext.master):
        return collect_frame
    try:
        jvm.java.lang.ClassLoader.getSystemClassLoader().loadClass(_CLASS)
    except Py4JJavaError:  # the JVM has been started without it
        return collect_frame
    collect = getattr(jvm, _CLASS).collect

    def collect_rows(frame: Any) -> list[WireRow]:
        with _load_from_socket(collect(frame._jdf), NoOpSerializer()) as chunks:
            return [row for chunk in chunks for row in _rows(chunk)]

    return collect_rows


def collect_frame(frame: Any) -> list[WireRow]:
    return [
        WireRow(subtask, port, kind, channel, seq, bytes(block))
        for subtask, port, kind, channel, seq, block in frame.collect()
    ]


def _rows(chunk: bytes) -> Iterator[WireRow]:
    at, end = 0, len(chunk)
    while at < end:
        subtask, port, kind, channel, seq, length = _ROW.unpack_from(chunk, at)
        at += _ROW.size
        yield WireRow(subtask, port, kind, channel, seq, chunk[at : at + length])
        at += length
