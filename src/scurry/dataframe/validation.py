"""Checks of arguments, with the messages of `pyflink.dataframe`. Programs do not import this module."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeGuard

from scurry.errors import ArgumentError, ArgumentTypeError


def require_text(name: str, value: Any) -> str:
    """Return a text that is not empty.

    Args:
        name: The name of the argument, for messages.
        value: The text.

    Raises:
        TypeError: It is no text.
        ValueError: It is empty.
    """
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} must be a string")
    if not value:
        raise ArgumentError(f"{name} must not be empty")
    return value


def require_integer(name: str, value: Any, least: int | None = None, greatest: int | None = None) -> int:
    """Return a whole number, which True and False are not.

    Args:
        name: The name of the argument, for messages.
        value: The number.
        least: The smallest that is allowed; None for any.
        greatest: The greatest that is allowed; None for any.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is too small or too great.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError(f"{name} must be an integer")
    if least is not None and value < least:
        raise ArgumentError(f"{name} must be at least {least}, got {value}")
    if greatest is not None and value > greatest:
        raise ArgumentError(f"{name} must be less than or equal to {greatest}")
    return value


def require_number(name: str, value: Any, least: float | None = None) -> float:
    """Return a finite number.

    Args:
        name: The name of the argument, for messages.
        value: The number.
        least: The smallest that is allowed; None for any.

    Raises:
        TypeError: It is no number.
        ValueError: It is not finite, or too small.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentTypeError(f"{name} must be a number")
    if not math.isfinite(value):
        raise ArgumentError(f"{name} must be finite, got {value}")
    if least is not None and value < least:
        raise ArgumentError(f"{name} must be at least {least}, got {value}")
    return value


def require_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return one of several texts.

    Args:
        name: The name of the argument, for messages.
        value: The text.
        choices: The texts that are allowed.

    Raises:
        TypeError: It is no text.
        ValueError: It is none of them.
    """
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} must be a string")
    if value not in choices:
        raise ArgumentError(f"{name} must be one of {list(choices)}, got {value!r}")
    return value


def require_bool(name: str, value: Any) -> bool:
    """Return True or False.

    Raises:
        TypeError: It is neither.
    """
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{name} must be a boolean")
    return value


def require_options(name: str, value: Any) -> dict[str, str]:
    """Return a copy of options: keys and values that are texts.

    Args:
        name: The name of the argument, for messages.
        value: The options.

    Raises:
        TypeError: They are no dict, or a key or value is no text.
        ValueError: A key is empty.
    """
    if not isinstance(value, Mapping):
        raise ArgumentTypeError(f"{name} must be a dict of string keys and values")
    for key, each in value.items():
        if not isinstance(key, str):
            raise ArgumentTypeError("option keys must be strings")
        if not key:
            raise ArgumentError("option keys must not be empty")
        if not isinstance(each, str):
            raise ArgumentTypeError(f"option '{key}' must have a string value")
    return dict(value)


def are_texts(value: Any) -> TypeGuard[Sequence[str]]:
    """Return whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
