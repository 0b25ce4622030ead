"""Quantifiers: how often a stage matches, and which events may lie between."""

from __future__ import annotations

from enum import Enum, auto

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError, MalformedPatternError


class QuantifierProperty(Enum):
    """The properties of a quantifier, in the order in which Flink prints them."""

    SINGLE = auto()
    LOOPING = auto()
    TIMES = auto()
    OPTIONAL = auto()
    GREEDY = auto()


class ConsumingStrategy(Enum):
    """Contiguity: the events that may lie between a stage and the one before it, or between the events of a loop."""

    STRICT = auto()
    SKIP_TILL_NEXT = auto()
    SKIP_TILL_ANY = auto()
    NOT_FOLLOW = auto()
    NOT_NEXT = auto()


NEGATIONS = (ConsumingStrategy.NOT_NEXT, ConsumingStrategy.NOT_FOLLOW)


@dataclass(frozen=True)
class Times:
    """Number of matches of a stage, from `from_times` to `to_times`; its events have a time limit in ms, or None."""

    from_times: int
    to_times: int
    window: int | None = None

    @staticmethod
    def checked(from_times: int, to_times: int, window: int | None) -> Times:
        """Return the bounds.

        Raises:
            ArgumentError: They are such that no number is between them.
        """
        if from_times <= 0:
            raise ArgumentError("The from should be a positive number greater than 0.")
        if to_times < from_times:
            raise ArgumentError(f"The to should be a number greater than or equal to from: {from_times}.")
        return Times(from_times, to_times, window)


class Quantifier:
    """The quantifier of a stage.

    Attributes:
        properties: What it says.
        consuming_strategy: Which events may lie between the stage and the one before.
        inner_consuming_strategy: Which events may lie between the events of the stage.
    """

    def __init__(self, consuming_strategy: ConsumingStrategy, first: QuantifierProperty) -> None:
        """Make a quantifier with one property."""
        self.properties = {first}
        self.consuming_strategy = consuming_strategy
        self.inner_consuming_strategy = ConsumingStrategy.SKIP_TILL_NEXT

    @staticmethod
    def one(consuming_strategy: ConsumingStrategy) -> Quantifier:
        """Return the quantifier of a stage that matches one event."""
        return Quantifier(consuming_strategy, QuantifierProperty.SINGLE)

    @staticmethod
    def looping(consuming_strategy: ConsumingStrategy) -> Quantifier:
        """Return the quantifier of a stage that matches any number of events."""
        return Quantifier(consuming_strategy, QuantifierProperty.LOOPING)

    @staticmethod
    def times(consuming_strategy: ConsumingStrategy) -> Quantifier:
        """Return the quantifier of a stage that matches a bounded number of events."""
        return Quantifier(consuming_strategy, QuantifierProperty.TIMES)

    def has_property(self, wanted: QuantifierProperty) -> bool:
        """Return whether it has a property."""
        return wanted in self.properties

    @property
    def negated(self) -> bool:
        """Return whether the stage must not match."""
        return self.consuming_strategy in NEGATIONS

    @property
    def is_optional(self) -> bool:
        """Return whether the stage may be left out."""
        return QuantifierProperty.OPTIONAL in self.properties

    def combinations(self) -> None:
        """Allow any events between those of the stage."""
        _check(not self.has_property(QuantifierProperty.SINGLE), f"Combinations not applicable to {self}!")
        inner = self.inner_consuming_strategy
        _check(inner is not ConsumingStrategy.STRICT, "You can apply either combinations or consecutive, not both!")
        _check(inner is not ConsumingStrategy.SKIP_TILL_ANY, "Combinations already applied!")
        self.inner_consuming_strategy = ConsumingStrategy.SKIP_TILL_ANY

    def consecutive(self) -> None:
        """Allow no events between those of the stage."""
        repeated = {QuantifierProperty.LOOPING, QuantifierProperty.TIMES}
        _check(bool(repeated & self.properties), f"Consecutive not applicable to {self}!")
        inner = self.inner_consuming_strategy
        _check(
            inner is not ConsumingStrategy.SKIP_TILL_ANY, "You can apply either combinations or consecutive, not both!"
        )
        _check(inner is not ConsumingStrategy.STRICT, "Consecutive already applied!")
        self.inner_consuming_strategy = ConsumingStrategy.STRICT

    def optional(self) -> None:
        """Let the stage be left out."""
        _check(not self.is_optional, "Optional already applied!")
        _check(not self.negated, "NOT pattern cannot be optional")
        self.properties.add(QuantifierProperty.OPTIONAL)

    def greedy(self) -> None:
        """Let the stage take as many events as possible."""
        _check(
            self.inner_consuming_strategy is not ConsumingStrategy.SKIP_TILL_ANY,
            "Option not applicable to FollowedByAny pattern",
        )
        _check(not self.has_property(QuantifierProperty.SINGLE), "Option not applicable to singleton quantifier")
        self.properties.add(QuantifierProperty.GREEDY)

    def __str__(self) -> str:
        """Return Flink's text, as messages quote it."""
        names = ", ".join(each.name for each in QuantifierProperty if each in self.properties)
        return (
            f"Quantifier{{properties=[{names}], consumingStrategy={self.consuming_strategy.name}, "
            f"innerConsumingStrategy={self.inner_consuming_strategy.name}}}"
        )


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise MalformedPatternError(message)
