"""Run cases of the CEP corpus: `python -m tests.support.cep_cases CASES.jsonl GOT.jsonl`.

The corpus and its format are those of `shared/conformance/cep/README.md`; its `check.py` compares.
"""

from __future__ import annotations

import json
import operator
import sys
from typing import Any

from scurry.cep import (
    CEP,
    AfterMatchSkipStrategy,
    EventComparator,
    Pattern,
    PatternProcessFunction,
    TimedOutPartialMatchHandler,
    WithinType,
)
from scurry.cep.patterns.automaton import ConditionFailedError, compile_nfa
from scurry.datastream import DataStream, OutputTag
from scurry.errors import ArgumentError, MalformedPatternError, OperatorError, PatternMatchError, UnsupportedError
from scurry.testing import TestHarness

MAX_TIME = (1 << 63) - 1

_JAVA: dict[type[BaseException], str] = {
    MalformedPatternError: "MalformedPatternException",
    UnsupportedError: "UnsupportedOperationException",
    ArgumentError: "IllegalArgumentException",
    PatternMatchError: "FlinkRuntimeException",
    RuntimeError: "IllegalStateException",
}
_LINKS = {
    "next": "next", "followedBy": "followed_by", "followedByAny": "followed_by_any", "notNext": "not_next",
    "notFollowedBy": "not_followed_by",
}  # fmt: skip
_METHODS = {
    "optional": "optional", "oneOrMore": "one_or_more", "times": "times", "timesOrMore": "times_or_more",
    "greedy": "greedy", "consecutive": "consecutive", "allowCombinations": "allow_combinations",
}  # fmt: skip
_CONDITIONS = {"where": "where", "or": "or_", "until": "until"}
_COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_ITERATIVE = {"sum", "count", "avg", "first", "last", "empty", "ts"}


# ---------------------------------------------------------------- conditions


