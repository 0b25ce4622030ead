"""JSON texts, and paths in them as Jayway's JsonPath reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import Any, Final

__all__ = ["JsonError", "PathError", "dumps", "loads", "read_path"]


class JsonError(ValueError):
    """A text is no JSON."""


class PathError(ValueError):
    """A path is malformed, or leads nowhere."""


def _refuse_constant(name: str) -> Any:
    raise JsonError(f"Unrecognized token '{name}'")


def _whole(text: str) -> int:
    return int(text) if len(text) < 4300 else int(Decimal(text))


_DECODER: Final = json.JSONDecoder(parse_float=Decimal, parse_int=_whole, parse_constant=_refuse_constant)


def loads(text: str) -> Any:
    """Return the value of a JSON text; what follows it does not matter. Fractions are Decimals.

    Raises:
        JsonError: The text is none.
    """
    try:
        text = text.lstrip(" \t\r\n")
        if re.match(r"-?0\d", text):
            raise JsonError("Invalid numeric value: Leading zeroes not allowed")
        return _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError) as error:
        raise JsonError(str(error)) from error


def dumps(value: Any) -> str:
    """Return a value as JSON without blanks, the names of objects in order."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{dumps(name)}:{dumps(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dumps, value)) + "]"
    if isinstance(value, Decimal):
        return _decimal_text(value)
    return json.dumps(value, ensure_ascii=False)


def _decimal_text(value: Decimal) -> str:
    """Return a number as `BigDecimal.toString` does."""
    return str(value) if value.adjusted() >= -6 or "E" not in str(value) else format(value, "E")


Step = Callable[[Any], Iterator[Any]]

