"""Durations as values of table options."""

from __future__ import annotations

from scurry.common._config.option import parse_duration


def duration(text: str) -> int:
    """Return the milliseconds of a duration such as `10 s` or `PT10S`.

    Raises:
        ValueError: It is no duration.
    """
    try:
        return parse_duration(text)
    except ValueError:
        raise ValueError(
            f"text does not start with a number, and is not a valid ISO-8601 duration format: {text}"
        ) from None
