"""Timers of key groups in runs, against a set of all timers: any cut into parts, restart, kill and rescale."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.keys import groups_of, key_hash, subtask_of
from scurry.runtime.state import run_groups
from scurry.runtime.state.backend import KeyedStateBackend, stored_entries, take_over
from scurry.runtime.state.layout import GROUP_SHIFT, Entry, encoded
from scurry.runtime.state.runs import NEVER, Run, built, first_timers
from scurry.runtime.state.slots import DOMAINS, EVENT, PROCESSING
from scurry.runtime.state.store import DictStore
from support.cases import CASES
from support.runtime.parts import in_parts

GROUPS = 4
#: A timer of an odd time registers another one, so much later, when it fires.
LATER = 3

TIMES = st.one_of(st.integers(0, 5), st.integers(0, 5), st.sampled_from([MIN_TIME, -1, MAX_TIME - 1, MAX_TIME]))
KEYS = st.sampled_from([1, 2, "a", "2", b"y7"])
SPACES = st.sampled_from([None, None, None, (0, 10)])
TIMERS = st.tuples(st.sampled_from(["register", "register", "delete"]), KEYS, st.sampled_from(DOMAINS), TIMES, SPACES)
VALUES = st.tuples(st.just("value"), KEYS, st.sampled_from([None, 1, 2]))
FIRES = st.tuples(st.just("fire"), st.sampled_from(DOMAINS), TIMES)
BETWEEN = st.tuples(st.sampled_from(["restart", "restart", "rescale"]), st.integers(1, 3), st.booleans())
KILLS = st.tuples(st.just("kill"))
STEPS = st.lists(st.one_of(TIMERS, TIMERS, VALUES, FIRES, FIRES, BETWEEN, KILLS), min_size=10, max_size=50)


SET_2_AND_4 = [*[("register", 1, EVENT, time, None) for time in (2, 4)], ("restart", 1, False)]


def as_earlier_versions(entries: Iterable[Entry]) -> list[bytes]:
    return [pickle.dumps(entry, 5) if entry else b"" for entry in entries]


class Job:
    """The subtasks of an operator, each with a store and a backend that lasts until the next restart."""

    def __init__(self, state_bytes: int) -> None:
        self.state_bytes = state_bytes
        self.stores = [DictStore()]
        self.open()

    def open(self) -> None:
        self.committed = [DictStore(store) for store in self.stores]
        self.backends = [self.backend(store) for store in self.stores]

    def kill(self) -> None:
        """Lose what was written since the last restart, as a store does whose micro-batch is not committed."""
        self.stores = self.committed
        self.open()

    def timers(self) -> set[Any]:
        """Return the timers that readers of the state see."""
        return {
            (key, domain, *timer)
            for store in self.stores
            for key, entry in stored_entries("op", store).items()
            for domain in DOMAINS
            for timer in entry.get(domain, ())
        }

    def backend(self, store: DictStore) -> KeyedStateBackend:
        return KeyedStateBackend("op", store, GROUPS, state_bytes=self.state_bytes)

    def of(self, key: Any) -> KeyedStateBackend:
        backend = self.backends[subtask_of(key_hash(key), GROUPS, len(self.stores))]
        backend.select(key)
        return backend

    def restart(self) -> None:
        for backend in self.backends:
            backend.flush()
            backend.forget()
        self.open()

    def rescale(self, parallelism: int) -> None:
        """Give each key group to its new subtask, as a restore does."""
        self.restart()
        stored = [item for store in self.stores for item in store.items()]
        metas = [backend.meta for backend in self.backends]
        self.stores = [DictStore() for _ in range(parallelism)]
        for subtask, store in enumerate(self.stores):
            own = groups_of(subtask, GROUPS, parallelism)
            meta = type(metas[0])()
            for domain in DOMAINS:
                known = {group: time for each in metas for group, time in each.due[domain].items()}
                meta.due[domain].update({group: time for group, time in known.items() if group in own})
            pages = [
                (kind, number, blob)
                for (_, kind, number), blob in stored
                if kind == "page" and number >> GROUP_SHIFT in own
            ]
            take_over("op", [("meta", 0, pickle.dumps(meta)), *pages], store)
        self.open()

    def fire(self, domain: int, until: int) -> Iterator[list[Any]]:
        """Yield what fires in each subtask; a backend is full after each group of timers."""
        for number, store in enumerate(self.stores):
            fired: list[Any] = []
            while True:
                backend = self.backends[number]

                def on_timer(time: int, space: Any, backend: KeyedStateBackend = backend) -> None:
                    fired.append((time, backend.key, space, backend.entry.get("v")))  # noqa: B023
                    if time % 2 and 0 <= time < MAX_TIME - LATER:
                        backend.register_timer(domain, time + LATER, space)

                if backend.fire_due(domain, until, on_timer):
                    break
                backend.flush()
                backend.forget()
                self.backends[number] = self.backend(store)
            yield fired


def expected(timers: set[Any], domain: int, until: int, values: dict[Any, Any]) -> set[Any]:
    """Remove what is due from the timers, and return it."""
    fired = set()
    while due := [each for each in timers if each[1] == domain and each[2] <= until]:
        key, _, time, space = min(due, key=lambda each: each[2])
        timers.remove((key, domain, time, space))
        fired.add((time, key, space, values.get(key)))
        if time % 2 and 0 <= time < MAX_TIME - LATER:
            timers.add((key, domain, time + LATER, space))
    return fired


def check(steps: list[Any], state_bytes: int) -> None:
    job = Job(state_bytes)
    timers: set[Any] = set()
    values: dict[Any, Any] = {}
    committed = timers.copy(), values.copy()
    for action, *arguments in [
        *steps,
        ("restart", 1, False),
        ("fire", EVENT, MAX_TIME),
        ("fire", PROCESSING, MAX_TIME),
    ]:
        if action in ("register", "delete"):
            key, domain, time, space = arguments
            backend = job.of(key)
            (backend.register_timer if action == "register" else backend.delete_timer)(domain, time, space)
            (timers.add if action == "register" else timers.discard)((key, domain, time, space))
        elif action == "value":
            key, value = arguments
            job.of(key).entry["v"] = values[key] = value
        elif action == "fire":
            found = list(job.fire(*arguments))
            for fired in found:
                assert [time for time, *_ in fired] == sorted(time for time, *_ in fired)
            every = [each for fired in found for each in fired]
            assert len(every) == len(set(every))
            domain, until = arguments
            assert set(every) == expected(timers, domain, until, values)
        elif action == "kill":
            job.kill()
            timers, values = committed[0].copy(), committed[1].copy()
        else:
            parallelism, earlier = arguments
            with pytest.MonkeyPatch.context() as patch:
                if earlier:
                    patch.setattr(run_groups, "encoded", as_earlier_versions)
                    patch.setattr(run_groups, "times_of_timers", lambda entries, domain: None)
                job.restart()
            if action == "rescale":
                job.rescale(parallelism)
            assert job.timers() == timers
            committed = timers.copy(), values.copy()
    assert not timers


@settings(max_examples=CASES, deadline=None)
@given(STEPS, st.sampled_from([0, 3 * 1024, 1 << 30]), st.sampled_from([0, 1 << 30]))
@example([*SET_2_AND_4, ("fire", EVENT, 3), ("fire", EVENT, 5)], 1 << 30, 0)
@example([*SET_2_AND_4, ("fire", EVENT, 5), *SET_2_AND_4], 1 << 30, 0)
def test_timers_fire_once_in_time_order_over_any_parts_restarts_kills_and_rescales(
    steps: list[Any], state_bytes: int, many_due: int
) -> None:
    with in_parts(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_groups, "MANY_DUE", many_due)
        check(steps, state_bytes)


TIMER_SETS = st.sets(st.tuples(TIMES, SPACES), min_size=1, max_size=3)
ENTRIES = st.lists(st.dictionaries(st.sampled_from([EVENT, PROCESSING]), TIMER_SETS), max_size=5)


@settings(max_examples=CASES)
@given(ENTRIES)
def test_entries_are_read_as_they_were_written_by_versions_that_only_know_pickle(entries: list[Entry]) -> None:
    assert [pickle.loads(value) if value else {} for value in encoded(entries)] == entries


ONE_TIMER = st.builds(lambda domain, time: {domain: {(time, None)}}, st.sampled_from(DOMAINS), TIMES)


@settings(max_examples=CASES)
@given(st.one_of(ENTRIES, st.lists(ONE_TIMER, max_size=5)))
def test_entries_that_are_all_one_timer_are_written_as_others(entries: list[Entry]) -> None:
    values, timers = run_groups._encoded(entries)
    assert list(map(bytes, values)) == encoded(entries)
    assert [None if times is None else list(times) for times in timers] == first_timers(entries)


@settings(max_examples=CASES)
@given(st.lists(st.one_of(ONE_TIMER, st.dictionaries(st.sampled_from([*DOMAINS, "v"]), TIMER_SETS)), min_size=1))
def test_only_entries_that_are_one_timer_without_namespace_are_taken_for_one(entries: list[Entry]) -> None:
    keys = [b"i%d" % number for number in range(len(entries))]
    run = Run(built(range(len(entries)), keys, encoded(entries), first_timers(entries)))
    for domain in DOMAINS:
        places = [place for place, entry in enumerate(entries) if domain in entry]
        if not places:
            continue
        alone = run.are_timers(domain, np.array(places)).tolist()
        for place, is_alone in zip(places, alone, strict=True):
            times = [time for time, namespace in entries[place][domain] if namespace is None]
            is_one = list(entries[place]) == [domain] and len(entries[place][domain]) == len(times) == 1
            assert is_alone == (is_one and times[0] < MAX_TIME - 1)


@settings(max_examples=CASES)
@given(ENTRIES)
def test_the_earliest_timer_of_each_entry_is_found_and_the_last_time_is_not_taken_for_none(
    entries: list[Entry],
) -> None:
    for domain, times in zip(DOMAINS, first_timers(entries), strict=True):
        due = [min((time for time, _ in entry.get(domain, ())), default=None) for entry in entries]
        shown = [NEVER if time is None else min(time, NEVER - 1) for time in due]
        assert shown == ([NEVER] * len(entries) if times is None else times)
