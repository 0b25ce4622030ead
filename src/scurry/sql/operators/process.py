"""Process table functions in STREAMING: state and timers by partition."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scurry.common.types import Row
from scurry.graph import operators as ops
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.process.runner import ProcessRunner, TableRows
from scurry.sql.evaluation.user_functions.opened import OpenFunctions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.process import DeclaredState
from scurry.sql.operators.calc import function_context
from scurry.sql.operators.expiry import StateTtl
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.rewriting import without_inputs
from scurry.sql.types.values import to_values


def stored(value: Any) -> bytes:
    """Return a value of a state entry as bytes."""
    return pickle.dumps(_fields(value), 5)


def restored(kept: bytes, declared: DeclaredState) -> Any:
    """Return the value that was stored; fields that it did not have are those of a new one."""
    value, fields = declared.make(), pickle.loads(kept)
    if isinstance(value, Row):
        known = value.as_dict()
        for name, each in fields.items():
            if name in known:
                value[name] = each
    else:
        vars(value).update(fields)
    return value


def is_empty(value: Any, declared: DeclaredState) -> bool:
    """Return whether a value is that of a partition without state, which need not be kept."""
    return bool(_fields(value) == _fields(declared.make()))


def _fields(value: Any) -> Any:
    return value.as_dict() if isinstance(value, Row) else vars(value)


if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering

#: The slot of a partition's timers: times by name, times without one, and the values of its key.
_TIMERS = "timers"
#: The namespaces of timers without a name, and the prefix of those of timers with a name.
_UNNAMED, _NAMED = "timer", "timer "
#: Prefixes of the slots of state entries; also the namespaces of the timers that expire them.
_STATE = "state "


def lower_process_table(lowering: Lowering, plan: ProcessTableFunction) -> Node:
    """Return the node that calls a function: partitioned if it has tables with set semantics."""
    bare, inputs = without_inputs(plan), [lowering.node(each) for each in plan.sources]
    if not plan.is_partitioned:
        return lowering.operator(inputs[0], ops.FlatMap(ProcessRows(bare, lowering.session)), "ProcessTableFunction")
    function = ProcessPartitions(bare, lowering.state_ttl, lowering.session)
    keys = [each.partition_by for each in plan.tables]
    return lowering.keyed(inputs, keys, function, f"ProcessTableFunction[{plan.uid}]")


class _Opened:
    """Opens and closes the function."""

    def __init__(self, plan: ProcessTableFunction, session: EvaluationContext) -> None:
        self._plan = plan
        self._session = session
        self._functions = OpenFunctions()

    def open(self, context: Any) -> None:
        self._functions = OpenFunctions(function_context(context, self._session))
        self._runner = ProcessRunner(self._plan, replace(self._session, functions=self._functions))

    def close(self) -> None:
        self._functions.close()

    def _taken(self) -> list[Changes]:
        found = self._runner.take()
        return [] if found is None else [Changes(found)]


class ProcessRows(_Opened):
    """Call a function for rows that have nothing to do with each other."""

    def flat_map(self, changes: Changes) -> list[Changes]:
        rows = TableRows(self._runner, 0, changes.batch, changes.kinds)
        for position in range(changes.batch.num_rows):
            self._runner.eval(rows, position, None, None)
        return self._taken()


class ProcessPartitions(_Opened, KeyedRowsFunction):
    """Call a function for rows by partition, and for timers."""

    def __init__(self, plan: ProcessTableFunction, ttl: int, session: EvaluationContext) -> None:
        """Describe the call.

        Args:
            plan: The call; of its inputs only the columns matter.
            ttl: Milliseconds after which state that does not change is forgotten where the function does not say it;
                0 for never.
        """
        super().__init__(plan, session)
        self._ttl = ttl

    def open(self, context: Any) -> None:
        super().open(context)
        self._states = [
            replace(each, ttl=self._ttl if each.ttl is None else each.ttl) for each in self._plan.signature.states
        ]
        self._partitions: dict[Any, _Partition] = {}

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the rows that the function makes of rows of a table."""
        context.prefetch(rows.keys)
        found = TableRows(self._runner, index, rows.changes.batch, rows.changes.kinds)
        columns = [to_values(rows.changes.batch.column(place)) for place in self._plan.tables[index].partition_by]
        watermark = _watermark(context)
        for position, group_id in enumerate(rows.group_ids.tolist()):
            partition = self._partition(rows.keys[group_id], context)
            partition.keys = tuple(column[position] for column in columns)
            self._runner.eval(found, position, partition, watermark)
        return self._taken()

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Call the function for a timer."""
        partition = self._partition(context.key, context)
        keys = partition.note_timer(time, namespace)
        if keys is not None:
            name = None if namespace == _UNNAMED else namespace.removeprefix(_NAMED)
            self._runner.on_timer(partition, keys, time, name, context.watermark)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget a state entry that has not changed for long enough."""
        self._partition(context.key, context).expire(namespace.removeprefix(_STATE), time)

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the rows that the function has made for timers."""
        return self._taken()

    def write_back(self, context: RowsContext) -> None:
        """Keep the state of the partitions."""
        partitions, self._partitions = self._partitions, {}
        for key, partition in partitions.items():
            context.select(key)
            partition.write_back()

    def _partition(self, key: Any, context: RowsContext) -> _Partition:
        """Return a partition, which is the current one then."""
        context.select(key)
        found = self._partitions.get(key)
        if found is None:
            found = self._partitions[key] = _Partition(self._states, context)
        return found


class _Partition:
    """State and timers of a key: values in memory during a micro-batch, in keyed state between two."""

    def __init__(self, states: list[DeclaredState], context: RowsContext) -> None:
        self._states = states
        self._names = [each.name for each in states]
        self._ttls = {each.name: StateTtl(each.ttl or 0) for each in states}
        self._context = context
        self._cleared: set[str] = set()
        self.keys: tuple[Any, ...] = ()
        self.values = [self._read(each) for each in states]

    def _read(self, declared: DeclaredState) -> Any:
        kept = self._context.state.get(_STATE + declared.name)
        if kept is None or self._ttls[declared.name].has_expired(kept[1], self._context.processing_time):
            return declared.make()
        return restored(kept[0], declared)

    def clear_state(self, name: str) -> None:
        self._cleared.add(name)

    def called(self) -> None:
        cleared, self._cleared = self._cleared, set()
        for name in cleared:
            place = self._names.index(name)
            self.values[place] = self._states[place].make()

    def write_back(self) -> None:
        """Keep the values that have changed; this is the current key."""
        context = self._context
        for declared, value in zip(self._states, self.values, strict=True):
            slot = _STATE + declared.name
            known = context.state.get(slot)
            if is_empty(value, declared):
                if known is not None:
                    del context.state[slot]
                continue
            kept = stored(value)
            if known is not None and known[0] == kept:
                continue
            ttl = self._ttls[declared.name]
            now = ttl.now(context)
            context.state[slot] = (kept, now)
            if known is None:
                ttl.register(now, context, slot)

    def expire(self, name: str, time: int) -> None:
        """Forget an entry if it has not changed for long enough; otherwise look again when it may have."""
        slot, place = _STATE + name, self._names.index(name)
        known = self._context.state.get(slot)
        if known is not None and self._ttls[name].is_over(known[1], time, self._context, slot):
            del self._context.state[slot]
            self.values[place] = self._states[place].make()

    def register_timer(self, name: str | None, time: int) -> None:
        named, unnamed, _ = self._timers()
        if name is None:
            unnamed.add(time)
            self._context.register_event_timer(time, _UNNAMED)
        else:
            if name in named:
                self._context.delete_event_timer(named[name], _NAMED + name)
            named[name] = time
            self._context.register_event_timer(time, _NAMED + name)
        self._keep_timers(named, unnamed)

    def clear_timer(self, timer: str | int) -> None:
        named, unnamed, _ = self._timers()
        if isinstance(timer, int):
            unnamed.discard(timer)
            self._context.delete_event_timer(timer, _UNNAMED)
        elif timer in named:
            self._context.delete_event_timer(named.pop(timer), _NAMED + timer)
        self._keep_timers(named, unnamed)

    def clear_all_timers(self) -> None:
        named, unnamed, _ = self._timers()
        timers: list[str | int] = [*named, *unnamed]
        for timer in timers:
            self.clear_timer(timer)

    def note_timer(self, time: int, namespace: str) -> tuple[Any, ...] | None:
        """Note that a timer has fired, and return the values of the key; None if it was cleared."""
        named, unnamed, keys = self._timers()
        name = namespace.removeprefix(_NAMED)
        if namespace == _UNNAMED and time in unnamed:
            unnamed.discard(time)
        elif namespace != _UNNAMED and named.get(name) == time:
            del named[name]
        else:
            return None
        self.keys = keys
        self._keep_timers(named, unnamed)
        return keys

    def _timers(self) -> tuple[dict[str, int], set[int], tuple[Any, ...]]:
        named, unnamed, keys = self._context.state.get(_TIMERS, ({}, (), self.keys))
        return dict(named), set(unnamed), keys

    def _keep_timers(self, named: dict[str, int], unnamed: set[int]) -> None:
        if named or unnamed:
            self._context.state[_TIMERS] = (named, tuple(sorted(unnamed)), self.keys)
        else:
            self._context.state.pop(_TIMERS, None)


def _watermark(context: RowsContext) -> int | None:
    return None if context.watermark == MIN_TIME else context.watermark
