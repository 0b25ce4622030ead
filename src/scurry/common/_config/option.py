"""Configuration options, and the parsers of Flink's syntax for their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Generic, TypeVar

from scurry._dataclasses import dataclass
from scurry.errors import ConfigError

T = TypeVar("T")

_LARGEST_INT, _LARGEST_LONG = (1 << 31) - 1, (1 << 63) - 1


def parse_boolean(text: str) -> bool:
    """Return True for `true` and False for `false`, in any case.

    Raises:
        ValueError: It is neither.
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    raise ValueError("expected true or false")


def parse_integer(text: str) -> int:
    """Return a whole number of 64 bits.

    Args:
        text: Digits with an optional sign, and nothing else.

    Raises:
        ValueError: The text is not a whole number, or has more than 64 bits.
    """
    if re.fullmatch(r"[-+]?[0-9]+", text) and -_LARGEST_LONG - 1 <= int(text) <= _LARGEST_LONG:
        return int(text)
    raise ValueError("expected a whole number")


def parse_float(text: str) -> float:
    """Return a number.

    Args:
        text: As Java writes it: `1.5`, `1e3`, `1.5f`, `NaN`, `-Infinity`.

    Raises:
        ValueError: The text is not a number.
    """
    number = re.fullmatch(r"\s*([-+]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))[fFdD]?\s*", text)
    if number is None:
        raise ValueError("expected a number")
    return float(number[1])


_NANOS_PER_UNIT = {
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000_000_000),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000_000_000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000_000_000),
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1_000_000),
    **dict.fromkeys(("µs", "micro", "micros", "microsecond", "microseconds"), 1_000),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1),
}

_ISO_DURATION = re.compile(
    r"P(?:([-+]?\d+)D)?(?:T(?=[-+\d])(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:\.\d{0,9})?)S)?)?",
    re.IGNORECASE,
)


def parse_duration(text: str) -> int:
    """Return a duration in whole milliseconds, rounded down.

    Args:
        text: As Flink writes it: `200 ms`, `10s`, `5 min`, `1 d`, a bare number of milliseconds, or ISO-8601: `PT10S`.

    Raises:
        ValueError: It is none of these.
    """
    stripped = text.strip()
    millis = -1
    if plain := re.fullmatch(r"(\d+)\s*([a-zµ]*)", stripped.lower()):
        millis = int(plain[1]) * _NANOS_PER_UNIT.get(plain[2], -1) // 1_000_000
    elif (iso := _ISO_DURATION.fullmatch(stripped)) and any(iso.groups()):
        days, hours, minutes, seconds = (Fraction(part or 0) for part in iso.groups())
        millis = int((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 // 1)
    if 0 <= millis <= _LARGEST_LONG:
        return millis
    raise ValueError("expected a duration such as '200 ms', '10 s', '5 min', '1 d' or 'PT10S'")


_BYTES_PER_UNIT = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}


def parse_bytes(text: str) -> int:
    """Return a memory size in bytes.

    Args:
        text: As Flink writes it: `512 mb`, `1g`, or a bare number of bytes; units are powers of 1024.

    Raises:
        ValueError: It is none of these.
    """
    size = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    bytes_ = int(size[1]) * _BYTES_PER_UNIT.get(size[2], -1) if size else -1
    if size and size[2] in _BYTES_PER_UNIT and bytes_ <= _LARGEST_LONG:
        return bytes_
    raise ValueError("expected a size such as '512 mb', '1 gb' or a number of bytes")


def parse_map(text: str) -> dict[str, str]:
    """Return the entries of a map.

    Args:
        text: As Flink writes it: `key:value,key:value`, or `{key: value, key: value}`. A key or value that
            contains a delimiter is quoted; a quote within quotes is doubled.

    Raises:
        ValueError: It is neither.
    """
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1].strip()
    entries: dict[str, str] = {}
    for entry in _split(inner, ","):
        pair = _split(entry, ":")
        if len(pair) != 2 or not pair[0]:
            raise ValueError(f"expected key:value,key:value, not {entry!r}; put quotes around what holds , or :")
        entries[pair[0]] = pair[1]
    return entries