_NAME: Final = re.compile(r"[^.\[\]()\s?@'\"][^.\[()]*")
_INDEXES: Final = re.compile(r"\s*-?\d+\s*(,\s*-?\d+\s*)*")
_SLICE: Final = re.compile(r"\s*(-?\d+)?\s*:\s*(-?\d+)?\s*")
_QUOTED: Final = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*(,|$)""")
_FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "length": lambda value: len(value) if isinstance(value, list | dict | str) else None,
    "size": lambda value: len(value) if isinstance(value, list | dict | str) else None,
    "keys": lambda value: sorted(value) if isinstance(value, dict) else None,
    "min": lambda value: float(min(value)),
    "max": lambda value: float(max(value)),
    "sum": lambda value: float(sum(value)),
    "avg": lambda value: float(sum(value)) / len(value),
}


def read_path(value: Any, path: str) -> Any:
    """Return what a path leads to; a list of all, if it could be several.

    Raises:
        PathError: The path is malformed, or leads nowhere.
    """
    steps = _steps(path)
    current = [value]
    is_definite = True
    for is_single, step in steps:
        is_definite = is_definite and is_single
        found: list[Any] = []
        for each in current:
            try:
                found.extend(step(each))
            except PathError:
                if is_definite:
                    raise
        current = found
    return current[0] if is_definite else current


@lru_cache(maxsize=256)
def _steps(path: str) -> tuple[tuple[bool, Step], ...]:
    path = path.strip()
    if not path:
        raise PathError("json can not be null or empty")
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
            raise PathError(f"Could not parse token starting at position {at}")
    return tuple(found)


def _dotted(path: str, at: int, found: list[tuple[bool, Step]]) -> int:
    if path[at : at + 1] == "*":
        found.append((False, _children))
        return at + 1
    match = _NAME.match(path, at)
    if match is None:
        raise PathError("Path must not end with a '.' or '..'")
    name, end = match[0], match.end()
    if path[end : end + 2] == "()":
        if name not in _FUNCTIONS:
            raise PathError(f"Function with name: {name} does not exist.")
        found.append((True, _applied(_FUNCTIONS[name])))
        return end + 2
    found.append((True, _property(name.rstrip())))
    return end


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
        found.append((False, _filter(inner.strip()[1:].strip())))
    else:
        names = _names(inner)
        found.append((len(names) == 1, _property(names[0]) if len(names) == 1 else _properties(names)))
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
    raise PathError(f"Could not parse token starting at position {at}")


def _names(inner: str) -> list[str]:
    names, at = [], 0
    while at < len(inner):
        match = _QUOTED.match(inner, at)
        if match is None:
            raise PathError(f"Could not parse token: [{inner}]")
        names.append(re.sub(r"\\(.)", r"\1", match[1][1:-1]))
        at = match.end()
    return names


def _property(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if not isinstance(value, dict) or name not in value:
            raise PathError(f"No results for path: {name}")
        yield value[name]

    return step


def _properties(names: list[str]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if not isinstance(value, dict):
            raise PathError("expected an object")
        yield {name: value[name] for name in names if name in value}

    return step


def _elements(indexes: list[int]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if not isinstance(value, list):
            raise PathError("Filter can only be applied to arrays")
        for index in indexes:
            if -len(value) <= index < len(value):
                yield value[index]
            elif len(indexes) == 1:
                raise PathError(f"No results for path: [{index}]")

    return step


def _slice(start: int | None, stop: int | None) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if not isinstance(value, list):
            raise PathError("Filter can only be applied to arrays")
        yield from value[start:stop]

    return step


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _descendants(value: Any) -> Iterator[Any]:
    yield value
    for child in _children(value):
        yield from _descendants(child)


def _applied(function: Callable[[Any], Any]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        try:
            yield function(value)
        except (TypeError, ValueError) as error:
            raise PathError(str(error)) from error

    return step


_COMPARISON: Final = re.compile(r"(.+?)\s*(==|!=|<=|>=|<|>|=~)\s*(.+)", re.DOTALL)


def _filter(text: str) -> Step:
    condition = _condition(text[1:-1].strip() if text.startswith("(") and _closing(text, 0) == len(text) - 1 else text)

    def step(value: Any) -> Iterator[Any]:
        candidates = value if isinstance(value, list) else [value]
        yield from (each for each in candidates if condition(each))

    return step


def _condition(text: str) -> Callable[[Any], bool]:
    for word, combine in (("||", any), ("&&", all)):
        parts = _split(text, word)
        if len(parts) > 1:
            conditions = [_condition(part.strip()) for part in parts]
            return lambda value, combine=combine: combine(condition(value) for condition in conditions)  # type: ignore[misc]
    if text.startswith("(") and text.endswith(")"):
        return _condition(text[1:-1].strip())
    if text.startswith("!"):
        negated = _condition(text[1:].strip())
        return lambda value: not negated(value)
    match = _COMPARISON.fullmatch(text)
    if match is None:
        return lambda value: _operand(text, value) is not _MISSING
    left, operator, right = match.groups()
    return lambda value: _compared(_operand(left, value), operator, _operand(right, value))


def _split(text: str, word: str) -> list[str]:
    parts, depth, quote, start = [], 0, "", 0
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif not depth and text.startswith(word, place):
            parts.append(text[start:place])
            start = place + len(word)
    return [*parts, text[start:]]


_MISSING: Final = object()


def _operand(text: str, value: Any) -> Any:
    text = text.strip()
    if text.startswith("@"):
        try:
            return read_path(value, text)
        except PathError:
            return _MISSING
    if text[:1] == "'":
        return text[1:-1]
    try:
        return loads(text)
    except JsonError:
        raise PathError(f"Could not parse filter operand {text}") from None


def _compared(left: Any, operator: str, right: Any) -> bool:
    if operator == "==":
        return bool(left == right)
    if operator == "!=":
        return bool(left != right)
    try:
        if operator == "=~":
            return re.search(str(right).strip("/"), left) is not None
        return bool(_ORDER[operator](left, right))
    except TypeError:
        return False


_ORDER: Final[dict[str, Callable[[Any, Any], Any]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
