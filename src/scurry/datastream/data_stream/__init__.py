"""Streams, from which programs build jobs."""

from __future__ import annotations

from scurry.datastream.data_stream.cached import CachedDataStream
from scurry.datastream.data_stream.co_grouped_streams import CoGroupedStreams
from scurry.datastream.data_stream.collect import CloseableIterator
from scurry.datastream.data_stream.connected import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
from scurry.datastream.data_stream.interval_join import IntervalJoin, IntervalJoined
from scurry.datastream.data_stream.joined_streams import JoinedStreams
from scurry.datastream.data_stream.keyed import KeyedStream
from scurry.datastream.data_stream.sink import DataStreamSink
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
