"""Conversion of a pattern to its JSON form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scurry.cep.patterns.conditions import And, Expression, ExpressionCondition, Or, Test
from scurry.cep.patterns.json import VERSION
from scurry.cep.patterns.quantifier import Quantifier, QuantifierProperty
from scurry.cep.patterns.skip_strategies import (
    AfterMatchSkipStrategy,
    NoSkipStrategy,
    SkipPastLastStrategy,
    SkipToFirstStrategy,
    SkipToLastStrategy,
    SkipToNextStrategy,
    WithinType,
)
from scurry.errors import UnsupportedError

if TYPE_CHECKING:
    from scurry.cep.patterns.pattern import Pattern

SKIP_STRATEGIES: dict[str, type[AfterMatchSkipStrategy]] = {
    "NO_SKIP": NoSkipStrategy,
    "SKIP_TO_NEXT": SkipToNextStrategy,
    "SKIP_PAST_LAST_EVENT": SkipPastLastStrategy,
    "SKIP_TO_FIRST": SkipToFirstStrategy,
    "SKIP_TO_LAST": SkipToLastStrategy,
}


def json_of(pattern: Pattern) -> str:
    """Return a pattern as JSON.

    Raises:
        UnsupportedError: A condition is no expression.
    """
    graph = _graph(pattern, pattern.name, Quantifier.one(pattern.quantifier.consuming_strategy))
    return json.dumps({**graph, "window": _window(pattern), "version": VERSION})


def _graph(pattern: Pattern, name: str, quantifier: Quantifier) -> dict[str, Any]:
    """Return the stages of a pattern as a graph; the window of the last one is left to whoever has the graph."""
    stages = [pattern]
    while stages[-1].previous is not None:
        stages.append(stages[-1].previous)
    stages.reverse()
    names = [_name(stage, place) for place, stage in enumerate(stages)]
    nodes = [_node(stage, name) for stage, name in zip(stages, names, strict=True)]
    for node, stage in zip(nodes[:-1], stages, strict=False):
        node["window"] = _window(stage)
    edges = [
        {"source": source, "target": target, "type": stage.quantifier.consuming_strategy.name}
        for source, target, stage in zip(names, names[1:], stages[1:], strict=False)
    ]
    return {
        "name": name,
        "type": "COMPOSITE",
        "quantifier": _quantifier(quantifier),
        "condition": None,
        "nodes": nodes,
        "edges": edges,
        "window": None,
        "afterMatchStrategy": _skip_strategy(stages[0].after_match_skip_strategy),
    }


def _name(stage: Pattern, place: int) -> str:
    """Return the name of a stage; those of groups, which have none, only say where the edges lead."""
    return stage.name if stage.group is None else f"{stage.name}:{place}"


def _node(stage: Pattern, name: str) -> dict[str, Any]:
    if stage.group is not None:
        node = _graph(stage.group, name, stage.quantifier)
        node["nodes"][-1]["window"] = _window(stage.group)
    else:
        condition = None if stage._condition is None else _condition(_text(stage._condition, stage.name))
        quantifier = _quantifier(stage.quantifier)
        node = {"name": name, "type": "ATOMIC", "quantifier": quantifier, "condition": condition, "window": None}
    times, until = stage.times_bounds, stage.until_condition
    if times is not None:
        window = None if times.window is None else _time(times.window)
        node["quantifier"]["times"] = {"from": times.from_times, "to": times.to_times, "windowTime": window}
    if until is not None:
        node["quantifier"]["untilCondition"] = _condition(_text(until, stage.name))
    return node


def _quantifier(quantifier: Quantifier) -> dict[str, Any]:
    return {
        "consumingStrategy": quantifier.inner_consuming_strategy.name,
        "properties": [each.name for each in QuantifierProperty if quantifier.has_property(each)],
        "times": None,
        "untilCondition": None,
    }


def _window(stage: Pattern) -> Any:
    windows = [
        {"type": kind.value, "time": _time(size)}
        for kind in WithinType
        if (size := stage.window_size(kind)) is not None
    ]
    return windows if len(windows) > 1 else windows[0] if windows else None


def _time(millis: int) -> dict[str, Any]:
    return {"unit": "MILLISECONDS", "size": millis}


def _skip_strategy(strategy: AfterMatchSkipStrategy) -> dict[str, Any]:
    kind = next(name for name, each in SKIP_STRATEGIES.items() if type(strategy) is each)
    written = {"type": kind, "patternName": strategy.pattern_name}
    return {**written, "throwExceptionOnMiss": True} if getattr(strategy, "throws", False) else written


def _condition(text: str) -> dict[str, str]:
    return {"type": "SQL", "expression": text}


def _text(condition: Expression, stage: str) -> str:
    """Return a condition as an expression.

    Raises:
        UnsupportedError: It is none.
    """
    if isinstance(condition, And | Or):
        operator = "AND" if isinstance(condition, And) else "OR"
        return f"({_text(condition.left, stage)}) {operator} ({_text(condition.right, stage)})"
    if isinstance(condition, Test) and isinstance(condition.given, ExpressionCondition):
        return condition.given.text
    raise UnsupportedError(
        f"a condition of stage {stage!r} is a Python object, and JSON has room for expressions only: "
        'write it as text, as in where("price > 10")'
    )
