"""Decoders: convert state pages of an operator to results, in this process or on the workers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.graph import operators as ops
from scurry.graph.nodes import Origin
from scurry.graph.plan import OperatorPlan
from scurry.runtime.clock import ProcessingClock
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import RuntimeContext, StateAccess, TaskInfo
from scurry.runtime.keys import original_key
from scurry.runtime.savepoint.contents import keys_in, plain, stamped, states_in, unexpired
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.savepoint.naming import StateNames
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.expiry import Lifetimes
from scurry.runtime.state.layout import Entry as KeyEntry
from scurry.runtime.state.layout import Timer
from scurry.runtime.state.slots import EVENT, PROCESSING
from scurry.runtime.state.store import DictStore
from scurry.state.entries import WindowState, timers_of, windows_in
from scurry.state.functions import KeyedStateReaderFunction

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor

__all__ = ["Decoder", "FunctionDecoder", "StatesDecoder", "TimersDecoder", "WindowsDecoder"]


class Decoder(ABC):
    """Convert the keys of state pages to results; picklable for the workers."""

    @abstractmethod
    def __call__(self, pages: Iterable[Entry], /) -> Iterator[Any]:
        """Yield the results."""


@dataclass(frozen=True)
class StatesDecoder(Decoder):
    """Yield (key, {state name: value}) of keys that have state.

    Attributes:
        lifetimes: The lifetimes of states with a time to live, by name.
        now: When the savepoint was taken, in milliseconds; state that had expired by then is omitted.
    """

    lifetimes: Lifetimes
    now: int

    def __call__(self, pages: Iterable[Entry], /) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield a pair for each key with state."""
        for key, entry in keys_in(pages):
            states = states_in(unexpired(entry, self.lifetimes, self.now))
            if states:
                yield original_key(key), states


@dataclass(frozen=True)
class TimersDecoder(Decoder):
    """Yield timers."""

    def __call__(self, pages: Iterable[Entry], /) -> Iterator[Timer]:
        """Yield a Timer for each timer."""
        for key, entry in keys_in(pages):
            yield from timers_of(key, entry)


@dataclass(frozen=True)
class WindowsDecoder(Decoder):
    """Yield windows; the attributes are those of a `StatesDecoder`."""

    lifetimes: Lifetimes
    now: int

    def __call__(self, pages: Iterable[Entry], /) -> Iterator[WindowState]:
        """Yield a WindowState for each window."""
        for key, entry in keys_in(pages):
            yield from windows_in(key, unexpired(entry, self.lifetimes, self.now))


@dataclass(frozen=True)
class FunctionDecoder(Decoder):
    """Yield the results of a KeyedStateReaderFunction for each key."""

    function: KeyedStateReaderFunction
    uid: str
    names: StateNames
    now: int
    max_parallelism: int
    origin: Origin = field(default_factory=Origin.of_caller)

    def __call__(self, pages: Iterable[Entry], /) -> Iterator[Any]:
        """Yield the function's results."""
        operator = OperatorPlan(
            0, self.uid, type(self.function).__name__, ops.Operator(self.function), None, 1, self.origin
        )
        clock = ProcessingClock(lambda: self.now)
        states = _RegisteredStates(operator, clock, self.names)
        backend = KeyedStateBackend(self.uid, DictStore(), self.max_parallelism)
        states.bind(backend)
        info = TaskInfo(0, 1, self.max_parallelism, clock=clock)
        context: Any = RuntimeContext(operator, info, states)
        try:
            self.function.open(context)
        except Exception as error:
            raise operator_error(operator, error) from error
        try:
            for key, entry in keys_in(pages):
                backend.key, backend.entry = key, states.prepared(entry, self.now)
                try:
                    yield from self.function.read_key(original_key(key), _Context(entry)) or ()
                except Exception as error:
                    raise operator_error(operator, error, original_key(key)) from error
        finally:
            self.function.close()


class _RegisteredStates(StateAccess):
    """Provide states by descriptors, which must be known and may differ from the savepoint in their time to live."""

    def __init__(self, plan: OperatorPlan, clock: ProcessingClock, names: StateNames) -> None:
        super().__init__(plan, clock)
        self._names = names
        self._descriptors: dict[str, Any] = {}

    def get(self, descriptor: StateDescriptor, namespace: Any = None) -> Any:
        self._names.require(descriptor.name)
        self._descriptors[descriptor.name] = descriptor
        return super().get(descriptor, namespace)

    def prepared(self, entry: KeyEntry, now: int) -> KeyEntry:
        """Copy a key's entry, with access times for exactly the states whose descriptors have a time to live."""
        prepared = dict(entry)
        for name, descriptor in self._descriptors.items():
            expires, stored = descriptor.ttl_config is not None, self._names.lifetimes.get(name)
            if name not in entry or (stored is None and name not in self._names):
                continue
            if stored is not None and not expires:
                prepared[name] = plain(stored.kind, entry[name])
            elif stored is None and expires:
                prepared[name] = stamped(descriptor.kind, entry[name], now)
        return prepared


class _Context(KeyedStateReaderFunction.Context):
    def __init__(self, entry: KeyEntry) -> None:
        self._entry = entry

    def registered_event_time_timers(self) -> set[int]:
        """Return the times of the key's event-time timers, in milliseconds."""
        return {time for time, _ in self._entry.get(EVENT, ())}

    def registered_processing_time_timers(self) -> set[int]:
        """Return the times of the key's processing-time timers, in milliseconds."""
        return {time for time, _ in self._entry.get(PROCESSING, ())}
