"""What users get wrong in patterns: refused where it is written, with Flink's reason and the line of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scurry.cep import CEP, AfterMatchSkipStrategy, Pattern
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ScurryError


def applied(pattern: Pattern) -> Any:
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    return CEP.pattern(stream, pattern)


def begin(*skip: Any) -> Any:
    return Pattern.begin("a", *skip)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: begin().one_or_more().times(2), "Already applied quantifier to this Pattern. Current quantifier is: Q"),
    (lambda: begin().until(bool), "The until condition is only applicable to looping states."),
    (lambda: begin().times(3, 2), "The to should be a number greater than or equal to from: 3."),
    (lambda: begin().times(0), "You should give a positive number greater than 0."),
    (lambda: begin().times_or_more(0), "The from should be a positive number greater than 0."),
    (lambda: begin().greedy(), "Option not applicable to singleton quantifier"),
    (lambda: begin().consecutive(), "Consecutive not applicable to Quantifier{properties=[SINGLE]"),
    (lambda: begin().not_next("b").optional(), "NOT pattern cannot be optional"),
    (lambda: begin().one_or_more().greedy().next("b").optional(), "Optional pattern cannot be preceded by greedy"),
    (lambda: begin().optional().not_followed_by("b"), "Specifying a pattern with an optional path to NOT condition is"),
    (lambda: Pattern.begin(begin()).where(len), "GroupPattern does not support where clause."),
    (lambda: begin().where(lambda: True), "where of stage 'a' takes a function of the event, or of the event and"),
    (lambda: begin().where(lambda a, b, c: True), "where of stage 'a' takes a function of the event, or of the event"),
    (lambda: begin().within(5, "PREVIOUS_AND_CURRENT"), "within of stage 'a' takes a WithinType, not 'PREVIOUS_AND"),
    (lambda: Pattern.begin("a", 1), "begin takes an AfterMatchSkipStrategy, not 1"),  # type: ignore[arg-type]
    (lambda: begin().next(2), "next takes the name of a stage, or a pattern as a group, not 2"),
]  # fmt: skip

#: Mistakes that show only when all of the pattern is known.
MISTAKES_OF_ALL: list[tuple[Callable[[], Pattern], str]] = [
    (lambda: begin().next("b").next("a"), "Duplicate pattern name: a. Names must be unique."),
    (
        lambda: begin().not_followed_by("b"),
        "NotFollowedBy is not supported without windowTime as a last part of a Patt",
    ),
    (lambda: begin(AfterMatchSkipStrategy.skip_to_last("z")), "The pattern name specified in AfterMatchSkipStrategy c"),
    (lambda: begin().where("price > 1"), "a stream of type PickledByteArrayTypeInfo has no columns: declare the type"),
]


@pytest.mark.parametrize(("mistake", "reason"), MISTAKES)
def test_a_mistake_is_refused_at_its_line(mistake: Callable[[], Any], reason: str) -> None:
    with pytest.raises(ScurryError) as refused:
        mistake()
    assert str(refused.value).startswith(reason)
    assert refused.value.report().splitlines()[-1].startswith(f"  at {__file__}:{mistake.__code__.co_firstlineno}: ")


@pytest.mark.parametrize(("mistake", "reason"), MISTAKES_OF_ALL)
def test_a_mistake_in_all_of_a_pattern_is_refused_where_it_is_applied(
    mistake: Callable[[], Pattern], reason: str
) -> None:
    with pytest.raises(ScurryError) as refused:
        applied(mistake())
    assert str(refused.value).startswith(reason)
    assert (
        refused.value.report().splitlines()[-1].startswith(f"  at {__file__}:{applied.__code__.co_firstlineno + 2}: ")
    )


@pytest.mark.parametrize("method", ["print", "map", "sink_to"])
def test_a_method_of_streams_before_there_are_results_says_what_makes_them(method: str) -> None:
    with pytest.raises(AttributeError, match=r"select\(\.\.\.\), .* first makes a stream of the matches"):
        getattr(applied(begin().next("b")), method)
