"""Types of the functions that the API's methods accept: Flink's function classes or plain callables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from scurry.common._type_variables import T1, T2, K, R, T, W
from scurry.datastream.functions import (
    AllWindowFunction,
    BroadcastProcessFunction,
    CoGroupFunction,
    CoProcessFunction,
    FilterFunction,
    FlatJoinFunction,
    FlatMapFunction,
    JoinFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)

MapLike: TypeAlias = MapFunction[T, R] | Callable[[T], R]
FlatMapLike: TypeAlias = FlatMapFunction[T, R] | Callable[[T], Iterable[R] | None]
#: Whatever a callable returns counts as true or false, as in Python's own `filter`.
FilterLike: TypeAlias = FilterFunction[T] | Callable[[T], object]
ReduceLike: TypeAlias = ReduceFunction[T] | Callable[[T, T], T]
KeySelectorLike: TypeAlias = KeySelector[T, K] | Callable[[T], K]
PartitionerLike: TypeAlias = Partitioner[K] | Callable[[K, int], int]
CoProcessLike: TypeAlias = CoProcessFunction[T1, T2, R] | KeyedCoProcessFunction[Any, T1, T2, R]
BroadcastProcessLike: TypeAlias = BroadcastProcessFunction[T1, T2, R] | KeyedBroadcastProcessFunction[Any, T1, T2, R]
CoGroupLike: TypeAlias = CoGroupFunction[T1, T2, R] | Callable[[Iterable[T1], Iterable[T2]], Iterable[R] | None]
JoinLike: TypeAlias = JoinFunction[T1, T2, R] | FlatJoinFunction[T1, T2, R] | Callable[[T1, T2], R]
#: The first pair is for windows per key, the second for windows over all records.
WindowFunctionLike: TypeAlias = (
    WindowFunction[T, R, K, W]
    | ProcessWindowFunction[T, R, K, W]
    | AllWindowFunction[T, R, W]
    | ProcessAllWindowFunction[T, R, W]
)
