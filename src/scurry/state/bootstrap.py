"""Creation of state from records, with the operators that would create it in a job."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.clock import ProcessingClock
from scurry.runtime.exchange.collector import Collector
from scurry.runtime.exchange.key_selection import Keys
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.keys import CanonicalKey, key_hash
from scurry.runtime.operators import KeyedOperator, create_operator
from scurry.runtime.savepoint.contents import stamped
from scurry.runtime.savepoint.entries import entries_of
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.broadcast import BroadcastStates
from scurry.runtime.state.registry import StateRegistry, merge_schemas
from scurry.runtime.state.schema import own_schemas
from scurry.runtime.state.store import DictStore
from scurry.runtime.state.types import ANY
from scurry.state.functions import KeyedStateBootstrapFunction

__all__ = ["KeyedBootstrap", "StatesFunction", "Timestamps", "broadcast_entries"]

#: Returns the timestamp of a record, in milliseconds.
Timestamps = Callable[[Any], int]

#: Keys, records and timestamps (or None) of a block of records.
Block = tuple[list[CanonicalKey], list[Any], list[int] | None]


@dataclass(frozen=True)
class KeyedBootstrap:
    """Create the keyed state of an operator; picklable for the workers.

    Attributes:
        operator: The operator, with its uid.
        partitioner: Extracts the records' keys.
        timestamps: Returns a record's timestamp; None if records have none.
        max_parallelism: The number of key groups.
    """

    operator: OperatorPlan
    partitioner: ops.Hash
    timestamps: Timestamps | None
    max_parallelism: int

    def block(self, values: list[Any]) -> Block:
        """Return records with their keys and timestamps."""
        return Keys(self.partitioner, self.operator)(values), values, self._times(values)

    def _times(self, values: list[Any]) -> list[int] | None:
        if self.timestamps is None:
            return None
        times = []
        for value in values:
            try:
                times.append(int(self.timestamps(value)))
            except Exception as error:
                raise operator_error(self.operator, error, value, "the timestamp assigner failed") from error
        return times

    def groups(self, keys: Iterable[CanonicalKey]) -> list[int]:
        """Return the key groups of keys."""
        return [key_hash(key) % self.max_parallelism for key in keys]

    def entries(self, parts: Iterable[tuple[int, Iterable[Block]]], schemas: dict[str, Any]) -> Iterator[Entry]:
        """Yield the entries for a savepoint; the state of one part is held in memory at a time.

        Args:
            parts: The number and the records of each part; all records of a key group are in the same part.
            schemas: Receives the schemas of the states, as JSON by name.
        """
        info = TaskInfo(0, 1, self.max_parallelism, clock=ProcessingClock())
        operator = create_operator(self.operator, Collector(self.operator), info)
        assert isinstance(operator, KeyedOperator)
        operator.open()
        try:
            for number, blocks in parts:
                store = DictStore()
                backend = KeyedStateBackend(self.operator.uid, store, self.max_parallelism)
                operator.bind(backend, MIN_TIME)
                for keys, values, times in blocks:
                    operator.process_input(0, keys, values, times)
                try:
                    backend.flush()
                except Exception as error:
                    hint = "state values must fit their declared type and be picklable"
                    raise operator_error(self.operator, error, hint=hint) from error
                yield from entries_of(store, number)
        finally:
            operator.close()
        merge_schemas(schemas, schemas_of(self.operator, operator.states.registry))


class StatesFunction(KeyedStateBootstrapFunction):
    """Write the state values that a record contains.

    Args:
        split: Returns the state values of a record by name.
        descriptors: The states' descriptors; without any, values are stored unconverted.
    """

    def __init__(self, split: Callable[[Any], Mapping[str, Any]], descriptors: Iterable[Any]) -> None:
        self._split = split
        self._descriptors = {descriptor.name: descriptor for descriptor in descriptors}

    def open(self, runtime_context: Any) -> None:
        """Register the states."""
        for descriptor in self._descriptors.values():
            runtime_context.get_state(descriptor)
        self._convert = {
            name: convert
            for name, descriptor in self._descriptors.items()
            if descriptor.kind in ("value", "list", "map") and (convert := descriptor.type_info.converter())
        }

    def process_element(self, value: Any, ctx: Any) -> None:
        """Write the states of a key."""
        service = ctx.timer_service()
        entry, now = service.backend.entry, service.current_processing_time()
        for name, content in self._split(value).items():
            if content is not None and not (isinstance(content, (list, dict)) and not content):
                entry[name] = self._stored(name, content, now) if self._descriptors else content

    def _stored(self, name: str, content: Any, now: int) -> Any:
        descriptor = self._descriptors.get(name)
        if descriptor is None:
            known = ", ".join(map(repr, self._descriptors))
            raise ArgumentError(f"there is no descriptor for the state {name!r}; there are descriptors for {known}")
        if name in self._convert:
            content = self._convert[name](content)
        return content if descriptor.ttl_config is None else stamped(descriptor.kind, content, now)


def broadcast_entries(operator: OperatorPlan, records: Iterable[Any], schemas: dict[str, Any]) -> Iterator[Entry]:
    """Yield the entry with the broadcast state that a BroadcastStateBootstrapFunction creates from records.

    Args:
        operator: The operator, with its uid.
        records: The records.
        schemas: Receives the schemas of the states, as JSON by name.
    """
    function, clock, registry = operator.operator.function, ProcessingClock(), StateRegistry(operator)
    registry.opened = True  # schemas of states that the function registers after open() are reported, too
    states = BroadcastStates(operator.uid, registry)
    context = _BroadcastContext(states, clock)
    value = None
    try:
        function.open(None)
        for value in records:
            function.process_element(value, context)
        function.close()
    except Exception as error:
        raise operator_error(operator, error, value) from error
    entry = {name: mapping for name, mapping in states.entry.items() if mapping}
    if entry:
        blob = pickle.dumps(entry, 5)
        registry.classes.look_at(blob)
        yield Entry(operator.uid, "broadcast", 0, 0, blob)
    merge_schemas(schemas, schemas_of(operator, registry))


class _BroadcastContext:
    def __init__(self, states: BroadcastStates, clock: ProcessingClock) -> None:
        self.get_broadcast_state = states.writable
        self.current_processing_time = clock.now


__all__ = ["schemas_of"]


def schemas_of(plan: OperatorPlan, registry: StateRegistry) -> dict[str, Any]:
    """Return the schemas (as JSON) of the states that an operator and its functions have written, by name."""
    # in a plan of its own, the operator's inputs have no declared type: its own state is identified by layout
    own = own_schemas(JobPlan(JobSettings(plan.name, 1)), plan)
    # a broadcast state that is given by its name has no type that a job could contradict
    written = {name: schema for name, schema in registry.news().items() if not _is_unknown(schema)}
    return {name: schema.to_json() for name, schema in own.items()} | written


def _is_unknown(schema: dict[str, Any]) -> bool:
    return schema.get("kind") == "broadcast" and schema.get("type") == ["MAP", ANY, ANY]
