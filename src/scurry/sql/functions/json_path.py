"""Paths in JSON, as Jayway's JsonPath reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from math import sqrt
from statistics import fmean
from typing import Any, Final

from scurry.sql.functions.json_filters import MISSING, Condition, Operand, compile_filter
from scurry.sql.functions.json_text import JsonError, loads


class PathError(ValueError):
    """A path leads nowhere."""


class PathSyntaxError(PathError):
    """A path is malformed."""


#: From a value, and the value at the root of the path, to the values at a step of the path.
Step = Callable[[Any, Any], Iterator[Any]]

_NAME: Final = re.compile(r"[^.\[\]()\s?@'\"][^.\[()]*")

_INDEXES: Final = re.compile(r"\s*-?\d+\s*(,\s*-?\d+\s*)*")

_SLICE: Final = re.compile(r"\s*(-?\d+)?\s*:\s*(-?\d+)?\s*")

_QUOTED: Final = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*(,|$)""")

_CALL: Final = re.compile(r"(\w+)\(([^()]*)\)")


def _numbers(values: Any, arguments: list[Any]) -> list[float]:
    elements = values if isinstance(values, list) else []
    found = [float(each) for each in [*elements, *arguments] if isinstance(each, int | Decimal)]
    if not found:
        raise PathError("Aggregation function attempted to calculate value using empty array")
    return found


def _deviation(values: list[float]) -> float:
    squares = sum(each * each for each in values)
    return sqrt(squares / len(values) - sum(values) * sum(values) / len(values) / len(values))


def _length(value: Any, arguments: list[Any]) -> int | None:
    return len(value) if isinstance(value, list | dict) else None


def _keys(value: Any, arguments: list[Any]) -> list[str] | None:
    return list(value) if isinstance(value, dict) else None


def _concatenated(value: Any, arguments: list[Any]) -> str:
    texts = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    return "".join([*texts, *map(str, arguments)])


def _at(index: int | None) -> Callable[[Any, list[Any]], Any]:
    def element(value: Any, arguments: list[Any]) -> Any:
        place = int(arguments[0]) if index is None else index
        if not isinstance(value, list) or not -len(value) <= place < len(value):
            raise PathError(f"No element {place}")
        return value[place]

    return element


_FUNCTIONS: Final[dict[str, Callable[[Any, list[Any]], Any]]] = {
    "length": _length,
    "size": _length,
    "keys": _keys,
    "min": lambda value, arguments: min(_numbers(value, arguments)),
    "max": lambda value, arguments: max(_numbers(value, arguments)),
    "sum": lambda value, arguments: sum(_numbers(value, arguments)),
    "avg": lambda value, arguments: fmean(_numbers(value, arguments)),
    "stddev": lambda value, arguments: _deviation(_numbers(value, arguments)),
    "concat": _concatenated,
    "first": _at(0),
    "last": _at(-1),
    "index": _at(None),
}


def read_path(value: Any, path: str, root: Any = None, lenient: bool = False) -> Any:
    """Return the value at a path; a list of all values, if the path may lead to several.

    Args:
        value: Where the path starts.
        root: What `$` is in a filter of the path; the value, if not given.
        lenient: Whether None, or an empty list, is returned where the path leads nowhere.

    Raises:
        PathSyntaxError: The path is malformed.
        PathError: The path leads nowhere.
    """
    steps = _steps(path)
    root = value if root is None else root
    try:
        return _followed(value, steps, root)
    except PathSyntaxError:
        raise
    except PathError:
        if not lenient:
            raise
        return None if all(is_single for is_single, _ in steps) else []


def _followed(value: Any, steps: tuple[tuple[bool, Step], ...], root: Any) -> Any:
    current = [value]
    is_definite = True
    for is_single, step in steps:
        is_definite = is_definite and is_single
        found: list[Any] = []
        for each in current:
            try:
                found.extend(step(each, root))
            except PathError:
                if is_definite:
                    raise
        current = found
    return current[0] if is_definite else current


@lru_cache(maxsize=256)
def _steps(path: str) -> tuple[tuple[bool, Step], ...]:
    path = path.strip()
    if not path:
        raise PathSyntaxError("json can not be null or empty")
    if path[0] not in "$@":
        path = f"$.{path}"
    found: list[tuple[bool, Step]] = []
    at = 1
    while at < len(path):
        if path.startswith("..", at):
            at += 2
            found.append((False, _descendants))
            if path[at : at + 1] != "[":
                at = _dotted(path, at, found)
        elif path[at] == ".":
            at += 1
            if path[at : at + 1] != "[":
                at = _dotted(path, at, found)
        elif path[at] == "[":
            at = _bracketed(path, at, found)
        else:
            raise PathSyntaxError(f"Could not parse token starting at position {at}")
    return tuple(found)


