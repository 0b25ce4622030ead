"""Conversion of the JSON form to a pattern, through the methods of `Pattern` and their checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from scurry.cep.patterns.json import LINKS, VERSION
from scurry.cep.patterns.json.writing import SKIP_STRATEGIES
from scurry.cep.patterns.quantifier import ConsumingStrategy, QuantifierProperty
from scurry.cep.patterns.skip_strategies import (
    AfterMatchSkipStrategy,
    SkipToFirstStrategy,
    SkipToLastStrategy,
    WithinType,
)
from scurry.errors import MalformedPatternError

if TYPE_CHECKING:
    from scurry.cep.patterns.pattern import Pattern

_CHOICE = TypeVar("_CHOICE")

#: Java's TimeUnit -> ms
_UNITS = {"MILLISECONDS": 1, "SECONDS": 1_000, "MINUTES": 60_000, "HOURS": 3_600_000, "DAYS": 86_400_000}
_STRATEGIES = {each.name: each for each in ConsumingStrategy}
_PROPERTIES = {each.name: each for each in QuantifierProperty}
_WITHIN = {each.value: each for each in WithinType}
_CONTIGUITY = {
    each.name: each
    for each in (ConsumingStrategy.STRICT, ConsumingStrategy.SKIP_TILL_NEXT, ConsumingStrategy.SKIP_TILL_ANY)
}


def pattern_of(text: str, patterns: type[Pattern]) -> Pattern:
    """Return the pattern of its JSON form.

    Args:
        text: The JSON.
        patterns: The class `Pattern`, which is above this module.

    Raises:
        MalformedPatternError: It is no JSON of a pattern, or Flink refuses the pattern.
    """
    try:
        return _read(text, patterns)
    except RecursionError:
        raise MalformedPatternError("the JSON of a pattern cannot be read: it is nested too deeply") from None


def _read(text: str, patterns: type[Pattern]) -> Pattern:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise MalformedPatternError(f"the JSON of a pattern cannot be read: {error}") from None
    graph = _Part(given, "pattern")
    version = graph.integer("version", VERSION)
    if version != VERSION:
        raise graph.wrong("version", f"{VERSION}", version)
    _check_plain(graph)
    pattern = _pattern(graph, patterns)
    _set_windows(pattern, graph)
    graph.check_known()
    return pattern


class _Part:
    """An object of the JSON, and where it is; knows which of its members were asked for."""

    def __init__(self, given: Any, path: str) -> None:
        if not isinstance(given, dict):
            raise MalformedPatternError(f"{path} is {_shown(given)}; expected an object")
        self._given = given
        self._path = path
        self._asked: set[str] = set()

    def wrong(self, name: str, expected: str, found: Any) -> MalformedPatternError:
        """Return the error about a member."""
        return MalformedPatternError(f"{self._path}.{name} is {_shown(found)}; expected {expected}")

    def value(self, name: str) -> Any:
        """Return a member, or None."""
        self._asked.add(name)
        return self._given.get(name)

    def text(self, name: str) -> str:
        """Return a member that is a text."""
        found = self.value(name)
        if not isinstance(found, str) or not found:
            raise self.wrong(name, "a text", found)
        return found

    def integer(self, name: str, default: int | None = None) -> int:
        """Return a member that is an integer."""
        found = self.value(name)
        if found is None and default is not None:
            return default
        if type(found) is not int:
            raise self.wrong(name, "an integer", found)
        return found

    def choice(self, name: str, choices: Mapping[str, _CHOICE], default: str | None = None) -> _CHOICE:
        """Return the value named by a member."""
        found = self.value(name)
        if found is None:
            found = default
        if not isinstance(found, str) or found not in choices:
            raise self.wrong(name, f"one of {', '.join(choices)}", found)
        return choices[found]

    def part(self, name: str) -> _Part | None:
        """Return a member that is an object, or None."""
        found = self.value(name)
        return None if found is None else _Part(found, f"{self._path}.{name}")

    def parts(self, name: str) -> list[_Part]:
        """Return the objects in a list."""
        found = self.value(name)
        if found is None:
            found = []
        if not isinstance(found, list):
            raise self.wrong(name, "a list", found)
        return [_Part(each, f"{self._path}.{name}[{place}]") for place, each in enumerate(found)]

    def check_known(self) -> None:
        """Refuse unknown members, which would have no effect."""
        for name in self._given:
            if name not in self._asked:
                raise MalformedPatternError(
                    f"{self._path} has a member {name!r}; known are {', '.join(sorted(self._asked))}"
                )


def _shown(value: Any) -> str:
    return "missing" if value is None else json.dumps(value)


def _pattern(graph: _Part, patterns: type[Pattern]) -> Pattern:
    """Return the pattern of the nodes and edges of a graph."""
    skip = _skip_strategy(graph)
    pattern: Pattern | None = None
    for node, link in _ordered(graph):
        if node.choice("type", {"ATOMIC": False, "COMPOSITE": True}):
            stage: Any = _pattern(node, patterns)
        else:
            stage = node.text("name")
        if pattern is None:
            pattern = patterns.begin(stage, skip)
        else:
            assert link is not None
            pattern = getattr(pattern, LINKS[link])(stage)
        _set_quantifier(pattern, node)
        condition = _condition(node, "condition")
        if condition is not None:
            pattern.where(condition)
        _set_windows(pattern, node)
        node.check_known()
    assert pattern is not None, "a graph has nodes"
    return pattern


def _ordered(graph: _Part) -> list[tuple[_Part, ConsumingStrategy | None]]:
    """Return the nodes of a graph in the order of its edges, with the edges that lead to them."""
    nodes = {node.text("name"): node for node in graph.parts("nodes")}
    count = len(graph.value("nodes") or ())
    if len(nodes) < max(count, 1):
        raise graph.wrong("nodes", "nodes with different names", graph.value("nodes"))
    following: dict[str, tuple[str, ConsumingStrategy]] = {}
    targets = set()
    for edge in graph.parts("edges"):
        source, target = edge.choice("source", {name: name for name in nodes}), edge.text("target")
        if target not in nodes or target in targets or source in following:
            raise edge.wrong("target", "a node that no other edge leads to, and one edge from each node", target)
        following[source] = (target, edge.choice("type", _STRATEGIES))
        targets.add(target)
        edge.check_known()
    at = next((name for name in nodes if name not in targets), None)
    ordered: list[tuple[_Part, ConsumingStrategy | None]] = []
    link: ConsumingStrategy | None = None
    while at is not None:
        ordered.append((nodes[at], link))
        at, link = following.get(at, (None, None))
    if len(ordered) < count:
        raise graph.wrong("edges", "a path through all nodes", graph.value("edges"))
    return ordered


def _set_quantifier(pattern: Pattern, node: _Part) -> None:
    quantifier = node.part("quantifier")
    if quantifier is None:
        return
    found = quantifier.value("properties")
    if found is None:
        found = ["SINGLE"]
    if not isinstance(found, list) or not all(isinstance(each, str) and each in _PROPERTIES for each in found):
        raise quantifier.wrong("properties", f"a list of {', '.join(_PROPERTIES)}", found)
    properties = {_PROPERTIES[each] for each in found}
    times, until = quantifier.part("times"), _condition(quantifier, "untilCondition")
    if QuantifierProperty.LOOPING in properties:
        least = 1 if times is None else times.integer("from")
        pattern.times_or_more(least, None if times is None else _time(times, "windowTime"))
    elif QuantifierProperty.TIMES in properties:
        if times is None:
            raise quantifier.wrong("times", "an object", None)
        least = times.integer("from")
        if least == 1 and QuantifierProperty.OPTIONAL in properties:
            least = 0  # so it may also follow a greedy stage
            properties.discard(QuantifierProperty.OPTIONAL)
        pattern.times(least, times.integer("to"), _time(times, "windowTime"))
    inner = quantifier.choice("consumingStrategy", _CONTIGUITY, "SKIP_TILL_NEXT")
    if inner is ConsumingStrategy.STRICT:
        pattern.consecutive()
    elif inner is ConsumingStrategy.SKIP_TILL_ANY:
        pattern.allow_combinations()
    if QuantifierProperty.OPTIONAL in properties:
        pattern.optional()
    if QuantifierProperty.GREEDY in properties:
        pattern.greedy()
    if until is not None:
        pattern.until(until)
    if times is not None:
        times.value("to")  # of a loop it says nothing
        times.check_known()
    quantifier.check_known()


def _check_plain(graph: _Part) -> None:
    """Look at the members that say nothing of a whole pattern; FLIP-200 writes them."""
    for name in ("name", "quantifier", "condition", "type"):
        graph.value(name)


def _condition(part: _Part, name: str) -> str | None:
    """Return the expression of a condition, or None."""
    condition = part.part(name)
    if condition is None:
        return None
    condition.choice("type", {"SQL": None}, "SQL")
    text = condition.text("expression")
    condition.check_known()
    return text


def _set_windows(pattern: Pattern, part: _Part) -> None:
    given = part.value("window")
    windows = part.parts("window") if isinstance(given, list) else [part.part("window")]
    for window in windows:
        if window is not None:
            size = _time(window, "time")
            if size is None:
                raise window.wrong("time", "an object", None)
            pattern.within(size, window.choice("type", _WITHIN, "FIRST_AND_LAST"))
            window.check_known()


def _time(part: _Part, name: str) -> int | None:
    """Return an amount of time in ms, or None."""
    time = part.part(name)
    if time is None:
        return None
    millis = time.integer("size") * time.choice("unit", _UNITS)
    time.check_known()
    return millis


def _skip_strategy(graph: _Part) -> AfterMatchSkipStrategy | None:
    given = graph.part("afterMatchStrategy")
    if given is None:
        return None
    kind: Any = given.choice("type", SKIP_STRATEGIES)
    name, throws = given.value("patternName"), given.value("throwExceptionOnMiss")
    given.check_known()
    if kind not in (SkipToFirstStrategy, SkipToLastStrategy):
        return kind()  # type: ignore[no-any-return]
    if not isinstance(name, str):
        raise given.wrong("patternName", "the name of a stage", name)
    return kind(name, throws=bool(throws))  # type: ignore[no-any-return]
