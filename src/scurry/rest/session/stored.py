"""Read the files of a session, which may be damaged, or those of another version of scurry."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from scurry.errors import SessionError

T = TypeVar("T")

#: The states of jobs that are over.
FINAL_STATES = ("FINISHED", "CANCELED", "FAILED")
#: The latest time in milliseconds that has a date.
_LATEST_MS = 253_402_300_799_000


def read_record(kind: type[T], file: Path) -> T:
    """Return an object whose fields a file has as JSON.

    Args:
        kind: A dataclass.
        file: The file.

    Raises:
        SessionError: The file is damaged.
    """
    content = _json(_text(file))
    if not isinstance(content, dict):
        raise SessionError("it is no JSON object")
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type] # T is a dataclass
    for name, field in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and name not in content:
            raise SessionError(f"it has no field {name!r}")
        if name in content and not _KINDS[str(field.type)](content[name]):
            raise SessionError(f"its field {name!r} is {content[name]!r:.100}")
    if unknown := [name for name in content if name not in fields]:
        raise SessionError(f"it has a field {unknown[0]!r:.100}, which this version of scurry does not know")
    return kind(**content)


def read_archive(file: Path) -> dict[str, Any] | None:
    """Return the answers of a job that is over by their paths, None if the archive is missing or damaged."""
    try:
        answers = {str(part["path"]): _json(part["json"]) for part in _json(_text(file))["archive"]}
        one = answers["/jobs/overview"]["jobs"][0]
        is_whole = (
            one["jid"] == file.name
            and one["state"] in FINAL_STATES
            and isinstance(one["name"], str)
            and isinstance(one["tasks"], dict)
            and all(map(_is_time, (one["start-time"], one["end-time"], one["duration"], one["last-modification"])))
        )
    except (SessionError, LookupError, TypeError):
        return None
    return answers if is_whole else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SessionError(getattr(error, "strerror", None) or str(error)) from None


def _json(text: str) -> Any:
    """Return the content of a text that can be sent on as JSON."""
    try:
        content = json.loads(text)
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise SessionError(str(error)) from None
    return content


def _is_time(value: Any) -> bool:
    return type(value) is int and -1 <= value <= _LATEST_MS


def _is_optional(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or test(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


#: Annotation of a field -> test of its values; numbers are times.
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "str": _is_text,
    "str | None": _is_optional(_is_text),
    "int": _is_time,
    "int | None": _is_optional(_is_time),
    "bool": lambda value: isinstance(value, bool),
    "list[str]": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "dict[str, str]": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
}
