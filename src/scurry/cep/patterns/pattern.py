"""`Pattern`, the builder of patterns, with the names of Flink's Java API."""

from __future__ import annotations

from typing import Any, Self

from scurry.cep.patterns.conditions import TRUE, And, Condition, Expression, Or, Test, subtype_test, test_of
from scurry.cep.patterns.quantifier import ConsumingStrategy, Quantifier, QuantifierProperty, Times
from scurry.cep.patterns.skip_strategies import AfterMatchSkipStrategy, WithinType
from scurry.common._api import ApiObject
from scurry.common.time import TimeAmount, to_millis
from scurry.errors import ArgumentError, ArgumentTypeError, MalformedPatternError, UnsupportedError

__all__ = ["GroupPattern", "Pattern", "WithinType"]

_OPTIONAL_BEFORE_NOT = (
    "Specifying a pattern with an optional path to NOT condition is not supported yet. You can simulate such pattern "
    "with two independent patterns, one with and the other without the optional part."
)


class Pattern(ApiObject):
    """A sequence of stages; each is a condition, a quantifier and its contiguity with the stage before.

    The methods that add a stage return a new pattern; the others change the last stage, and return the pattern itself.

    Attributes:
        name: The name of the last stage.
        previous: The pattern of the stages before it, or None.
        quantifier: How often the last stage matches.
        times_bounds: The bounds of a repeated stage, or None.
        after_match_skip_strategy: Which matches are left out after a match.
    """

    def __init__(
        self,
        name: str,
        previous: Pattern | None,
        consuming_strategy: ConsumingStrategy,
        after_match_skip_strategy: AfterMatchSkipStrategy,
    ) -> None:
        """Make a stage; programs call `begin` and the methods that add stages."""
        self.name = name
        self.previous = previous
        self.quantifier = Quantifier.one(consuming_strategy)
        self.times_bounds: Times | None = None
        self.after_match_skip_strategy = after_match_skip_strategy
        self._condition: Expression | None = None
        self._until: Test | None = None
        self._windows: dict[WithinType, int] = {}

    # ---------------------------------------------------------------- stages

    @staticmethod
    def begin(start: str | Pattern, after_match_skip_strategy: AfterMatchSkipStrategy | None = None) -> Pattern:
        """Begin a pattern.

        Args:
            start: The name of the first stage, or a pattern to begin with as a group.
            after_match_skip_strategy: Which matches are left out after a match; none if it is not given.
        """
        skip = after_match_skip_strategy or AfterMatchSkipStrategy.no_skip()
        if not isinstance(skip, AfterMatchSkipStrategy):
            raise ArgumentTypeError(f"begin takes an AfterMatchSkipStrategy, not {skip!r}")
        return _stage(start, None, ConsumingStrategy.STRICT, skip, "begin")

    def next(self, stage: str | Pattern) -> Pattern:
        """Add a stage whose event directly follows the one before (strict contiguity).

        Args:
            stage: The name of the stage, or a pattern as a group.
        """
        return _stage(stage, self, ConsumingStrategy.STRICT, self.after_match_skip_strategy, "next")

    def followed_by(self, stage: str | Pattern) -> Pattern:
        """Add a stage; events that do not fulfil its condition may come before it (relaxed contiguity).

        Args:
            stage: The name of the stage, or a pattern as a group.
        """
        return _stage(stage, self, ConsumingStrategy.SKIP_TILL_NEXT, self.after_match_skip_strategy, "followed_by")

    def followed_by_any(self, stage: str | Pattern) -> Pattern:
        """Add a stage; any events may come before it (non-deterministic relaxed contiguity).

        Args:
            stage: The name of the stage, or a pattern as a group.
        """
        return _stage(stage, self, ConsumingStrategy.SKIP_TILL_ANY, self.after_match_skip_strategy, "followed_by_any")

    def not_next(self, name: str) -> Pattern:
        """Add a stage that the directly following event must not match.

        Args:
            name: The name of the stage.
        """
        return self._negation(name, ConsumingStrategy.NOT_NEXT)

    def not_followed_by(self, name: str) -> Pattern:
        """Add a stage that no event may match until the next stage does, or until the window ends.

        Args:
            name: The name of the stage.
        """
        return self._negation(name, ConsumingStrategy.NOT_FOLLOW)

    def _negation(self, name: str, strategy: ConsumingStrategy) -> Pattern:
        if self.quantifier.is_optional:
            raise UnsupportedError(_OPTIONAL_BEFORE_NOT)
        return Pattern(name, self, strategy, self.after_match_skip_strategy)

    # ---------------------------------------------------------------- conditions

    def where(self, condition: Condition) -> Self:
        """Add a condition; it must hold besides those already given.

        Args:
            condition: A function of the event, or of the event and a context with the events of the partial match; or
                the text of an expression over the fields of the event.
        """
        return self._tests(And, test_of(condition, self.name, "where"))

    def or_(self, condition: Condition) -> Self:
        """Add a condition that suffices, as do those already given.

        Args:
            condition: A function of the event, or of the event and a context with the events of the partial match; or
                the text of an expression over the fields of the event.
        """
        return self._tests(Or, test_of(condition, self.name, "or_"))

    def subtype(self, subtype_class: type) -> Self:
        """Add the condition that events are instances of a class.

        Args:
            subtype_class: The class.
        """
        return self._tests(And, subtype_test(subtype_class, self.name))

    def _tests(self, combine: type[And | Or], test: Test) -> Self:
        self._condition = test if self._condition is None else combine(self._condition, test)
        return self

    def until(self, condition: Condition) -> Self:
        """End a loop before the first event that fulfils a condition.

        Args:
            condition: A function of the event, or of the event and a context with the events of the partial match; or
                the text of an expression over the fields of the event.
        """
        if self._until is not None:
            raise MalformedPatternError("Only one until condition can be applied.")
        if not self.quantifier.has_property(QuantifierProperty.LOOPING):
            raise MalformedPatternError("The until condition is only applicable to looping states.")
        self._until = test_of(condition, self.name, "until")
        return self

    # ---------------------------------------------------------------- quantifiers

    def optional(self) -> Self:
        """Let the stage be left out."""
        if self.previous is not None and self.previous.quantifier.has_property(QuantifierProperty.GREEDY):
            raise MalformedPatternError("Optional pattern cannot be preceded by greedy pattern")
        self.quantifier.optional()
        return self

    def one_or_more(self, window_time: TimeAmount | None = None) -> Self:
        """Let the stage match one event or more.

        Args:
            window_time: How long it may wait for its first event after the event before.
        """
        return self._repeat(Quantifier.looping, 1, 1, window_time)

    def times(
        self,
        from_times: int,
        to_times: int | TimeAmount | None = None,
        window_time: TimeAmount | None = None,
    ) -> Self:
        """Let the stage match a number of events.

        Args:
            from_times: How many events, at least.
            to_times: How many events, at most; as many as `from_times` if it is not given. May be left out before
                `window_time`.
            window_time: How long each event may be after the one before.
        """
        if to_times is not None and not isinstance(to_times, int):
            if window_time is not None:
                raise ArgumentTypeError(f"times takes an int as its second of three arguments, not {to_times!r}")
            to_times, window_time = None, to_times
        if to_times is None:
            self._check_repeatable()
            if from_times <= 0:
                raise ArgumentError("You should give a positive number greater than 0.")
            return self._repeat(Quantifier.times, from_times, from_times, window_time)
        self._repeat(Quantifier.times, from_times or 1, to_times, window_time)
        if from_times == 0:
            self.quantifier.optional()
        return self

    def times_or_more(self, times: int, window_time: TimeAmount | None = None) -> Self:
        """Let the stage match a number of events or more.

        Args:
            times: How many events, at least.
            window_time: How long each of these may be after the one before.
        """
        return self._repeat(Quantifier.looping, times, times, window_time)

    def _repeat(self, kind: Any, from_times: int, to_times: int, window_time: TimeAmount | None) -> Self:
        self._check_repeatable()
        window = None if window_time is None else to_millis(window_time)
        self.times_bounds = Times.checked(from_times, to_times, window)
        self.quantifier = kind(self.quantifier.consuming_strategy)
        return self

    def _check_repeatable(self) -> None:
        self._check_no_negation()
        if not self.quantifier.has_property(QuantifierProperty.SINGLE):
            raise MalformedPatternError(
                f"Already applied quantifier to this Pattern. Current quantifier is: {self.quantifier}"
            )

    def _check_no_negation(self) -> None:
        if self.quantifier.negated:
            raise MalformedPatternError("Option not applicable to NOT pattern")

    def greedy(self) -> Self:
        """Let a repeated stage take as many events as possible; the stage behind takes none that it accepts."""
        self._check_no_negation()
        self.quantifier.greedy()
        return self

    def consecutive(self) -> Self:
        """Let no other events lie between those of a repeated stage (strict contiguity)."""
        self.quantifier.consecutive()
        return self

    def allow_combinations(self) -> Self:
        """Let any events lie between those of a repeated stage (non-deterministic relaxed contiguity)."""
        self.quantifier.combinations()
        return self

    # ---------------------------------------------------------------- time

    def within(self, window_time: TimeAmount | None, within_type: WithinType = WithinType.FIRST_AND_LAST) -> Self:
        """Bound the time of a match.

        Args:
            window_time: The time that a match must not reach; the smallest one of all stages counts. None changes
                nothing.
            within_type: What is bounded: the time from the first event to the last, or the wait for this stage.
        """
        if not isinstance(within_type, WithinType):
            raise ArgumentTypeError(f"within of stage {self.name!r} takes a WithinType, not {within_type!r}")
        if window_time is not None:
            self._windows[within_type] = to_millis(window_time)
        return self

    # ---------------------------------------------------------------- JSON

    def to_json(self) -> str:
        """Return the pattern as JSON, for `CEP.dynamic_patterns`.

        Raises:
            UnsupportedError: A condition is a Python function: only expressions have a JSON form.
        """
        from scurry.cep.patterns.json.writing import json_of

        return json_of(self)

    @staticmethod
    def from_json(text: str) -> Pattern:
        """Return the pattern of its JSON form.

        Args:
            text: What `to_json` returns, or the same written by hand; its conditions are expressions over the fields of
                events.

        Raises:
            MalformedPatternError: It is no JSON of a pattern, or Flink refuses the pattern.
        """
        from scurry.cep.patterns.json.reading import pattern_of

        return pattern_of(text, Pattern)

    # ---------------------------------------------------------------- what the compiler reads

    def window_size(self, within_type: WithinType = WithinType.FIRST_AND_LAST) -> int | None:
        """Return the window of the last stage in ms, None if it has none."""
        return self._windows.get(within_type)

    @property
    def group(self) -> Pattern | None:
        """The pattern that is the last stage, None if that is no group."""
        return None

    def stage_names(self) -> list[str]:
        """Return the names of all stages in their order, those of groups instead of the groups."""
        own = [self.name] if self.group is None else self.group.stage_names()
        return own if self.previous is None else [*self.previous.stage_names(), *own]

    @property
    def condition(self) -> Expression:
        """The condition of the last stage."""
        return TRUE if self._condition is None else self._condition

    @property
    def until_condition(self) -> Test | None:
        """The condition that ends the loop of the last stage."""
        return self._until


