"""Processor time of a timer in-process: set for ever new keys in many batches, then all fired in time order.

    python bench/timers.py [COUNT] [--batch 100000] [--rounds 3] [--values]

Prints microseconds per timer, the least of all rounds. With --values each key has a text of 100 characters, too, which
its timer removes. Compare two commits in alternating runs, with PYTHONPATH.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.slots import EVENT
from scurry.runtime.state.store import DictStore

GROUPS, BLOCK, LATE = 64, 10_000, 1 << 60

spent: dict[str, float] = {}


@contextmanager
def measured(what: str) -> Iterator[None]:
    began = time.process_time()
    yield
    spent[what] = spent.get(what, 0) + time.process_time() - began


def write_back(backend: KeyedStateBackend, what: str) -> None:
    with measured(what):
        backend.flush()
    backend.forget()


def set_timers(store: DictStore, keys: list[int], values: bool) -> None:
    backend = KeyedStateBackend("op", store, GROUPS)
    for first in range(0, len(keys), BLOCK):
        block = keys[first : first + BLOCK]
        backend.prefetch(block)
        for key in block:
            entry = backend.select(key)
            if values:
                entry["text"] = f"{key:0100}"
            backend.register_timer(EVENT, LATE + key % 1000, None)
    write_back(backend, "writing what was set")


def fire_all(store: DictStore, values: bool) -> list[int]:
    fired: list[int] = []
    complete = False
    while not complete:
        backend = KeyedStateBackend("op", store, GROUPS, state_bytes=100 << 20)

        def on_timer(due: int, namespace: object, backend: KeyedStateBackend = backend) -> None:
            fired.append(due)
            if values:
                backend.entry.pop("text")

        complete = backend.fire_due(EVENT, LATE * 2, on_timer)
        write_back(backend, "writing what was fired")
    return fired


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=500_000)
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--values", action="store_true")
    args = parser.parse_args()
    gc.set_threshold(1_000_000, 100, 100)  # as in workers
    keys = list(range(args.count))
    random.Random(1).shuffle(keys)
    rounds = []
    for _ in range(args.rounds):
        spent.clear()
        store = DictStore()
        with measured("set"):
            for first in range(0, len(keys), args.batch):
                set_timers(store, keys[first : first + args.batch], args.values)
        with measured("fired"):
            fired = fire_all(store, args.values)
        assert len(fired) == len(keys) and fired == sorted(fired)
        rounds.append({**spent, "both": spent["set"] + spent["fired"]})
    least = min(rounds, key=lambda each: each["both"])
    print(", ".join(f"{what} {1e6 * seconds / args.count:.2f} µs" for what, seconds in least.items()))


if __name__ == "__main__":
    main()
