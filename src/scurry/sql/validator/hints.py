"""Query hints: `STATE_TTL` and `LOOKUP`; hints on join strategies have no effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scurry.common._config.option import parse_duration
from scurry.errors import ValidationError
from scurry.sql.plan.nodes.joins import LookupRetry
from scurry.sql.syntax import nodes
from scurry.sql.validator.failures import invalid

if TYPE_CHECKING:
    from scurry.sql.validator.from_clause.items import FromItem

_RETRIES = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")
_CHOICES = {"async": ("TRUE", "FALSE"), "output-mode": ("ORDERED", "ALLOW_UNORDERED"), "shuffle": ("TRUE", "FALSE")}
_JOIN_HINTS = {"BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "MULTI_JOIN"}


class Hints:
    """The hints of one SELECT; tables that they name have to be inputs of its joins or of its aggregation."""

    def __init__(self, hints: Sequence[nodes.Hint], is_streaming: bool) -> None:
        """Read hints.

        Raises:
            ValidationError: A hint or an option of it is not known.
        """
        self._is_streaming = is_streaming
        self._ttl = [_state_ttl(hint) for hint in hints if hint.name.upper() == "STATE_TTL"]
        self._lookups = [_lookup(hint) for hint in hints if hint.name.upper() == "LOOKUP"]
        self._unmatched: dict[tuple[str, str], None] = {}
        self._has_join = self._has_groups = False
        for hint in hints:
            name = hint.name.upper()
            if name not in {*_JOIN_HINTS, "STATE_TTL", "LOOKUP", "OPTIONS"}:
                raise invalid(hint.span, f"Hint: {name} should be registered in the HintStrategyTable")
            if name in _JOIN_HINTS:
                self._unmatched.update({(table, name): None for table in _tables(hint)})
        for found in self._ttl:
            self._unmatched.update({(name, "STATE_TTL"): None for name in found})
        self._unmatched.update({(table, "LOOKUP"): None for table, _ in self._lookups})

    def joined(self, left: FromItem, right: FromItem) -> tuple[int | None, int | None]:
        """Return the state TTL of both sides of a join, in milliseconds; None where no hint says it."""
        for side in (left, right):
            for name in _names(side):
                for hint in (*_JOIN_HINTS, "LOOKUP"):
                    self._unmatched.pop((name, hint), None)
        self._has_join = True
        return self._ttl_of(left), self._ttl_of(right)

    def grouped(self, rows: FromItem) -> int | None:
        """Return the state TTL of the groups of some rows, in milliseconds; None if no hint says it."""
        self._has_groups = True
        return self._ttl_of(rows)

    def _ttl_of(self, rows: FromItem) -> int | None:
        names = _names(rows)
        for name in names:
            self._unmatched.pop((name, "STATE_TTL"), None)
        if not self._is_streaming:
            return None
        return next((found[name] for found in self._ttl for name in names if name in found), None)

    def lookup(self, left: FromItem, right: FromItem) -> LookupRetry | None:
        """Return how often the table at the right is asked again that has no row for a key; None for never."""
        self.joined(left, right)
        names = _names(right)
        return next((retry for table, retry in self._lookups if table in names), None)

    def check(self) -> None:
        """Check that joins or an aggregation have used the names in the hints, after they have asked for it.

        Raises:
            ValidationError: A hint names another table.
        """
        by_hint: dict[str, list[str]] = {}
        for table, hint in self._unmatched:
            if self._has_join or (self._has_groups and hint == "STATE_TTL"):
                by_hint.setdefault(hint, []).append(table)
        if by_hint:
            listed = "\n".join(f"`{', '.join(tables)}` in `{hint}`" for hint, tables in by_hint.items())
            raise ValidationError(
                f"The options of following hints cannot match the name of input tables or views: \n{listed}"
            )


def _names(item: FromItem) -> tuple[str, ...]:
    """Return the names by which a hint may refer to rows; nothing for those of a join."""
    if len(item.relations) != 1:
        return ()
    relation = item.relations[0]
    path = (".".join(relation.path),) if relation.path else ()
    return (*(() if relation.name is None else (relation.name,)), *path)


def _tables(hint: nodes.Hint) -> list[str]:
    tables = [str(option.value) for option in hint.options if option.key is None]
    if not tables:
        shown = f"{hint.name.upper()}, expecting at least one table or view specified in hint {hint.name.upper()}."
        raise invalid(hint.span, f"Invalid hint: {shown}")
    return tables


def _state_ttl(hint: nodes.Hint) -> dict[str, int]:
    if not hint.options:
        raise invalid(hint.span, "Invalid STATE_TTL hint, expecting at least one key-value options specified.")
    if any(option.key is None for option in hint.options):
        raise invalid(hint.span, "Invalid list options in STATE_TTL hint, only support key-value options.")
    try:
        return {str(option.key): parse_duration(_text(option)) for option in hint.options}
    except ValueError as error:
        raise invalid(hint.span, f"Invalid STATE_TTL hint value: {error}") from error


def _lookup(hint: nodes.Hint) -> tuple[str, LookupRetry | None]:
    given = {str(option.key): _text(option) for option in hint.options if option.key is not None}
    if "table" not in given:
        raise invalid(
            hint.span,
            "Invalid LOOKUP hint: incomplete required option(s): [Key: 'table' , default: null (fallback keys: [])]",
        )
    for key, values in _CHOICES.items():
        if key in given and given[key].upper() not in values:
            raise _unparsed(hint, key, given[key])
    return given["table"], _retry(hint, given)


def _unparsed(hint: nodes.Hint, key: str, value: str) -> ValidationError:
    return invalid(hint.span, f"Invalid LOOKUP hint options: Could not parse value '{value}' for key '{key}'.")


def _retry(hint: nodes.Hint, given: Mapping[str, str]) -> LookupRetry | None:
    missing = [key for key in _RETRIES if key not in given]
    if len(missing) == len(_RETRIES):
        return None
    if missing:
        raise invalid(hint.span, "Invalid LOOKUP hint: retry options can be both null or all not null")
    predicate, attempts = given["retry-predicate"], given["max-attempts"]
    if predicate != "lookup_miss":
        raise invalid(
            hint.span,
            f"Invalid LOOKUP hint option: unsupported retry-predicate '{predicate}', only 'lookup_miss' is supported "
            "currently",
        )
    if given["retry-strategy"].upper() != "FIXED_DELAY":
        raise _unparsed(hint, "retry-strategy", given["retry-strategy"])
    try:
        delay, retries = parse_duration(given["fixed-delay"]), int(attempts)
    except ValueError as error:
        key = "max-attempts" if not attempts.lstrip("-").isdigit() else "fixed-delay"
        raise _unparsed(hint, key, given[key]) from error
    if retries < 1:
        raise invalid(
            hint.span, f"Invalid LOOKUP hint option: max-attempts value should be positive integer but was {attempts}"
        )
    return LookupRetry(delay, retries)


def _text(option: nodes.HintOption) -> str:
    return str(getattr(option.value, "value", option.value))