class GroupPattern(Pattern):
    """A pattern as a stage of another one.

    Attributes:
        raw_pattern: The pattern.
    """

    def __init__(
        self,
        raw_pattern: Pattern,
        previous: Pattern | None,
        consuming_strategy: ConsumingStrategy,
        after_match_skip_strategy: AfterMatchSkipStrategy,
    ) -> None:
        """Make a stage of a pattern; programs call `begin` and the methods that add stages."""
        super().__init__("GroupPattern", previous, consuming_strategy, after_match_skip_strategy)
        self.raw_pattern = raw_pattern

    @property
    def group(self) -> Pattern:
        """The pattern that is the last stage."""
        return self.raw_pattern

    def where(self, condition: Condition) -> Self:
        """Refuse a condition: the stages of the group have them."""
        raise UnsupportedError("GroupPattern does not support where clause.")

    def or_(self, condition: Condition) -> Self:
        """Refuse a condition: the stages of the group have them."""
        raise UnsupportedError("GroupPattern does not support or clause.")

    def subtype(self, subtype_class: type) -> Self:
        """Refuse a condition: the stages of the group have them."""
        raise UnsupportedError("GroupPattern does not support subtype clause.")

    def greedy(self) -> Self:
        """Refuse to be greedy: groups never are."""
        self._check_no_negation()
        raise MalformedPatternError("Option not applicable to group pattern")


def _stage(
    stage: Any, previous: Pattern | None, strategy: ConsumingStrategy, skip: AfterMatchSkipStrategy, method: str
) -> Pattern:
    if isinstance(stage, Pattern):
        return GroupPattern(stage, previous, strategy, skip)
    if not isinstance(stage, str):
        raise ArgumentTypeError(f"{method} takes the name of a stage, or a pattern as a group, not {stage!r}")
    return Pattern(stage, previous, strategy, skip)
