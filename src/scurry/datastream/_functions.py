"""Check the functions that a program passes to the API, when it passes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.common._type_variables import T
from scurry.datastream.functions import KeySelector, ReduceFunction
from scurry.datastream.functions.base import Function
from scurry.datastream.functions.transformations import CallableReduce
from scurry.errors import ArgumentTypeError


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
    """Return the name of a function in the plan."""
    if isinstance(function, CallableReduce):
        function = function.__dict__["reduce"]
    return getattr(function, "__name__", type(function).__name__)
