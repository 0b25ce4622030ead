"""Configuration: keys and values, all stored as text."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, TypeVar

from scurry.common._api import ApiObject
from scurry.common._config.option import ConfigOption, parse_boolean, parse_float, parse_integer
from scurry.common._config.python import parse_list_value
from scurry.common._java_numbers import double_text
from scurry.common._types import java_text
from scurry.common.redaction import redacted
from scurry.errors import ArgumentTypeError

__all__ = ["Configuration"]

T = TypeVar("T")

_BINARY = "!!binary "


def _parse_binary(text: str) -> bytearray:
    if not text.startswith(_BINARY):
        raise ValueError("expected bytes, which set_bytearray sets")
    return bytearray(base64.b64decode(text.removeprefix(_BINARY).strip('"|-\n ')))


class Configuration(ApiObject, check_arguments=False):
    """Key/value pairs that configure a job, as Flink's `Configuration`; every `set_*` returns the object itself."""

    __slots__ = ("_typed", "_values")

    def __init__(self, other: Configuration | None = None) -> None:
        """Make an empty configuration, or a copy of another."""
        self._values: dict[str, str] = {} if other is None else dict(other._values)
        #: the values that were not set as text
        self._typed: dict[str, int | float | bool | bytearray] = {} if other is None else dict(other._typed)

    @classmethod
    def from_dict(cls, map: Mapping[str, str]) -> Configuration:
        """Make a configuration of the entries of a dict."""
        configuration = cls()
        for key, value in map.items():
            configuration.set_string(key, value)
        return configuration

    #: Returns the items of a list such as the value of `pipeline.jars`.
    parse_list_value = staticmethod(parse_list_value)

    def get_string(self, key: str, default_value: str) -> str:
        """Return a value as text."""
        return self._values.get(key, default_value)

    def set_string(self, key: str, value: str) -> Configuration:
        """Set a value.

        Raises:
            ArgumentTypeError: Key or value is not a str.
        """
        if not isinstance(key, str) or not isinstance(value, str):
            raise ArgumentTypeError(
                f"configuration {key!r} = {value!r}: both must be str: write {str(value)!r}, or use set_integer, "
                "set_boolean or set_float"
            )
        self._values[key] = value
        self._typed.pop(key, None)
        return self

    def _set(self, key: str, value: int | float | bool | bytearray, text: str) -> Configuration:
        self.set_string(key, text)
        self._typed[key] = value
        return self

    def get_integer(self, key: str, default_value: int) -> int:
        """Return a value as a whole number.

        Raises:
            ConfigError: It is not a whole number.
        """
        return self.get(ConfigOption(key, parse_integer, default_value, ""))  # type: ignore[return-value]

    def set_integer(self, key: str, value: int) -> Configuration:
        """Set a whole number."""
        return self._set(key, int(value), str(int(value)))

    def get_boolean(self, key: str, default_value: bool) -> bool:
        """Return a value as a boolean.

        Raises:
            ConfigError: It is neither `true` nor `false`.
        """
        return self.get(ConfigOption(key, parse_boolean, default_value, ""))  # type: ignore[return-value]

    def set_boolean(self, key: str, value: bool) -> Configuration:
        """Set a boolean."""
        return self._set(key, value, java_text.boolean(value))

    def get_float(self, key: str, default_value: float) -> float:
        """Return a value as a number.

        Raises:
            ConfigError: It is not a number.
        """
        return self.get(ConfigOption(key, parse_float, float(default_value), ""))  # type: ignore[return-value]

    def set_float(self, key: str, value: float) -> Configuration:
        """Set a number."""
        return self._set(key, float(value), double_text(float(value)))

    def get_bytearray(self, key: str, default_value: bytearray) -> bytearray:
        """Return a value as bytes.

        Raises:
            ConfigError: It was not set by `set_bytearray`.
        """
        return self.get(ConfigOption(key, _parse_binary, default_value, ""))  # type: ignore[return-value]

    def set_bytearray(self, key: str, value: bytearray) -> Configuration:
        """Set bytes; as text they have YAML's tag `!!binary`."""
        if not isinstance(value, bytearray | bytes):
            raise ArgumentTypeError(f"configuration {key!r} = {value!r}: the value must be a bytearray")
        encoded = base64.b64encode(value).decode()
        return self._set(key, bytearray(value), f"{_BINARY}|-\n  {encoded}" if encoded else f'{_BINARY}""')

    def get(self, option: ConfigOption[T]) -> T | None:
        """Return the value of an option, converted, or its default; an alias is used if the key itself is not set.

        Raises:
            ConfigError: The value cannot be read as the option's type.
        """
        for key in (option.key, *option.aliases):
            if key in self._values:
                return option.parse(self._values[key])
        return option.default

    def add_all(self, other: Configuration, prefix: str | None = None) -> Configuration:
        """Copy all entries of another configuration, with `prefix` before their keys."""
        for key, value in other._values.items():
            self.set_string(f"{prefix or ''}{key}", value)
        self._typed |= {f"{prefix or ''}{key}": value for key, value in other._typed.items()}
        return self

    def add_all_to_dict(self, target_dict: dict[str, Any]) -> None:
        """Add all entries to a dict, with the types they were set with: text, numbers, booleans or bytes."""
        target_dict.update({**self._values, **self._typed})

    def with_prefix(self, prefix: str) -> dict[str, str]:
        """Return the entries whose key starts with `prefix`, for example `spark.`, keys unchanged."""
        return {key: value for key, value in self._values.items() if key.startswith(prefix)}

    def key_set(self) -> set[str]:
        """Return the keys."""
        return set(self._values)

    def contains_key(self, key: str) -> bool:
        """Return whether a key is set."""
        return key in self._values

    def to_dict(self) -> dict[str, str]:
        """Return the entries as a dict, which is a copy."""
        return dict(self._values)

    def remove_config(self, key: str) -> bool:
        """Unset a key; return whether it was set."""
        self._typed.pop(key, None)
        return self._values.pop(key, None) is not None

    def __eq__(self, other: object) -> bool:
        """Compare the entries."""
        return isinstance(other, Configuration) and self._values == other._values

    def __hash__(self) -> int:
        """Hash the entries."""
        return hash(frozenset(self._values.items()))

    def __str__(self) -> str:
        """Return for example `{parallelism.default=2}`, as Java prints a map, without secrets."""
        shown = java_text.in_hash_map_order(redacted(self._values))
        return f"{{{', '.join(f'{key}={value}' for key, value in shown.items())}}}"

    def __repr__(self) -> str:
        """Return the expression that makes this configuration, without secrets."""
        return f"Configuration.from_dict({redacted(self._values)!r})"
