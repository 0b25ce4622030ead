"""Patterns have a JSON form: a graph of stages, as FLIP-200 has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scurry.cep import AfterMatchSkipStrategy, Pattern, WithinType
from scurry.errors import MalformedPatternError, UnsupportedError


def patterns() -> dict[str, Pattern]:
    skip = AfterMatchSkipStrategy.skip_to_last("b").throw_exception_on_miss()
    group = Pattern.begin("x").where("n > 1").not_followed_by("y").where("n > 2").followed_by("z").within(5)
    return {
        "conditions": Pattern.begin("a").where("n > 1").where("n < 9").or_("name = 'x'").next("b"),
        "contiguity": Pattern.begin("a")
        .not_next("b")
        .followed_by("c")
        .not_followed_by("d")
        .followed_by_any("e")
        .next("f"),
        "loops": Pattern.begin("a")
        .times_or_more(2, 7)
        .consecutive()
        .until("n = 0")
        .followed_by("b")
        .times(2, 4)
        .greedy(),
        "optional": Pattern.begin("a").followed_by("b").times(0, 3).allow_combinations().next("c").optional(),
        "greedy, then none": Pattern.begin("a").one_or_more().greedy().next("b").times(0, 3).next("c"),
        "windows": Pattern.begin("a").within(9).next("b").within(8).within(3, WithinType.PREVIOUS_AND_CURRENT),
        "skips": Pattern.begin("a", skip).followed_by("b"),
        "groups": Pattern.begin(group).times(2).followed_by(Pattern.begin(group)).optional().within(50),
        "group first": Pattern.begin(Pattern.begin("a").next("b")).one_or_more().until("n > 3").next("c"),
    }


@pytest.mark.parametrize("name", patterns())
def test_what_is_read_is_what_was_written(name: str) -> None:
    written = patterns()[name].to_json()
    read = Pattern.from_json(written)
    assert read.to_json() == written
    assert described(read) == described(patterns()[name])


def described(pattern: Pattern) -> Any:
    """Return all that the compiler reads of a pattern."""
    stages = []
    stage: Pattern | None = pattern
    while stage is not None:
        stages.append((
            stage.name, str(stage.quantifier), stage.times_bounds, [stage.window_size(each) for each in WithinType],
            stage.after_match_skip_strategy, None if stage.group is None else described(stage.group),
            repr(stage.until_condition and stage.until_condition.given),
        ))  # fmt: skip
        stage = stage.previous
    return stages


def test_the_form_is_that_of_flip_200() -> None:
    skip = AfterMatchSkipStrategy.skip_past_last_event()
    pattern = Pattern.begin("start", skip).where("action = 0").times(3).followed_by("end").where("action <> 1")
    assert json.loads(pattern.within(600_000).to_json()) == {
        "name": "end",
        "type": "COMPOSITE",
        "version": 1,
        "quantifier": {
            "consumingStrategy": "SKIP_TILL_NEXT", "properties": ["SINGLE"], "times": None, "untilCondition": None,
        },
        "condition": None,
        "nodes": [
            {
                "name": "start",
                "type": "ATOMIC",
                "quantifier": {
                    "consumingStrategy": "SKIP_TILL_NEXT",
                    "properties": ["TIMES"],
                    "times": {"from": 3, "to": 3, "windowTime": None},
                    "untilCondition": None,
                },
                "condition": {"type": "SQL", "expression": "action = 0"},
                "window": None,
            },
            {
                "name": "end",
                "type": "ATOMIC",
                "quantifier": {
                    "consumingStrategy": "SKIP_TILL_NEXT", "properties": ["SINGLE"], "times": None,
                    "untilCondition": None,
                },
                "condition": {"type": "SQL", "expression": "action <> 1"},
                "window": None,
            },
        ],
        "edges": [{"source": "start", "target": "end", "type": "SKIP_TILL_NEXT"}],
        "window": {"type": "FIRST_AND_LAST", "time": {"unit": "MILLISECONDS", "size": 600_000}},
        "afterMatchStrategy": {"type": "SKIP_PAST_LAST_EVENT", "patternName": None},
    }  # fmt: skip


def test_what_a_person_leaves_out_has_defaults() -> None:
    pattern = Pattern.from_json(
        """{
        "nodes": [
            {"name": "b", "type": "ATOMIC", "quantifier": {"properties": ["LOOPING"], "times": {"from": 2}}},
            {"name": "a", "type": "ATOMIC", "condition": {"expression": "n > 1"}}
        ],
        "edges": [{"source": "a", "target": "b", "type": "STRICT"}],
        "window": {"time": {"unit": "MINUTES", "size": 2}}
        }"""
    )
    assert pattern.to_json() == Pattern.begin("a").where("n > 1").next("b").times_or_more(2).within(120_000).to_json()


def test_a_python_function_has_no_json() -> None:
    with pytest.raises(UnsupportedError, match=r'stage .a. is a Python object.*where\("price > 10"\)'):
        Pattern.begin("a").where(lambda event: True).to_json()


NODE = {"name": "a", "type": "ATOMIC"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("nonsense", "the JSON of a pattern cannot be read: Expecting value"),
        ("[" * 100_000, "the JSON of a pattern cannot be read: it is nested too deeply"),
        ("[]", r"pattern is \[\]; expected an object"),
        ({}, r"pattern\.nodes is missing; expected nodes"),
        ({"nodes": [{"type": "ATOMIC"}]}, r"pattern\.nodes\[0\]\.name is missing; expected a text"),
        ({"nodes": [{"name": "a"}]}, r"pattern\.nodes\[0\]\.type is missing; expected one of ATOMIC, COMPOSITE"),
        ({"nodes": [NODE], "edges": [{"source": "x", "target": "a"}]}, r"edges\[0\]\.source is .x.; expected one of"),
        ({"nodes": [NODE], "edges": [{"source": "a", "target": "a", "type": "STRICT"}]}, "a path through all nodes"),
        ({"nodes": [NODE, {**NODE, "name": "b"}]}, r"pattern\.edges is missing; expected a path through all nodes"),
        ({"nodes": [NODE], "version": 2}, r"pattern\.version is 2; expected 1"),
        ({"nodes": [NODE], "afterMatchStrategie": None}, "has a member 'afterMatchStrategie'; known are afterMatch"),
        ({"nodes": [{**NODE, "quantifier": {"properties": ["SOME"]}}]}, r"properties is \[\"SOME\"\]; expected a list"),
        ({"nodes": [{**NODE, "quantifier": {"properties": ["TIMES"]}}]}, r"quantifier\.times is missing"),
        ({"nodes": [{**NODE, "condition": {"type": "AVIATOR", "expression": "1"}}]}, "type is .*; expected one of SQL"),
        ({"nodes": [NODE], "window": {"time": {"unit": "WEEKS", "size": 1}}}, "unit is .WEEKS.; expected one of"),
        ({"nodes": [NODE], "afterMatchStrategy": {"type": "SKIP_TO_LAST"}}, "patternName is missing; expected"),
        ({"nodes": [{**NODE, "quantifier": {"properties": ["GREEDY"]}}]}, "Option not applicable to singleton"),
    ],
)  # fmt: skip
def test_what_is_no_pattern_is_refused_with_the_place(given: Any, reason: str) -> None:
    with pytest.raises(MalformedPatternError, match=reason):
        Pattern.from_json(given if isinstance(given, str) else json.dumps(given))
