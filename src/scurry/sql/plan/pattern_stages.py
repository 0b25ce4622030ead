"""PATTERN as a list of stages, each a variable with its quantifier; refuses patterns as Flink does."""

from __future__ import annotations

from collections.abc import Iterator

from scurry._dataclasses import dataclass
from scurry.errors import ValidationError
from scurry.sql.plan.matching import (
    Match,
    MatchPattern,
    PatternOperation,
    PatternQuantifier,
    PatternVariable,
    RefusedCall,
)
from scurry.sql.plan.rewriting import walk_expression
from scurry.sql.types import DayTimeIntervalType

_REFUSED_OPERATORS = {
    "|": "branching patterns",
    "PATTERN_PERMUTE": "PERMUTE patterns",
    "PATTERN_EXCLUDE": "'{-' '-}' patterns",
}


@dataclass(frozen=True)
class Stage:
    """A variable of a pattern.

    Attributes:
        low: How many rows it takes at least.
        high: How many at most; None if there is no limit.
        greedy: Whether it takes as many as it can.
    """

    variable: str
    low: int = 1
    high: int | None = 1
    greedy: bool = False

    @property
    def is_optional(self) -> bool:
        """Return whether a match may have no row of the variable."""
        return self.low == 0


def pattern_stages(match: Match) -> list[Stage]:
    """Return the stages of a pattern, in its order.

    Raises:
        ValidationError: Flink's planner refuses the pattern or a condition of its variables.
    """
    stages: list[Stage] = []
    for stage in _stages(match.pattern, match, set()):
        # Java's builder of patterns looks at the stage before unless both bounds are written.
        if stages and stages[-1].greedy and stage.low == 0 and stage.high in (1, None):
            raise ValidationError("Optional pattern cannot be preceded by greedy pattern")
        stages.append(stage)
    if match.within is not None and not isinstance(match.within.type, DayTimeIntervalType):
        raise ValidationError(
            "Only constant intervals with millisecond resolution are supported as time constraints of patterns."
        )
    if match.after.variable is not None and match.after.variable not in {each.variable for each in stages}:
        raise ValidationError(
            "The pattern name specified in AfterMatchSkipStrategy can not be found in the given Pattern"
        )
    if all(each.is_optional for each in stages):
        raise ValidationError(
            "Patterns that can produce empty matches are not supported. There must be at least one non-optional state."
        )
    if stages[-1].greedy:
        raise ValidationError(
            "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with either "
            "a simple variable or reluctant quantifier."
        )
    return stages


def pattern_text(pattern: MatchPattern) -> str:
    """Return a pattern as Calcite writes it."""
    if isinstance(pattern, PatternVariable):
        return f"_UTF-16LE'{pattern.name}'"
    if isinstance(pattern, PatternQuantifier):
        reluctant = str(pattern.reluctant).lower()
        return f"PATTERN_QUANTIFIER({pattern_text(pattern.operand)}, {pattern.low}, {pattern.high}, {reluctant})"
    assert isinstance(pattern, PatternOperation)
    return f"{pattern.operator}({', '.join(map(pattern_text, pattern.operands))})"


def _stages(pattern: MatchPattern, match: Match, known: set[str]) -> Iterator[Stage]:
    if isinstance(pattern, PatternVariable):
        yield _variable(pattern, match, known)
    elif isinstance(pattern, PatternQuantifier):
        if not isinstance(pattern.operand, PatternVariable):
            raise ValidationError(
                f"Expression not supported: {pattern_text(pattern.operand)} Group patterns are not supported yet."
            )
        yield _repeated(_variable(pattern.operand, match, known), pattern)
    else:
        assert isinstance(pattern, PatternOperation)
        refused = _REFUSED_OPERATORS.get(pattern.operator)
        if refused is not None:
            raise ValidationError(
                f"Expression not supported: {pattern_text(pattern)}. Currently, CEP doesn't support {refused}."
            )
        for each in pattern.operands:
            yield from _stages(each, match, known)


def _variable(pattern: PatternVariable, match: Match, known: set[str]) -> Stage:
    if pattern.name in known:
        raise ValidationError("Pattern variables must be unique. That might change in the future.")
    known.add(pattern.name)
    for each in match.definitions:
        if each.variable == pattern.name:
            for part in walk_expression(each.condition):
                if isinstance(part, RefusedCall):
                    raise ValidationError(part.message)
    return Stage(pattern.name)


def _repeated(stage: Stage, quantifier: PatternQuantifier) -> Stage:
    low, high = quantifier.low, quantifier.high
    if low < 0:
        raise ValidationError("The from should be a positive number greater than 0.")
    if 0 <= high < max(low, 1):
        raise ValidationError(f"The to should be a number greater than or equal to from: {max(low, 1)}.")
    is_optional = (low, high) == (0, 1)
    if quantifier.reluctant and is_optional:
        raise ValidationError("Reluctant optional variables are not supported yet.")
    greedy = not quantifier.reluctant and not is_optional and low != high
    return Stage(stage.variable, low, None if high < 0 else high, greedy)
