"""Options of connectors and formats, which parameters and dictionaries give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scurry.dataframe.validation import require_options, require_text
from scurry.errors import ArgumentError, ArgumentTypeError


def text_of_flag(name: str, value: Any) -> str | None:
    """Return True or False as an option.

    Raises:
        TypeError: It is neither, nor None.
    """
    if value is None:
        return None
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{name} must be a bool or None")
    return str(value).lower()


def text_of_number(name: str, value: Any) -> str | None:
    """Return a whole number as an option.

    Raises:
        TypeError: It is none, nor None.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError(f"{name} must be an int or None")
    return str(value)


def optional_text(name: str, value: Any) -> str | None:
    """Return a text as an option.

    Raises:
        TypeError: It is none, nor None.
    """
    if value is not None and not isinstance(value, str):
        raise ArgumentTypeError(f"{name} must be a string or None")
    found: str | None = value
    return found


def merged(given: Mapping[str, str], generated: Mapping[str, str | None]) -> dict[str, str]:
    """Return options of a dictionary and those of parameters, which do not contradict each other.

    Raises:
        ValueError: They do.
    """
    found = dict(given)
    for key, value in generated.items():
        if value is None:
            continue
        if found.get(key, value) != value:
            raise ArgumentError(f"conflicting values for option '{key}'")
        found[key] = value
    return found


def with_prefix(format: str, given: Any) -> dict[str, str]:
    """Return options of a format with its name in front; they may have it already.

    Raises:
        TypeError: They are no dict of texts.
        ValueError: One is given in both ways.
    """
    found: dict[str, str] = {}
    for key, value in (require_options("format_options", given) if given is not None else {}).items():
        full = key if key.startswith(f"{format}.") else f"{format}.{key}"
        if full in found:
            raise ArgumentError(f"duplicate format option: '{full}'")
        found[full] = value
    return found


def options_of_files(
    path: Any,
    format: str,
    connector_options: Any,
    format_options: Any,
    of_connector: Mapping[str, str | None],
    of_format: Mapping[str, str | None],
) -> dict[str, str]:
    """Return the options of a table of files.

    Args:
        path: Where the files are.
        format: Their format.
        connector_options: Options of the connector, as the program gave them.
        format_options: Options of the format, with or without its name in front.
        of_connector: Options of the connector that parameters gave; None for those left out.
        of_format: Options of the format that parameters gave.

    Raises:
        TypeError: An option is no text.
        ValueError: Options contradict each other, or are in the wrong place.
    """
    require_text("path", path)
    given = {} if connector_options is None else require_options("connector_options", connector_options)
    for key in ("path", "format", "connector"):
        if key in given:
            raise ArgumentError(f"'{key}' must not be specified in connector_options")
    for key in given:
        if key.startswith(f"{format}."):
            raise ArgumentError(f"format option '{key}' must be specified in format_options")
    connector = merged(given, of_connector)
    return {"path": path, "format": format, **connector, **merged(with_prefix(format, format_options), of_format)}


def partition_columns(given: Any) -> list[str]:
    """Return the columns of partitions.

    Raises:
        TypeError: They are no text and no list of texts.
        ValueError: No one is given, one is empty, or one is given twice.
    """
    if given is None:
        return []
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ArgumentTypeError("partition_by must be a string or a list of strings")
    if not names:
        raise ArgumentError("partition_by must not be empty")
    if not all(names):
        raise ArgumentError("partition_by column names must not be empty")
    if len(set(names)) != len(names):
        raise ArgumentError("partition_by column names must not be duplicated")
    return list(names)
