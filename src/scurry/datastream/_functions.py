"""Types of the functions that the API's methods accept, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from scurry.common._type_variables import T1, T2, K, R, T, W
from scurry.common.typeinfo import TypeInformation
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
from scurry.datastream.functions.base import Function
from scurry.datastream.functions.transformations import CallableReduce
from scurry.errors import ArgumentTypeError

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


def require_function(function: Any, kinds: tuple[type, ...], *, or_callable: bool = False, hint: str = "") -> None:
    """Check the kind of a function.

    Args:
        function: What the program passed.
        kinds: The function classes that fit.
        or_callable: Whether a plain callable fits, too.
        hint: What to do instead, if that is not obvious.

    Raises:
        ArgumentTypeError: The function is of another kind.
    """
    expected = " or ".join(kind.__name__ for kind in kinds) + (" or a callable function" if or_callable else "")
    if isinstance(function, type) and issubclass(function, (Function, *kinds)):
        raise ArgumentTypeError(f"{function.__name__} is a class; pass an instance of it: {function.__name__}()")
    if isinstance(function, kinds):
        return
    if or_callable and callable(function) and not isinstance(function, Function):
        return
    if KeySelector in kinds and isinstance(function, (str, int)):
        hint = f"pass a function: lambda record: record[{function!r}]"
    article = "an" if expected.startswith("A") else "a"
    raise ArgumentTypeError(f"The input must be {article} {expected}, got {function!r}{'; ' + hint if hint else ''}")


def require_reduce(function: ReduceFunction[T] | Callable[[T, T], T]) -> ReduceFunction[T]:
    """Return a ReduceFunction, wrapping a plain callable.

    Raises:
        ArgumentTypeError: The function is neither.
    """
    require_function(function, (ReduceFunction,), or_callable=True)
    return function if isinstance(function, ReduceFunction) else CallableReduce(function)


def function_name(function: Any) -> str:
    if isinstance(function, CallableReduce):
        function = function.__dict__["reduce"]
    return getattr(function, "__name__", type(function).__name__)


#: Declarations of the type of records of type T: a list of types is that of rows.
DeclaredType: TypeAlias = TypeInformation[T] | type[T] | list[TypeInformation[Any]]
