"""Python's surroundings, those of a simulated machine: time, chance, names, threads of pools."""

from __future__ import annotations

import os
import random
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import get_ident
from types import SimpleNamespace
from typing import Any

import cloudpickle.cloudpickle

from scurry.testing.simulation.machine import Machine

__all__ = ["determined", "replaced"]

#: cloudpickle names each class that it pickles by value, once in a process; so the names are none of the machine's.
_CLASS_IDS = SimpleNamespace(uuid4=lambda: uuid.UUID(int=random.SystemRandom().getrandbits(128), version=4))
#: A module or class, the name of a function in it, and what stands there instead.
Replaced = tuple[Any, str, Any]


@contextmanager
def replaced(calls: Sequence[Replaced]) -> Iterator[None]:
    """Replace functions of modules and classes while a `with` block runs."""
    before = [(place, name, vars(place)[name]) for place, name, _ in calls]
    for place, name, call in calls:
        setattr(place, name, call)
    try:
        yield
    finally:
        for place, name, call in before:
            setattr(place, name, call)


def _in_this_thread(call: Callable[..., Any], elsewhere: Callable[..., Any]) -> Callable[..., Any]:
    own = get_ident()

    def chosen(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs) if get_ident() == own else elsewhere(*args, **kwargs)

    return chosen


@contextmanager
def determined(machine: Machine) -> Iterator[None]:
    """Let time and chance be those of the machine, and pools of threads work at once, while a `with` block runs.

    Other threads of the process keep Python's: what they do is no part of the schedule.
    """
    clock, chance, state = machine.clock, machine.chance, random.getstate()
    begun = clock.now

    def submit(pool: Any, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(call(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future

    random.seed(machine.chance.random())
    calls: list[Replaced] = [
        (time, "time", clock.wall),
        (time, "time_ns", lambda: int(clock.wall() * 1e9)),
        (time, "monotonic", clock.monotonic),
        (time, "perf_counter", lambda: clock.now - begun),
        (time, "sleep", machine.passes),
        (uuid, "uuid4", lambda: uuid.UUID(int=chance.getrandbits(128), version=4)),
        (os, "urandom", chance.randbytes),
        (os, "getpid", lambda: machine.pid),
        (socket, "gethostname", lambda: "simulated"),
        (ThreadPoolExecutor, "submit", submit),
    ]
    guarded = [(place, name, _in_this_thread(call, vars(place)[name])) for place, name, call in calls]
    with replaced([*guarded, (cloudpickle.cloudpickle, "uuid", _CLASS_IDS)]):
        try:
            yield
        finally:
            random.setstate(state)
