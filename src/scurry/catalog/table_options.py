"""Options of tables and formats: declared once, read and checked with Flink's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Generic, TypeVar, cast

from scurry.errors import ConfigError, ScurryError, ValidationError

__all__ = [
    "Options",
    "TableOption",
    "boolean",
    "explained",
    "factory_not_found",
    "missing_options",
    "one_of",
    "refuse_unsupported",
    "whole_number",
    "with_hint",
]

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


def one_of(class_name: str, names: Sequence[str]) -> Callable[[str], str]:
    """Return a function that returns the name that a text is, in any case.

    Args:
        class_name: Flink's class of the names, for messages.
        names: The names.
    """

    def parse(text: str) -> str:
        for name in names:
            if text.lower() == name.lower():
                return name
        raise ValueError(f"Could not parse value for enum class {class_name}. Expected one of: [[{', '.join(names)}]]")

    return parse


class Options:
    """The options that a table sets, read through their declarations.

    Args:
        values: The options as WITH has them.
        prefix: What begins the keys that are meant, such as `json.` for those of a format.
    """

    def __init__(self, values: Mapping[str, str], prefix: str = "") -> None:
        """Take the options."""
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


def missing_options(keys: Sequence[str]) -> ValidationError:
    """Return the error for required options that are not set."""
    listed = "\n".join(keys)
    return ValidationError(f"One or more required options are missing.\n\nMissing required options are:\n\n{listed}")


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
        error = ValidationError(
            f"Unsupported options found for '{identifier}'.\n\nUnsupported options:\n\n"
            + "\n".join(unknown)
            + "\n\nSupported options:\n\n"
            + "\n".join(sorted(known))
        )
        for key in unknown:
            with_hint(error, key, known)
        raise error


def factory_not_found(identifier: str, interface: str, available: Sequence[str]) -> ValidationError:
    """Return the error for a connector, format or catalog that there is not.

    Args:
        identifier: The name that was given.
        interface: Flink's name of the kind of factory.
        available: The names there are.
    """
    listed = "\n".join(sorted(available))
    error = ValidationError(
        f"Could not find any factory for identifier '{identifier}' that implements '{interface}' in the classpath.\n\n"
        f"Available factory identifiers are:\n\n{listed}"
    )
    return with_hint(error, identifier, available)


def explained(error: ScurryError, message: str) -> ValidationError:
    """Return an error with a message around that of another, and with its hints."""
    found = ValidationError(message)
    for hint in getattr(error, "__notes__", ()):
        found.add_note(hint)
    return found


def with_hint(error: ValidationError, given: str, known: Iterable[str]) -> ValidationError:
    """Return an error that lists all there is with a hint at what could be meant."""
    if closest := get_close_matches(given, known, n=1):
        error.add_note(f"  hint: did you mean '{closest[0]}' instead of '{given}'?")
    return error
