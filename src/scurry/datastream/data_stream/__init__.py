"""Streams, from which programs build jobs."""

from __future__ import annotations

from scurry.datastream.data_stream.cached import CachedDataStream
from scurry.datastream.data_stream.connected import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
from scurry.datastream.data_stream.joins import CoGroupedStreams, IntervalJoin, IntervalJoined, JoinedStreams
from scurry.datastream.data_stream.keyed import KeyedStream
from scurry.datastream.data_stream.sink import CloseableIterator, DataStreamSink
from scurry.datastream.data_stream.stream import DataStream
from scurry.datastream.data_stream.windowed import AllWindowedStream, WindowedStream

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "CoGroupedStreams",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "IntervalJoin",
    "IntervalJoined",
    "JoinedStreams",
    "KeyedStream",
    "WindowedStream",
]
