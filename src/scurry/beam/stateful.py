"""Stages with state and timers by key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from apache_beam.coders.coder_impl import create_OutputStream
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners import pipeline_context

from scurry.beam.functions import StageRunner
from scurry.beam.side_inputs import SideInputs
from scurry.beam.stages import Stage
from scurry.beam.times import beams_watermark, scurrys_watermark
from scurry.errors import UnsupportedError
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.keys import key_hash, subtask_of
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext

#: The slots of a key: its states, and its timers.
_STATES, _TIMERS = "beam states", "beam timers"
_EVENT_TIME = beam_runner_api_pb2.TimeDomain.EVENT_TIME


def _channel_coder(components: bytes, collection: str) -> Any:
    context = pipeline_context.PipelineContext(beam_runner_api_pb2.Components.FromString(components))
    return context.coders[f"channel:{collection}"]


class PartitionElements:
    """Split chunks of encoded pairs by subtask.

    Args:
        components: The coders of the collection, as Beam's Components.
    """

    def __init__(self, components: bytes, collection: str) -> None:
        self._components, self._collection = components, collection
        self._coder: Any = None

    def __call__(self, chunk: bytes, max_parallelism: int, receivers: int) -> list[tuple[int, bytes]]:
        """Return the subtasks that get elements, with their elements."""
        if receivers == 1:
            return [(0, chunk)]
        if self._coder is None:
            self._coder = _channel_coder(self._components, self._collection)
        key, coder = self._coder.wrapped_value_coder.key_coder().get_impl(), self._coder.get_impl()
        parts: dict[int, Any] = defaultdict(create_OutputStream)
        for element in coder.decode_all(chunk):
            subtask = subtask_of(key_hash(key.encode_nested(element.value[0])), max_parallelism, receivers)
            coder.encode_to_stream(element, parts[subtask], True)
        return [(subtask, stream.get()) for subtask, stream in parts.items()]

    def __getstate__(self) -> dict[str, Any]:
        """Leave the coder out: it is made of the components."""
        return {**self.__dict__, "_coder": None}


class KeyedStates:
    """The state of all keys, as the SDK harness asks for it: encoded elements."""

    def __init__(self) -> None:
        self.entry_of: Any = None

    def _states(self, key: Any) -> tuple[dict[Any, Any], tuple[str, str, bytes], str]:
        kind = key.WhichOneof("type")
        if kind not in ("bag_user_state", "ordered_list_user_state"):
            raise UnsupportedError(f"ScurryRunner keeps no state of the kind {kind!r}")
        asked = getattr(key, kind)
        states = self.entry_of(asked.key).setdefault(_STATES, {})
        return states, (asked.transform_id, asked.user_state_id, asked.window), kind

    def get(self, key: Any, coder: Any) -> Iterable[Any]:
        """Return the elements of a state."""
        states, slot, kind = self._states(key)
        if kind == "bag_user_state":
            return list(coder.decode_all(b"".join(states.get(slot, ()))))
        asked = key.ordered_list_user_state.range
        return [
            element
            for place, encoded in states.get(slot, ())
            if asked.start <= place < asked.end
            for element in coder.decode_all(encoded)
        ]

    def extend(self, key: Any, coder: Any, elements: Iterable[Any]) -> None:
        """Add elements to a state."""
        states, slot, kind = self._states(key)
        if kind == "bag_user_state":
            encoded = b"".join(map(coder.encode_nested, elements))
            states[slot] = [*states.get(slot, ()), encoded]
            if len(states[slot]) > _MOST_PIECES:
                states[slot] = [b"".join(states[slot])]
            return
        added = [(element[0], coder.encode_nested(element)) for element in elements]
        states[slot] = sorted([*states.get(slot, ()), *added], key=lambda each: each[0])

    def clear(self, key: Any) -> None:
        """Clear a state."""
        states, slot, kind = self._states(key)
        if kind == "bag_user_state":
            states.pop(slot, None)
            return
        asked = key.ordered_list_user_state.range
        states[slot] = [each for each in states.get(slot, ()) if not asked.start <= each[0] < asked.end]
        if not states[slot]:
            del states[slot]


#: So many pieces of a bag, each added by one bundle, become one.
_MOST_PIECES = 64


class RunStatefulStage(KeyedRowsFunction):
    """Run a stage with state and timers.

    In STREAMING these are keyed state and timers of scurry. In BATCH each subtask has the state of its keys in memory,
    and timers fire when the input has ended, key by key in the order of their times; what they set fires, too.

    Args:
        components: The coders of the inputs of the stage, as Beam's Components.
    """

    def __init__(self, stage: Stage, components: bytes, streaming: bool) -> None:
        self._stage, self._components, self._streaming = stage, components, streaming
        self._runner: StageRunner | None = None
        self._context: RowsContext | None = None
        self._entries: dict[bytes, Any] = {}
        self._awake: dict[bytes, None] = {}
        self._ended = self._has_records = False

    def open(self, context: Any) -> None:
        """Set the stage up."""
        self._runner = StageRunner(self._stage)
        bundles = self._runner.bundles
        bundles.state.keyed = KeyedStates()
        bundles.state.keyed.entry_of = self._entry
        if self._stage.side_inputs:
            bundles.state.side_inputs = SideInputs(self._stage.side_inputs, self._components)
        self._coders = bundles.timer_coders
        self._awake = {}

    def close(self) -> None:
        """Tear the stage down."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def process(self, index: int, rows: Any, context: RowsContext) -> list[Any]:
        """Run a bundle, or keep elements of a side input."""
        assert self._runner is not None
        self._context = context
        if index:
            self._runner.bundles.state.side_inputs.add(*rows)
            return []
        if self._streaming:
            return [*self._bundle([rows], []), *self._fired(context)]
        if not self._has_records:
            self._has_records = True
            context.register_event_timer(MAX_TIME)
        return list(self._bundle([rows], []))

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that the current key has timers that are due, or in BATCH that the input has ended."""
        if self._streaming:
            self._awake[context.key] = None
        else:
            self._ended = True

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that the current key has timers that are due."""
        self._awake[context.key] = None

    def emit_after_timers(self, context: RowsContext) -> list[Any]:
        """Fire the timers that are due; in BATCH all of them, if the input has ended."""
        self._context = context
        if self._streaming:
            return self._fired(context)
        results: list[Any] = []
        if self._ended:
            self._ended = self._has_records = False
            self._awake = dict.fromkeys(self._entries)
            results = self._fired(context)
            self._entries.clear()
        return results

    def _entry(self, key: bytes) -> Any:
        if not self._streaming:
            return self._entries.setdefault(key, {})
        assert self._context is not None
        return self._context.select(key)

    def _bundle(self, chunks: list[bytes], due: list[Any]) -> Iterator[Any]:
        """Run a bundle; keep the timers that it sets."""
        assert self._runner is not None
        outputs, timers, delayed = self._runner.bundles.run(chunks, due)
        if delayed:
            raise UnsupportedError(f"stage {self._stage.name!r} has state, and a splittable DoFn that is not done")
        for (transform, family), encoded in timers:
            coder = self._coders[transform, family]
            for timer in coder.decode_all(encoded):
                windows = coder._windows_coder_impl.encode_nested(timer.windows)
                slot = (transform, family, windows, timer.dynamic_timer_tag)
                self._keep(coder._key_coder_impl.encode_nested(timer.user_key), slot, timer, coder)
        return self._runner.tagged(outputs)

    def _keep(self, key: bytes, slot: tuple[str, str, bytes, str], timer: Any, coder: Any) -> None:
        """Set or clear a timer."""
        entry = self._entry(key)
        kept = entry.setdefault(_TIMERS, {})
        if timer.clear_bit:
            kept.pop(slot, None)
            return
        kept[slot] = (timer.fire_timestamp.micros, coder.encode_nested(timer))
        self._awake[key] = None  # it may be due already
        if self._streaming and self._context is not None:
            if self._stage.timers[slot[:2]] == _EVENT_TIME:
                self._context.register_event_timer(scurrys_watermark(timer.fire_timestamp))
            else:
                self._context.register_processing_timer(-(-timer.fire_timestamp.micros // 1000))

    def _fired(self, context: RowsContext) -> list[Any]:
        """Fire the timers of the keys that may have some that are due, until none is."""
        results: list[Any] = []
        while due := self._due(context):
            results += self._bundle([], due)
        return results

    def _due(self, context: RowsContext) -> list[Any]:
        """Remove and return the earliest timers of each key: those of event time first."""
        found: list[Any] = []
        awake, self._awake = self._awake, {}
        ends = not self._streaming or context.watermark == MAX_TIME
        watermark, now = beams_watermark(context.watermark).micros, context.processing_time * 1000
        for key in awake:
            entry = self._entry(key)
            timers = entry.get(_TIMERS)
            if timers is None:
                continue
            order = {slot: (self._stage.timers[slot[:2]] != _EVENT_TIME, time) for slot, (time, _) in timers.items()}
            ready = {
                slot: place for slot, place in order.items() if ends or place[1] <= (now if place[0] else watermark)
            }
            if ready:
                first = min(ready.values())
                for slot in [slot for slot, place in ready.items() if place == first]:
                    found.append((slot[:2], timers.pop(slot)[1]))
                self._awake[key] = None
            if not timers:
                del entry[_TIMERS]
        return found
