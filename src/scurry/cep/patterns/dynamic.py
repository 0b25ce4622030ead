"""Dynamic patterns: changes of patterns while a job runs, and their matches."""

from __future__ import annotations

from typing import Any, NamedTuple

from scurry.errors import MalformedPatternError


class PatternMatch(dict[str, list[Any]]):
    """A match of one of several patterns: its events by stage.

    Attributes:
        pattern_id: The id of the pattern.
        pattern_version: Its version.
    """

    def __init__(self, events: dict[str, list[Any]], pattern_id: Any, pattern_version: int) -> None:
        """Make a match of a pattern."""
        super().__init__(events)
        self.pattern_id = pattern_id
        self.pattern_version = pattern_version

    def __reduce__(self) -> Any:
        """Keep the pattern in pickles."""
        return PatternMatch, (dict(self), self.pattern_id, self.pattern_version)

    def __repr__(self) -> str:
        """Show the pattern, too."""
        return f"PatternMatch({dict(self)!r}, {self.pattern_id!r}, {self.pattern_version!r})"


class PatternChange(NamedTuple):
    """A record of the stream of patterns: a pattern that is added, changed or removed.

    Attributes:
        id: The pattern.
        version: Its version.
        json: The pattern as JSON; None removes it.
    """

    id: Any
    version: int
    json: str | None

    def follows(self, known: PatternChange | None) -> bool:
        """Return whether the change is newer than the known one: a higher version, or the removal of the same."""
        if known is None:
            return True
        return (self.version, self.json is None) > (known.version, known.json is None)


def change_of(record: Any) -> PatternChange:
    """Return the pattern change in a record.

    Raises:
        MalformedPatternError: It is no (id, version, pattern as JSON).
    """
    try:
        pattern, version, json = record
    except (TypeError, ValueError):
        raise _malformed(f"it is {record!r}") from None
    if not isinstance(pattern, str | int):
        raise _malformed(f"its id is {pattern!r}, neither a text nor an int")
    if type(version) is not int:
        raise _malformed(f"its version is {version!r}, not an int")
    if json is not None and not isinstance(json, str):
        raise _malformed(f"its pattern is {json!r}, not a text: use pattern.to_json(), or None to remove it")
    return PatternChange(pattern, version, json)


def _malformed(what: str) -> MalformedPatternError:
    return MalformedPatternError(f"a record of the stream of patterns is (id, version, pattern as JSON), and {what}")
