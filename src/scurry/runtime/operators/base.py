"""The base classes of all runtime operators."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.key_records import KeyRecords
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import operator_error, shorten
from scurry.runtime.functions.context import RuntimeContext, StateAccess, TaskInfo
from scurry.runtime.functions.dead_letters import DeadLetters
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.slots import EVENT, PROCESSING
from scurry.runtime.state.store import DictStore, StateSize, StateStore


class RuntimeOperator:
    """One instance of an operator in a task.

    A chained operator is driven through `process` and `watermark`. A head operator is driven by its level task, through
    `process_input`, `advance` and, around each micro-batch of its subtask, `begin_batch` and `end_batch`.
    """

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        self.plan = plan
        self.collector = collector
        self.info = info
        self.states = StateAccess(plan, info.clock)
        self._reaching_state: list[Any] = []
        #: the inputs whose first block has arrived
        self._looked_at: set[int] = set()
        tag = plan.dead_letters
        self.dead_letters = None if tag is None else DeadLetters(plan, tag, collector, info)

    # ---------------------------------------------------------------- life cycle

    def functions(self) -> list[Any]:
        """Return the user's function objects, to be opened and closed."""
        return [self.plan.operator.function]

    def open(self) -> None:
        """Open the user's functions."""
        self._reaching_state = [
            function for function in self.functions() if hasattr(function, "open") and self._open(function)
        ]
        self.states.registry.opened = True

    def _open(self, function: Any) -> bool:
        """Open a function; return whether it can reach state from now on."""
        context = RuntimeContext(self.plan, self.info, self.states)
        self.call(function.open, context)
        asked, kept = context.gave_state, weakref.ref(context)
        del context
        return asked or kept() is not None  # a function that keeps the context may ask for state later

    def close(self) -> None:
        """Close the user's functions."""
        for function in self.functions():
            if hasattr(function, "close"):
                self.call(function.close)

    def call(self, hook: Callable[..., Any], *args: Any) -> Any:
        """Call a hook of the user that concerns no particular record."""
        try:
            return hook(*args)
        except Exception as error:
            raise operator_error(self.plan, error) from error

    def guarded(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        """Return a hook that returns several results per record, guarded if the operator has dead letters."""
        return hook if self.dead_letters is None else self.dead_letters.guarded(hook)

    def watched(self, index: int, hook: Callable[..., Any]) -> Callable[..., Any]:
        """Return a hook for a block of input `index`; in the first block, report text returned as results."""
        if index in self._looked_at:
            return hook
        self._looked_at.add(index)

        def call(*arguments: Any) -> Any:
            some = hook(*arguments)
            if type(some) is str and some:
                shown = shorten(some)
                text = (
                    f"{self.plan.name!r} ({self.plan.origin}) returned the text {shown} and emits it letter by letter: "
                    "yield it, or return [text]"
                )
                self.info.report.notes.append(text)
            return some

        return call

    # ---------------------------------------------------------------- state of the subtask that belongs to no key

    def begin_batch(self, store: StateStore, watermark: int) -> None:
        """Begin a batch of this subtask at this watermark: load the operator's state besides keyed state."""

    def end_batch(self, store: StateStore) -> StateSize:
        """End the batch: write back the changes besides keyed state; return the size of that state."""
        return StateSize()

    # ---------------------------------------------------------------- chained

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Process a block from the operator it is chained to."""
        raise NotImplementedError

    def watermark(self, watermark: int) -> None:
        """Process a watermark from the operator it is chained to."""
        self.collector.watermark(watermark)

    # ---------------------------------------------------------------- as head of a task

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        """Process a block of input `index` from the exchange."""
        self.process(values, timestamps)

    def advance(self, watermark: int, stamp: int) -> Iterable[None]:
        """Advance event time and processing time to these values; an item asks for a new part of the batch."""
        self.info.clock.advance_to(stamp)
        self.watermark(watermark)
        return ()


class KeyedOperator(RuntimeOperator):
    """An operator with keyed state and timers.

    Attributes:
        fires_in_parts: Whether timers that are due may fire in parts, with `emit_after_timers` after each.
    """

    fires_in_parts = True

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self.current_watermark = MIN_TIME
        # open() may create states before the first batch: give them a backend to belong to
        self.backend = KeyedStateBackend(plan.uid, DictStore())
        self.states.bind(self.backend)

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        """Use this backend for a part of a batch of the subtask, which begins at this watermark."""
        self.backend = backend
        self.states.bind(backend)
        self.current_watermark = watermark

    def found(self, keys: Sequence[Any], function: Any) -> Iterable[Entry]:
        """Return the entries of the keys of a block, for a loop that takes one and calls `function`.

        If `function` can reach state, taking an entry also makes its key current; otherwise the loop need not.
        """
        if any(each is function for each in self._reaching_state):
            return map(self.backend.select, keys)
        return self.backend.found(keys)

    def advance(self, watermark: int, stamp: int) -> Iterator[None]:
        """Fire the processing-time timers due, then, if the watermark rises, the event-time timers due.

        Yields:
            Whenever the state that was touched takes up much memory: `bind` is called with a new backend then.
        """
        self.info.clock.advance_to(stamp)
        now, in_parts = self.info.clock.now(), self.fires_in_parts
        while not self.backend.fire_due(PROCESSING, now, self.on_processing_time, in_parts):
            yield
        rises = watermark > self.current_watermark
        if rises:
            self.set_watermark(watermark)
            while not self.backend.fire_due(EVENT, watermark, self.on_event_time, in_parts):
                yield
        self.emit_after_timers()
        if rises:
            self.collector.watermark(self.outgoing(watermark))

    def outgoing(self, watermark: int) -> int:
        """Return the watermark of the results, of that of the input."""
        return watermark

    def process_keys(self, records: KeyRecords, begin: Callable[[Any], None], watermark: int) -> None:
        """BATCH: process all records of some keys, key after key.

        Args:
            begin: Makes a key the current one; called before its records are processed.
        """
        for number, key in enumerate(records.keys):
            begin(key)
            for index, values, times in records.parts_of(number):
                self.process_input(index, [key] * len(values), values, times)
            self.backend.select(key)
            self.end_of_key(watermark)

    def end_of_key(self, watermark: int) -> None:
        """BATCH: fire the timers of the current key up to the watermark, because it has no more records.

        At the end of time, processing-time timers fire, too; otherwise they wait for the job that takes over the state.
        """
        self.set_watermark(watermark)
        self.backend.fire_due(EVENT, watermark, self.on_event_time)
        if watermark == MAX_TIME:
            self.backend.fire_due(PROCESSING, watermark, self.on_processing_time)
        self.emit_after_timers()

    def write_back(self) -> None:
        """Move the state of a part of a batch from memory to keyed state; called before that is written back."""

    def emit_after_timers(self) -> None:
        """Emit the results gathered while timers fired; called when all due ones have fired, or a part ends."""

    def set_watermark(self, watermark: int) -> None:
        """Set the current watermark of user code."""
        self.current_watermark = watermark

    def on_event_time(self, time: int, namespace: Any) -> None:
        """Handle an event-time timer of the backend's current key."""

    def on_processing_time(self, time: int, namespace: Any) -> None:
        """Handle a processing-time timer of the backend's current key."""