def _dotted(path: str, at: int, found: list[tuple[bool, Step]]) -> int:
    if path[at : at + 1] == "*":
        found.append((False, _children))
        return at + 1
    match = _NAME.match(path, at)
    if match is None:
        raise PathSyntaxError("Path must not end with a '.' or '..'")
    call = _CALL.match(path, at)
    if call is not None:
        if call[1] not in _FUNCTIONS:
            raise PathSyntaxError(f"Function with name: {call[1]} does not exist.")
        found.append((True, _applied(_FUNCTIONS[call[1]], _arguments(call[2]))))
        return call.end()
    name, end = match[0].rstrip(), match.end()
    if " " in name:
        raise PathSyntaxError("Use bracket notion ['my prop'] if your property contains blank characters.")
    found.append((True, _property(name)))
    return end


def _arguments(text: str) -> list[Any]:
    try:
        return [loads(each) for each in text.split(",")] if text.strip() else []
    except JsonError as error:
        raise PathSyntaxError(str(error)) from error


def _bracketed(path: str, at: int, found: list[tuple[bool, Step]]) -> int:
    end = _closing(path, at)
    inner = path[at + 1 : end]
    if inner.strip() == "*":
        found.append((False, _children))
    elif _INDEXES.fullmatch(inner):
        indexes = [int(each) for each in inner.split(",")]
        found.append((len(indexes) == 1, _elements(indexes)))
    elif _SLICE.fullmatch(inner):
        start, stop = (int(each) if each else None for each in _SLICE.fullmatch(inner).groups())  # type: ignore[union-attr]
        found.append((False, _slice(start, stop)))
    elif inner.lstrip().startswith("?"):
        found.append((False, _filter(compile_filter(inner.strip()[1:].strip(), _operand))))
    else:
        names = _names(inner)
        # Several names at the end of a path give one object, before its end each property by itself.
        is_last = end == len(path) - 1
        step = _property(names[0]) if len(names) == 1 else _properties(names) if is_last else _each_property(names)
        found.append((len(names) == 1 or is_last, step))
    return end + 1


def _closing(path: str, at: int) -> int:
    depth, quote, place = 0, "", at
    while place < len(path):
        character = path[place]
        if quote:
            if character == "\\":
                place += 1
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
            if not depth:
                return place
        place += 1
    raise PathSyntaxError(f"Could not parse token starting at position {at}")


def _names(inner: str) -> list[str]:
    names, at = [], 0
    while at < len(inner):
        match = _QUOTED.match(inner, at)
        if match is None:
            raise PathSyntaxError(f"Could not parse token: [{inner}]")
        names.append(re.sub(r"\\(.)", r"\1", match[1][1:-1]))
        at = match.end()
    return names


def _property(name: str) -> Step:
    def step(value: Any, root: Any) -> Iterator[Any]:
        if not isinstance(value, dict) or name not in value:
            raise PathError(f"No results for path: {name}")
        yield value[name]

    return step


def _properties(names: list[str]) -> Step:
    def step(value: Any, root: Any) -> Iterator[Any]:
        if not isinstance(value, dict):
            raise PathError("expected an object")
        yield {name: value[name] for name in names if name in value}

    return step


def _each_property(names: list[str]) -> Step:
    def step(value: Any, root: Any) -> Iterator[Any]:
        if not isinstance(value, dict):
            raise PathError("expected an object")
        yield from (value[name] for name in names if name in value)

    return step


def _elements(indexes: list[int]) -> Step:
    def step(value: Any, root: Any) -> Iterator[Any]:
        if not isinstance(value, list):
            raise PathError("Filter can only be applied to arrays")
        for index in indexes:
            if -len(value) <= index < len(value):
                yield value[index]
            elif len(indexes) == 1:
                raise PathError(f"No results for path: [{index}]")

    return step


def _slice(start: int | None, stop: int | None) -> Step:
    def step(value: Any, root: Any) -> Iterator[Any]:
        if not isinstance(value, list):
            raise PathError("Filter can only be applied to arrays")
        yield from value[start:stop]

    return step


def _children(value: Any, root: Any = None) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _descendants(value: Any, root: Any = None) -> Iterator[Any]:
    yield value
    for child in _children(value):
        yield from _descendants(child)


def _applied(function: Callable[[Any, list[Any]], Any], arguments: list[Any]) -> Step:
    def step(value: Any, root: Any) -> Iterator[Any]:
        try:
            yield function(value, arguments)
        except (TypeError, ValueError, IndexError) as error:
            raise PathError(str(error)) from error

    return step


def _filter(condition: Condition) -> Step:
    def step(value: Any, root: Any) -> Iterator[Any]:
        candidates = value if isinstance(value, list) else [value]
        yield from (each for each in candidates if condition(each, root))

    return step


def _operand(text: str) -> Operand:
    """Return a function that computes an operand of a filter: a path in the value or from the root, or a literal."""
    if text[0] in "@$":
        is_current = text[0] == "@"

        def follow(value: Any, root: Any) -> Any:
            try:
                return read_path(value if is_current else root, text, root)
            except PathError:
                return MISSING

        return follow
    if text[0] == "'":
        return lambda value, root: text[1:-1]
    if text[0] == "/":
        return lambda value, root: text
    try:
        literal = loads(text)
    except JsonError as error:
        raise PathSyntaxError(f"Could not parse filter operand {text}") from error
    return lambda value, root: literal
