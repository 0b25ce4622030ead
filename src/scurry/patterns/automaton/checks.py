"""The checks of Flink's compiler on the names of stages."""

from __future__ import annotations

from scurry.errors import MalformedPatternError
from scurry.patterns.automaton.states import StateNames
from scurry.patterns.pattern import GroupPattern, Pattern

ENDING_STATE = "$endState$"


def check_names(pattern: Pattern) -> None:
    """Check the names of stages, and that there is the one to which the after-match strategy skips.

    Raises:
        MalformedPatternError: Two stages have the same name, or none has that of the strategy.
    """
    names = StateNames()
    names.check_unique(ENDING_STATE)
    for stage in _stages(pattern):
        _check_names_of(stage, names)
    wanted = pattern.after_match_skip_strategy.pattern_name
    if wanted is not None and all(stage.name != wanted for stage in _stages(pattern)):
        raise MalformedPatternError(
            "The pattern name specified in AfterMatchSkipStrategy can not be found in the given Pattern"
        )


def _check_names_of(stage: Pattern, names: StateNames) -> None:
    if isinstance(stage, GroupPattern):
        for each in _stages(stage.raw_pattern):
            _check_names_of(each, names)
    else:
        names.check_unique(stage.name)


def _stages(pattern: Pattern) -> list[Pattern]:
    """Return the stages of a pattern, the last one first."""
    stages = []
    stage: Pattern | None = pattern
    while stage is not None:
        stages.append(stage)
        stage = stage.previous
    return stages
