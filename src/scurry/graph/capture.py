"""Capture of an operator's functions and of the variables they use, as they are at that moment.

Tasks get the captured copies; the plan on the driver keeps the objects themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CellType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from scurry.common.pickling import Captured, by_value
from scurry.errors import UnpicklableFunctionError
from scurry.graph.operators import AssignTimestamps, Operator, Partitioner

if TYPE_CHECKING:
    from scurry.graph.nodes import Node

#: Fields of nodes and of parts of a plan with objects of the program.
_FIELDS = ("operator", "partitioner", "source", "watermark_strategy")


def capture(node: Node) -> None:
    """Keep a copy of a node's source, or of the functions of its operator or partitioner.

    Raises:
        UnpicklableFunctionError: Something in it cannot be pickled.
    """
    for name in _FIELDS:
        value = getattr(node, name, None)
        if value is not None:
            is_description = isinstance(value, Operator | Partitioner)  # of which the planner makes variants
            given = dict(vars(value)) if is_description else value
            node.captured[name] = captured(given, f"operator {node.name!r} built at {node.origin}")


def captured(value: Any, whose: str) -> Captured:
    """Return a value as it is now.

    Args:
        value: What the program gave.
        whose: What has it, for the error.

    Raises:
        UnpicklableFunctionError: It holds something that cannot be pickled.
    """
    try:
        return Captured(value)
    except Exception as error:
        raise unpicklable(whose, value, error) from error


def unpicklable(whose: str, value: Any, cause: Exception) -> UnpicklableFunctionError:
    """Return the error about a value that cannot be pickled, which names its contents."""
    held = _culprit(value) or "its function"
    return UnpicklableFunctionError(
        f"{whose} cannot be sent to workers: {held}: {cause}\n"
        "  hint: create connections, locks, open files and the like in open(), not in __init__ or at module level"
    )


def as_captured(part: Any) -> dict[str, Any]:
    """Return the state of a part of a plan, for pickling, with captured copies in place of the objects themselves."""
    state, known = {**vars(part), "captured": {}}, part.captured
    for name in _FIELDS if known else ():
        value, given = state.get(name), known.get(name)
        if isinstance(value, AssignTimestamps) and "watermark_strategy" in known:  # the operator within a source
            state[name] = _Made(type(value), {"function": known["watermark_strategy"]})
        elif isinstance(value, Operator | Partitioner):
            state[name] = _Made(type(value), given)
        elif given is not None and given.value is value:  # Spark's sources are replaced by what they have read
            state[name] = given
    return state


class _Made:
    """An operator or partitioner that is made again when it is unpickled."""

    def __init__(self, cls: type, fields: Any) -> None:
        self._cls, self._fields = cls, fields

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._cls, self._fields)


def _made(cls: type, fields: dict[str, Any]) -> Any:
    return cls(**fields)


def _culprit(given: Any) -> str:
    """Name the unpicklable object in a function or its owner: `x` or `self.x`."""
    held, path = given, ""
    for _ in range(6):  # functions hold functions that hold ...
        found = next(((name, value) for name, value in _held_by(held) if not _pickles(value)), None)
        if found is None:
            break
        name, held = found
        path = name or path
    return path


def _held_by(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the objects that a function or an object refers to, by their names in the program; "" for mere wrappers."""
    function = getattr(value, "__func__", value)
    if isinstance(function, FunctionType):
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        yield from ((f"variable {name!r}", cell.cell_contents) for name, cell in cells if cell != CellType())
        used = function.__code__.co_names
        yield from ((f"variable {name!r}", function.__globals__[name]) for name in used if name in function.__globals__)
        if function is not value:
            yield "", value.__self__
    elif isinstance(value, dict):
        yield from (("", each) for each in value.values())
    elif hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType)):
        own = type(value).__module__.partition(".")[0] == __name__.partition(".")[0]
        yield from (("" if own else f"self.{name}", held) for name, held in vars(value).items())


def _pickles(value: Any) -> bool:
    try:
        by_value(value)
    except Exception:
        return False
    return True
