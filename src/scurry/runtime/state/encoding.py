"""The encoding of the entries of runs: each is pickled by itself, and its earliest timers are listed beside it."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterable, Sequence

from scurry.runtime.state.layout import Entry
from scurry.runtime.state.runs import NEVER
from scurry.runtime.state.slots import DOMAINS, EVENT, PROCESSING

#: The pickle of an entry that is one timer without namespace, `{domain: {(time, None)}}`: what precedes its time, by
#: domain, and what follows.
_TEMPLATES = {EVENT: b"\x80\x05}K\x00\x8f(\x8a\x08", PROCESSING: b"\x80\x05}K\x01\x8f(\x8a\x08"}
_TAIL = b"N\x86\x90s."
_TIMER = struct.Struct(f"<{len(_TEMPLATES[EVENT])}sq{len(_TAIL)}s")


def encoded(entries: Iterable[Entry]) -> list[bytes]:
    """Return entries pickled, empty ones as no bytes.

    An entry that is one timer is pickled by a template, which takes half the time.
    """
    dumps, pack, templates = pickle.dumps, _TIMER.pack, _TEMPLATES
    values = []
    for entry in entries:
        if len(entry) == 1:
            ((slot, timers),) = entry.items()
            if slot in templates and len(timers) == 1:
                ((time, namespace),) = timers
                if namespace is None:
                    values.append(pack(templates[slot], time, _TAIL))
                    continue
        values.append(dumps(entry, 5) if entry else b"")
    return values


def first_timers(entries: Sequence[Entry]) -> list[list[int] | None]:
    """Return for each domain the earliest timer of each entry, `NEVER` for none; None if no entry has one."""
    found: list[list[int] | None] = []
    for domain in DOMAINS:
        timers = [entry.get(domain) for entry in entries]
        if not any(timers):
            found.append(None)
            continue
        times = [
            NEVER if each is None else next(iter(each))[0] if len(each) == 1 else min(time for time, _ in each)
            for each in timers
        ]
        if NEVER in times:  # which stands for none: a timer of the last time is taken as one of the last but one
            times = [NEVER if each is None else min(time, NEVER - 1) for time, each in zip(times, timers, strict=True)]
        found.append(times)
    return found