class Condition:
    """A condition of the corpus, for events that are dicts."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def __call__(self, event: dict[str, Any], ctx: Any) -> bool:
        return holds(self.tree, event, ctx)


class ConditionOnEvent(Condition):
    """A condition that does not look at the partial match."""

    def __call__(self, event: dict[str, Any]) -> bool:  # type: ignore[override]
        return holds(self.tree, event, None)


def condition(tree: Any) -> Any:
    return Condition(tree) if mentions(tree) else ConditionOnEvent(tree)


def mentions(tree: Any) -> bool:
    """Return whether a condition looks at the partial match or the time."""
    return isinstance(tree, list) and (tree[0] in _ITERATIVE or any(map(mentions, tree[1:])))


def holds(tree: Any, event: dict[str, Any], ctx: Any) -> bool:
    kind, *rest = tree
    match kind:
        case "true" | "false":
            return bool(kind == "true")
        case "name":
            return bool(event["name"] == rest[0])
        case "not":
            return not holds(rest[0], event, ctx)
        case "and":
            return all(holds(each, event, ctx) for each in rest)
        case "or":
            return any(holds(each, event, ctx) for each in rest)
        case "empty":
            return not ctx.get_events_for_pattern(rest[0])
        case "raise":
            raise RuntimeError(rest[0])
        case "cmp":
            left, right = number(rest[1], event, ctx), number(rest[2], event, ctx)
            return left is not None and right is not None and bool(_COMPARISONS[rest[0]](left, right))
    raise ValueError(tree)


def number(tree: Any, event: dict[str, Any], ctx: Any) -> float | None:
    if not isinstance(tree, list):
        return float(tree)
    kind, *rest = tree
    if kind == "price":
        return float(event.get("price", 0))
    if kind == "ts":
        return float(ctx.timestamp())
    if kind in _ARITHMETIC:
        left, right = number(rest[0], event, ctx), number(rest[1], event, ctx)
        return None if left is None or right is None else _ARITHMETIC[kind](left, right)
    prices = [float(each.get("price", 0)) for each in ctx.get_events_for_pattern(rest[0])]
    match kind:
        case "sum":
            return sum(prices)
        case "count":
            return float(len(prices))
        case "avg":
            return sum(prices) / len(prices) if prices else 0.0
        case "first":
            return prices[0] if prices else None
        case "last":
            return prices[-1] if prices else None
    raise ValueError(tree)


# ---------------------------------------------------------------- patterns


def skip_strategy(given: Any) -> AfterMatchSkipStrategy | None:
    if given is None:
        return None
    match given["type"]:
        case "noSkip":
            return AfterMatchSkipStrategy.no_skip()
        case "skipToNext":
            return AfterMatchSkipStrategy.skip_to_next()
        case "skipPastLastEvent":
            return AfterMatchSkipStrategy.skip_past_last_event()
        case "skipToFirst":
            first = AfterMatchSkipStrategy.skip_to_first(given["name"])
            return first.throw_exception_on_miss() if given.get("throw") else first
    last = AfterMatchSkipStrategy.skip_to_last(given["name"])
    return last.throw_exception_on_miss() if given.get("throw") else last


def pattern_of(stages: list[Any], skip: AfterMatchSkipStrategy | None) -> Pattern:
    pattern: Any = None
    for stage in stages:
        name = stage.get("name")
        if "group" in stage:
            name = pattern_of(stage["group"], skip_strategy(stage.get("groupSkip")))
        if stage["link"] == "begin":
            pattern = Pattern.begin(name) if skip is None else Pattern.begin(name, skip)
        else:
            pattern = getattr(pattern, _LINKS[stage["link"]])(name)
        for kind, *arguments in stage.get("ops", ()):
            pattern = apply(pattern, kind, arguments)
    return pattern  # type: ignore[no-any-return]


def apply(pattern: Pattern, kind: str, arguments: list[Any]) -> Pattern:
    if kind in _CONDITIONS:
        return getattr(pattern, _CONDITIONS[kind])(condition(arguments[0]))  # type: ignore[no-any-return]
    if kind == "within":
        return pattern.within(arguments[0], WithinType[arguments[1]] if arguments[1:] else WithinType.FIRST_AND_LAST)
    keywords = {}
    if arguments and isinstance(arguments[-1], dict):
        keywords = {"window_time": arguments.pop()["within"]}
    return getattr(pattern, _METHODS[kind])(*arguments, **keywords)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- runs


def ids(match: dict[str, list[dict[str, Any]]]) -> dict[str, list[str]]:
    return {stage: [event["id"] for event in events] for stage, events in match.items()}


def error_of(phase: str, error: BaseException) -> dict[str, str]:
    return {"phase": phase, "class": _JAVA[type(error)], "message": str(error)}


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Return what scurry answers to a case, as `expected` is."""
    try:
        given = case["pattern"]
        pattern = pattern_of(given["stages"], skip_strategy(given.get("skip")))
    except tuple(_JAVA) as error:
        return {"error": error_of("build", error)}
    try:
        compile_nfa(pattern)
    except tuple(_JAVA) as error:
        return {"error": error_of("compile", error)}
    if case.get("compileOnly"):
        return {"ok": True}
    return run_job(case, pattern) if case.get("mode") == "job" else run_nfa(case, pattern)


