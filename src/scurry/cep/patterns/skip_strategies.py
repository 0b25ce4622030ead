"""Settings of patterns: which times their window bounds, and which matches are left out after a match."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.errors import PatternMatchError


class WithinType(Enum):
    """Events that the time limit of a pattern applies to: the first and last, or each and the one before."""

    PREVIOUS_AND_CURRENT = "PREVIOUS_AND_CURRENT"
    """The time between an event and the one before it."""
    FIRST_AND_LAST = "FIRST_AND_LAST"
    """The time between the first event of a match and its last."""


#: An event of a key: its timestamp, and its number among those of the same timestamp.
EventId: TypeAlias = tuple[int, int]
#: The events of a match by stage.
MatchedIds: TypeAlias = dict[str, list[EventId]]


class AfterMatchSkipStrategy(ApiObject):
    """Strategy that discards partial and complete matches when a match is emitted."""

    #: whether it discards anything
    skips = True
    #: the stage it refers to, or None
    pattern_name: str | None = None

    @staticmethod
    def no_skip() -> NoSkipStrategy:
        """Emit every match."""
        return NoSkipStrategy()

    @staticmethod
    def skip_to_next() -> SkipToNextStrategy:
        """Discard matches that begin with the same event."""
        return SkipToNextStrategy()

    @staticmethod
    def skip_past_last_event() -> SkipPastLastStrategy:
        """Discard matches that begin before the match has ended."""
        return SkipPastLastStrategy()

    @staticmethod
    def skip_to_first(pattern_name: str) -> SkipToFirstStrategy:
        """Discard matches that begin before the first event of a stage.

        Args:
            pattern_name: The name of the stage.
        """
        return SkipToFirstStrategy(pattern_name)

    @staticmethod
    def skip_to_last(pattern_name: str) -> SkipToLastStrategy:
        """Discard matches that begin before the last event of a stage.

        Args:
            pattern_name: The name of the stage.
        """
        return SkipToLastStrategy(pattern_name)

    def pruning_id(self, match: MatchedIds) -> EventId | None:
        """Return the event that decides which matches are discarded."""
        raise NotImplementedError

    def should_prune(self, start: EventId, pruning: EventId) -> bool:
        """Return whether matches that begin with `start` are discarded."""
        raise NotImplementedError


@dataclass(frozen=True)
class NoSkipStrategy(AfterMatchSkipStrategy):
    """Emit every match."""

    skips = False


@dataclass(frozen=True)
class SkipToNextStrategy(AfterMatchSkipStrategy):
    """Discard matches that begin with the same event."""

    def pruning_id(self, match: MatchedIds) -> EventId | None:
        """Return the first event of the match."""
        return min((ids[0] for ids in match.values()), default=None)

    def should_prune(self, start: EventId, pruning: EventId) -> bool:
        """Return whether it begins no later."""
        return start <= pruning


@dataclass(frozen=True)
class SkipPastLastStrategy(AfterMatchSkipStrategy):
    """Discard matches that begin before the match has ended."""

    def pruning_id(self, match: MatchedIds) -> EventId | None:
        """Return the last event of the match."""
        return max((ids[-1] for ids in match.values()), default=None)

    def should_prune(self, start: EventId, pruning: EventId) -> bool:
        """Return whether it begins no later."""
        return start <= pruning


@dataclass(frozen=True)
class _SkipToElementStrategy(AfterMatchSkipStrategy):
    """Discard matches that begin before an event of a stage.

    Attributes:
        throws: Whether a match without the stage is an error.
    """

    pattern_name: str
    throws: bool = False

    _index = 0

    def pruning_id(self, match: MatchedIds) -> EventId | None:
        """Return the event of the stage.

        Raises:
            PatternMatchError: The match has none, or it is the match's first event, and the strategy throws.
        """
        ids = match.get(self.pattern_name)
        if self.throws:
            if not ids:
                raise PatternMatchError(
                    f"Could not skip to {self.pattern_name}. No such element in the found match {_ids_text(match)}"
                )
            if ids[self._index] == min(min(each) for each in match.values()):
                raise PatternMatchError("Could not skip to first element of a match.")
        return ids[self._index] if ids else None

    def should_prune(self, start: EventId, pruning: EventId) -> bool:
        """Return whether it begins earlier."""
        return start < pruning


class SkipToFirstStrategy(_SkipToElementStrategy):
    """Discard matches that begin before the first event of a stage."""

    def throw_exception_on_miss(self) -> SkipToFirstStrategy:
        """Fail if a match has no event of the stage, or begins with it."""
        return replace(self, throws=True)


class SkipToLastStrategy(_SkipToElementStrategy):
    """Discard matches that begin before the last event of a stage."""

    _index = -1

    def throw_exception_on_miss(self) -> SkipToLastStrategy:
        """Fail if a match has no event of the stage, or begins with it."""
        return replace(self, throws=True)


def _ids_text(match: MatchedIds) -> str:
    stages = (
        f"{name}=[{', '.join(f'EventId{{id={number}, timestamp={time}}}' for time, number in ids)}]"
        for name, ids in match.items()
    )
    return f"{{{', '.join(stages)}}}"
