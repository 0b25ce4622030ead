"""The content of a savepoint's entries: keys, each with the values of its states."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from scurry.common.types import Row
from scurry.errors import SavepointError
from scurry.runtime.keys import CanonicalKey
from scurry.runtime.parts import whole
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.state.backend import Index
from scurry.runtime.state.expiry import Lifetimes, live
from scurry.runtime.state.layout import Entry as KeyEntry
from scurry.runtime.state.layout import has_rows, is_run, page_of
from scurry.runtime.state.runs import stored_content
from scurry.runtime.state.slots import state_name


def load(uid: str, blob: bytes) -> Any:
    """Unpickle the blob of an entry.

    Raises:
        SavepointError: It contains objects of a class that this program does not have.
    """
    try:
        return stored_content(blob)
    except (ImportError, AttributeError) as error:
        raise SavepointError(
            f"the state of operator {uid!r} holds objects of a class that is not found here: {error}. Import the "
            "module that defines it, or define the class under the same name; what a job's script defined itself is "
            "looked for in __main__"
        ) from error


def keys_in(pages: Iterable[Entry]) -> Iterator[tuple[CanonicalKey, KeyEntry]]:
    """Yield the (canonical) keys of pages, each with its entry.

    Args:
        pages: All pages and runs of some key groups; runs are held in memory, as a newer one may have a key, too, and
            so are keys with parts.
    """
    return whole(_stored_in(pages))


def _stored_in(pages: Iterable[Entry]) -> Iterator[tuple[CanonicalKey, KeyEntry]]:
    """Yield keys and parts of keys."""
    runs: dict[str, list[tuple[int, Any]]] = {}
    rows: dict[str, list[tuple[int, Any]]] = {}
    for page in pages:
        content = load(page.uid, page.blob)
        if is_run(page.blob):
            runs.setdefault(page.uid, []).append((page.id, content))
        elif has_rows(page.blob):
            rows.setdefault(page.uid, []).append((page.id, content))
        elif not isinstance(content, Index):
            yield from page_of(content).items()
    for uid, some in runs.items():
        from scurry.runtime.state.run_groups import newest

        yield from newest(some, partial(load, uid))
    for uid, some in rows.items():
        from scurry.runtime.state import row_runs

        yield from row_runs.entries(some, partial(load, uid))


def unexpired(entry: KeyEntry, lifetimes: Lifetimes, now: int) -> KeyEntry:
    """Return an entry without state expired by `now` (ms) and without the times of values with a time to live."""
    if not lifetimes:
        return entry
    found = dict(entry)
    for slot, value in entry.items():
        lifetime = lifetimes.get(state_name(slot) or "")
        if lifetime is not None:
            alive = live(value, lifetime, now)
            if alive is None:
                del found[slot]
            else:
                found[slot] = plain(lifetime.kind, alive)
    return found


def states_in(entry: KeyEntry) -> dict[str, Any]:
    """Return the states of a key by name, without per-window state."""
    return {slot: value for slot, value in entry.items() if type(slot) is str}


def plain(kind: str, value: Any) -> Any:
    """Return the value of a state with a time to live, without the times."""
    if kind == "list":
        return [element for element, _ in value]
    if kind == "map":
        return {key: element for key, (element, _) in value.items()}
    return value[0]


def stamped(kind: str, value: Any, now: int) -> Any:
    """Return a value with times, the inverse of `plain`: everything was last accessed at `now` (ms)."""
    if kind == "list":
        return [(element, now) for element in value]
    if kind == "map":
        return {key: (element, now) for key, element in value.items()}
    return (value, now)


def as_text(value: Any) -> str | None:
    """Convert a value for a STRING column: leave text and None unchanged, convert everything else to JSON."""
    return value if value is None or type(value) is str else json.dumps(_json(value), ensure_ascii=False)


def _json(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Row):
        names = getattr(value, "_fields", None)
        return [_json(each) for each in value] if names is None else dict(zip(names, map(_json, value), strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {as_text(key): _json(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return _json(value._asdict())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_json(each) for each in value]
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return _json(vars(value)) if hasattr(value, "__dict__") else str(value)