def run_nfa(case: dict[str, Any], pattern: Pattern) -> dict[str, Any]:
    """Drive the automaton; its state is stored and restored before every event."""
    nfa = compile_nfa(pattern, case.get("timeouts", True))
    state = nfa.initial_state()
    out: list[Any] = []

    def advance(time: int, at: str) -> None:
        matches, timed_out = nfa.advance_time(state, time)
        out.extend({"match": ids(match), "ts": time, "at": at} for match in matches)
        out.extend({"timeout": ids(match), "ts": time, "at": at} for match, time in timed_out)

    try:
        for event in case["events"]:
            state = nfa.restored(nfa.stored(state))
            if "wm" in event:
                advance(event["wm"], f"wm:{event['wm']}")
                continue
            advance(event["ts"], event["id"])
            matches = nfa.process(state, event, event["ts"])
            out += [{"match": ids(match), "ts": event["ts"], "at": event["id"]} for match in matches]
        advance(MAX_TIME, "end")
    except ConditionFailedError as error:
        assert error.__cause__ is not None
        return {"out": out, "error": error_of("run", error.__cause__)}
    except PatternMatchError as error:
        return {"out": out, "error": error_of("run", error)}
    return {"out": out}


LATE = OutputTag("late")
#: matches and partial matches that time out, in one order
RECORDED = OutputTag("recorded")


class Recorder(PatternProcessFunction[Any, Any]):
    """Emit matches as the corpus has them."""

    def process_match(self, match: dict[str, Any], ctx: Any) -> Any:
        yield RECORDED, {"match": ids(match), "ts": ctx.timestamp(), "key": key_of(match)}


class TimeoutRecorder(Recorder, TimedOutPartialMatchHandler[Any]):
    """Emit partial matches that time out, too."""

    def process_timed_out_match(self, match: dict[str, Any], ctx: Any) -> Any:
        ctx.output(RECORDED, {"timeout": ids(match), "ts": ctx.timestamp(), "key": key_of(match)})


class ByPrice(EventComparator[Any]):
    """Order events of equal times by price."""

    def compare(self, o1: Any, o2: Any) -> int:
        return int(o1["price"] > o2["price"]) - int(o1["price"] < o2["price"])


def key_of(match: dict[str, list[Any]]) -> Any:
    return next(iter(match.values()))[0].get("key", "k")


def matches_of(case: dict[str, Any], pattern: Pattern, stream: DataStream) -> DataStream:
    """Apply the pattern of a job case to its events."""
    if not case.get("global"):
        stream = stream.key_by(event_key)
    found = CEP.pattern(stream, pattern, ByPrice() if case.get("comparator") == "price" else None)
    if case.get("time") == "processing":
        found = found.in_processing_time()
    elif case.get("lateOutput", True):
        found = found.side_output_late_data(LATE)
    return found.process(TimeoutRecorder() if case.get("timeouts", True) else Recorder())


def event_key(event: dict[str, Any]) -> str:
    return str(event.get("key", "k"))


def run_job(case: dict[str, Any], pattern: Pattern) -> dict[str, Any]:
    """Run a job case; every event and watermark is a micro-batch, between which state is stored and restored."""
    out: list[Any] = []
    with TestHarness.of(lambda stream: matches_of(case, pattern, stream)) as harness:
        try:
            watermark = -MAX_TIME
            for event in case["events"]:
                if "wm" not in event:
                    harness.process(event, event["ts"])
                elif event["wm"] > watermark:
                    watermark = event["wm"]
                    harness.advance_watermark(watermark)
                out += emitted(case, harness)
            harness.end_input()
        except OperatorError as error:
            java = {kind.__name__: name for kind, name in _JAVA.items()}[error.failure.error]
            problem = {"phase": "run", "class": java, "message": error.failure.message}
            return {"out": out + emitted(case, harness), "error": problem}
        return {"out": out + emitted(case, harness)}


def emitted(case: dict[str, Any], harness: TestHarness) -> list[Any]:
    """Return what a step has emitted."""
    found = list(harness.side_output(RECORDED))
    if case.get("time") == "processing":
        for each in found:
            del each["ts"]
    late = [{"late": event["id"]} for event in harness.side_output(LATE)]
    harness.clear_outputs()
    return late + found


def main(cases: str, got: str) -> None:
    with open(cases) as lines, open(got, "w") as out:
        for line in lines:
            case = json.loads(line)
            out.write(json.dumps({"id": case["id"], **run(case)}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
