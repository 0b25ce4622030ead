"""Options of tables and formats: declared once, read and checked with Flink's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from scurry.errors import ConfigError, MissingOptionsError, ScurryError, ValidationError
from scurry.errors.suggestions import did_you_mean, similar_name

#: Replacement for reading savepoints in SQL.
SAVEPOINTS_IN_PYTHON = "read savepoints in Python, with the state processor: scurry.state.SavepointReader"

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
    raise ValueError(f'For input string: "{text}"')


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
            raise ValidationError(f"{first}Could not parse value '{text}' for key '{key}'.\n{error}") from None

    def get(self, option: TableOption[T]) -> T:
        """Return the value of an option that has a default or is required.

        Raises:
            ValidationError: The text is no such value.
        """
        return cast(T, self.find(option))

    def check(self, options: Iterable[TableOption[Any]]) -> None:
        """Read all options once, so that a value that is no such value is reported at once.

        Raises:
            ValidationError: A required option is missing, or the text of one is no such value.
        """
        options = list(options)
        missing = sorted(self.prefix + o.key for o in options if o.required and o not in self)
        if missing:
            raise missing_options(missing)
        for option in options:
            self.find(option)


def missing_options(keys: Sequence[str]) -> MissingOptionsError:
    """Return the error for required options that are not set."""
    listed = "\n".join(keys)
    error = MissingOptionsError(
        f"One or more required options are missing.\n\nMissing required options are:\n\n{listed}"
    )
    error.keys = keys
    return error


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
        listed = "" if all(similar_name(key, known) for key in unknown) else "\n".join(sorted(known))
        error = ValidationError(
            f"Unsupported options found for '{identifier}'.\n\nUnsupported options:\n\n"
            + "\n".join(unknown)
            + (f"\n\nSupported options:\n\n{listed}" if listed else "")
        )
        for key in unknown:
            with_hint(error, key, known)
        raise error


def factory_not_found(kind: str, identifier: str, available: Sequence[str]) -> ValidationError:
    """Return the error for a connector, format or catalog that there is not.

    Args:
        kind: What it is, such as `connector`.
        identifier: The name that was given.
        available: The names there are.
    """
    error = ValidationError(
        f"Could not find any {kind} factory for identifier '{identifier}'.\n"
        f"The {kind}s are {', '.join(sorted(available))}."
    )
    if (kind, identifier) == ("connector", "savepoint"):
        return error.with_hint(SAVEPOINTS_IN_PYTHON)
    return with_hint(error, identifier, available)


def explained(error: ScurryError, message: str) -> ValidationError:
    """Return an error with a message around that of another, and with its hints."""
    found = ValidationError(message)
    found.span, found.about = getattr(error, "span", None), getattr(error, "about", "")
    found.statement = error.statement
    for hint in getattr(error, "__notes__", ()):
        found.add_note(hint)
    return found


def with_hint(error: ValidationError, given: str, known: Iterable[str]) -> ValidationError:
    """Return an error that lists all candidates, with a hint at the most similar one."""
    closest = similar_name(given, known)
    return error if closest is None else error.with_hint(f"did you mean '{closest}' instead of '{given}'?")
