"""Options of tables and formats: declared once, read and checked with Flink's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from scurry._dataclasses import dataclass
from scurry.errors import ConfigError, MissingOptionsError, ScurryError, ValidationError
from scurry.errors.base import HINT
from scurry.errors.suggestions import did_you_mean, similar_name

#: Keys by which factories are found.
_DISCOVERING = {"connector", "type", "property-version"}

#: Maximum names of a hint.
_MOST_LISTED = 12

T = TypeVar("T")


@dataclass(frozen=True)
class TableOption(Generic[T]):
    """An option of a table or a format.

    Attributes:
        key: Its name in WITH, without the prefix of a format.
        parse: Makes a value of its text; raises ValueError with the reason.
        default: The value if it is not set; None for no default.
        description: What it does.
        required: Whether it has to be set.
        checked_late: Whether Flink reads it without naming the option in its message, as of options with dynamic names.
        without_effect: Whether it is accepted for Flink's sake only: its effect there has no counterpart here, and no
            row depends on it.
    """

    key: str
    parse: Callable[[str], T]
    default: T | None = None
    description: str = ""
    required: bool = False
    checked_late: bool = False
    without_effect: bool = False


def boolean(text: str) -> bool:
    """Return the value of `true` or `false`, in any case."""
    if text.upper() in ("TRUE", "FALSE"):
        return text.upper() == "TRUE"
    raise ValueError(f"Unrecognized option for boolean: {text}. Expected either true or false(case insensitive)")


def whole_number(text: str) -> int:
    """Return a whole number of at most 64 bits."""
    try:
        if text.strip() == text and "_" not in text and -(1 << 63) <= int(text) < 1 << 63:
            return int(text)
    except ValueError:
        pass
    error = ValueError(f'For input string: "{text}"')
    error.add_note(f"{HINT}expected a whole number")
    raise error


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """Return a function that returns the name that a text is, in any case.

    Args:
        names: The names.
    """

    def parse(text: str) -> str:
        for name in names:
            if text.lower() == name.lower():
                return name
        expected = f"Expected one of: [[{', '.join(names)}]]"
        hint = did_you_mean(text, names)
        raise ValueError(f"{expected}; {hint}" if hint else expected)

    return parse


class Options:
    """The options that a table sets, read through their declarations.

    Args:
        values: The options as WITH has them.
        prefix: What begins the keys that are meant, such as `json.` for those of a format.
    """

    def __init__(self, values: Mapping[str, str], prefix: str = "") -> None:
        self.values = values
        self.prefix = prefix

    def below(self, prefix: str) -> Options:
        """Return the options whose keys begin with a further prefix."""
        return Options(self.values, self.prefix + prefix)

    def __contains__(self, option: TableOption[Any]) -> bool:
        """Return whether an option is set."""
        return self.prefix + option.key in self.values

    def find(self, option: TableOption[T]) -> T | None:
        """Return the value of an option, its default if it is not set.

        Raises:
            ValidationError: The text is no such value.
        """
        key = self.prefix + option.key
        if key not in self.values:
            return option.default
        text = self.values[key]
        try:
            return option.parse(text)
        except (ValueError, ConfigError) as error:
            first = f"Invalid value for option '{option.key}'.\n" if not option.checked_late else ""
            refused = ValidationError(f"{first}Could not parse value '{text}' for key '{key}'.\n{error}")
            for hint in getattr(error, "__notes__", ()):
                refused.add_note(hint)
            raise refused from None

    def get(self, option: TableOption[T]) -> T:
        """Return the value of an option that has a default or is required.

        Raises:
            ValidationError: The text is no such value.
        """
        return cast(T, self.find(option))

    def check(self, options: Iterable[TableOption[Any]], known: Iterable[str] = ()) -> None:
        """Read all options once, so that a value that is no such value is reported at once.

        Args:
            options: The declared ones.
            known: Other keys that the table may set.

        Raises:
            ValidationError: A required option is missing, or the text of one is no such value.
        """
        options = list(options)
        missing = sorted(self.prefix + o.key for o in options if o.required and o not in self)
        if missing:
            declared = {*known, *(self.prefix + option.key for option in options)}
            given = {key for key in self.values if key.startswith(self.prefix)}
            raise _missing_options(missing, sorted(given - _DISCOVERING), sorted(given - declared - _DISCOVERING))
        for option in options:
            self.find(option)


def _missing_options(missing: Sequence[str], given: Sequence[str], unknown: Sequence[str]) -> MissingOptionsError:
    """Return the error for required options that are not set.

    Args:
        given: The keys that are set, which may be misspelt.
        unknown: Those of them that nothing declares.
    """
    listed = ", ".join(missing)
    error = MissingOptionsError(f"One or more required options are missing.\nMissing required options are: {listed}")
    error.keys = missing
    for key in missing:
        if (closest := similar_name(key, given)) is not None:
            return error.with_hint(f"did you mean '{key}' instead of '{closest}'?")
    if len(missing) == len(unknown) == 1:
        return error.with_hint(f"did you mean '{missing[0]}' instead of '{unknown[0]}'?")
    added = ", ".join(f"'{key}' = '...'" for key in missing)
    others = f"; there is no option {', '.join(map(repr, unknown))}" if unknown else ""
    return error.with_hint(f"add to WITH (...): {added}{others}")


def refuse_unsupported(identifier: str, values: Iterable[str], supported: Iterable[str]) -> None:
    """Refuse options that nothing declares.

    Args:
        identifier: The connector or catalog.
        values: The keys that are set.
        supported: The keys that are declared.

    Raises:
        ValidationError: A key is not declared.
    """
    known = set(supported)
    unknown = sorted(key for key in values if key not in known)
    if unknown:
        raise ValidationError(
            f"Unsupported options found for '{identifier}'.\nUnsupported options: {', '.join(unknown)}"
        ).with_hint(instead(unknown, known, f"the options of '{identifier}'"))


def factory_not_found(kind: str, identifier: str, available: Iterable[str]) -> ValidationError:
    """Return the error for a connector, format or catalog that there is not.

    Args:
        kind: What it is, such as `connector`.
        identifier: The name that was given.
        available: The names there are.
    """
    error = ValidationError(f"Could not find any {kind} factory for identifier '{identifier}'.")
    return error.with_hint(instead([identifier], available, f"the {kind}s"))


def instead(unknown: Sequence[str], known: Iterable[str], what: str) -> str:
    """Return a hint with the known names that are like unknown ones; without such names it lists all.

    Args:
        unknown: The names.
        known: The names there are.
        what: What they are, such as `the formats`.
    """
    known = sorted(known, key=lambda each: (each.count("."), each))
    meant = {each: similar_name(each, known) for each in unknown}
    found = [f"'{there}' instead of '{given}'" for given, there in meant.items() if there is not None]
    hints = [f"did you mean {' and '.join(found)}?"] if found else []
    for family in sorted({each.partition(".")[0] for each, there in meant.items() if there is None}):
        listed = [each for each in known if each.startswith(f"{family}.")] or known
        more = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
        hints.append(f"{what} are {', '.join(listed[:_MOST_LISTED])}{more}")
    return "; ".join(dict.fromkeys(hints))


def in_context(error: ScurryError, context: str) -> ValidationError:
    """Return an error whose message has its cause first, and below it the failed action."""
    return explained(error, f"{error}\n{context}")


def explained(error: ScurryError, message: str) -> ValidationError:
    """Return an error with a message around that of another, and with its hints."""
    found = ValidationError(message)
    found.span, found.about = getattr(error, "span", None), getattr(error, "about", "")
    found.statement = error.statement
    for hint in getattr(error, "__notes__", ()):
        found.add_note(hint)
    return found