def _split(text: str, delimiter: str) -> list[str]:
    """Return the parts between delimiters, without the blanks and quotes around them.

    As in Flink, quotes have a meaning only at the start of a part, and an empty last part is dropped.

    Raises:
        ValueError: A quote is not closed, or not followed by a delimiter.
    """
    parts, rest = [], text.strip()
    while rest:
        if rest[0] in "'\"":
            quote = rest[0]
            quoted = re.match(f"{quote}((?:[^{quote}]|{quote}{quote})*){quote}\\s*(?={delimiter}|$)", rest)
            if quoted is None:
                raise ValueError(f"a quote is not closed, or followed by something else: {rest}")
            parts.append(quoted[1].replace(quote * 2, quote))
            rest = rest[quoted.end() :].removeprefix(delimiter).strip()
        else:
            part, _, rest = (half.strip() for half in rest.partition(delimiter))
            parts.append(part)
    return parts


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a parser that accepts one of these words, in any case."""

    def parse(text: str) -> str:
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise ValueError(f"expected one of {', '.join(choices)}")

    return parse


def at_least(low: int, high: int = _LARGEST_INT) -> Callable[[str], int]:
    """Return a parser of whole numbers within limits, by default those of 32 bits."""

    def parse(text: str) -> int:
        number = parse_integer(text)
        if not low <= number <= high:
            raise ValueError(f"expected {low} or more" if number < low else f"expected {low} to {high}")
        return number

    return parse


def duration_of(shortest: int) -> Callable[[str], int]:
    """Return a parser of durations of at least that many milliseconds."""

    def parse(text: str) -> int:
        millis = parse_duration(text)
        if millis < shortest:
            raise ValueError(f"expected at least {shortest} ms")
        return millis

    return parse


@dataclass(frozen=True)
class ConfigOption(Generic[T]):
    """A configuration key with its type, default and description.

    Attributes:
        type: Parses the text of a value; raises a ValueError that says what it expects.
        default: The value if the key is not set.
        description: The meaning of the option, with units.
        aliases: Older or newer names that Flink has for the same key.
        instead: For an option that is accepted without effect: the reason, or what to do instead. A job that sets it
            logs this.
    """

    key: str
    type: Callable[[str], T]
    default: T | None
    description: str
    aliases: tuple[str, ...] = ()
    instead: str = ""

    def parse(self, text: str) -> T:
        """Return the value written as `text`.

        Raises:
            ConfigError: It cannot be read.
        """
        try:
            return self.type(text)
        except ValueError as error:
            raise ConfigError(f"configuration {self.key} = {text!r} cannot be used: {error}") from None

    def of(self, settings: Mapping[str, str]) -> T | None:
        """Return the value in some settings; the default if they do not set it.

        Raises:
            ConfigError: It cannot be read.
        """
        text = next((settings[key] for key in (self.key, *self.aliases) if key in settings), None)
        return self.default if text is None else self.parse(text)


class ConfigOptions:
    """Build custom options, as Flink's `ConfigOptions`; read them with `Configuration.get`.

    Example:
        ConfigOptions.key("app.retries").int_type().default_value(3)
    """

    @staticmethod
    def key(key: str) -> ConfigOptions.OptionBuilder:
        """Return a builder of the option with that key."""
        return ConfigOptions.OptionBuilder(key)

    class OptionBuilder:
        """Builder of an option whose key is known: set its type."""

        def __init__(self, key: str) -> None:
            """Start with a key."""
            self._key = key

        def boolean_type(self) -> ConfigOptions.TypedConfigOptionBuilder[bool]:
            """Let values be `true` or `false`."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, parse_boolean)

        def int_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Let values be whole numbers of 32 bits."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, at_least(-_LARGEST_INT - 1))

        def long_type(self) -> ConfigOptions.TypedConfigOptionBuilder[int]:
            """Let values be whole numbers of 64 bits."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, parse_integer)

        def float_type(self) -> ConfigOptions.TypedConfigOptionBuilder[float]:
            """Let values be numbers."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, parse_float)

        def string_type(self) -> ConfigOptions.TypedConfigOptionBuilder[str]:
            """Let values be text."""
            return ConfigOptions.TypedConfigOptionBuilder(self._key, str)

        double_type = float_type

    class TypedConfigOptionBuilder(Generic[T]):
        """Builder of an option whose key and type are known: set its default."""

        def __init__(self, key: str, type: Callable[[str], T]) -> None:
            """Start with a key and the parser of its values."""
            self._key = key
            self._type = type

        def default_value(self, value: T) -> ConfigOption[T]:
            """Return the option; if it is not set, it is `value`."""
            return ConfigOption(self._key, self._type, value, "")

        def no_default_value(self) -> ConfigOption[T]:
            """Return the option; if it is not set, it is None."""
            return ConfigOption(self._key, self._type, None, "")
