"""GroupByKey: elements by key and window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from apache_beam import coders
from apache_beam.coders.coder_impl import create_OutputStream
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners import pipeline_context
from apache_beam.transforms import trigger
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from scurry.beam.bundles import CHUNK_BYTES, count_prefix, is_simple
from scurry.beam.stages import Grouping
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.keys import key_hash, subtask_of
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext


class PartitionGroups:
    """Split a block of grouped elements by subtask."""

    def __call__(self, block: dict[Any, Any], max_parallelism: int, receivers: int) -> list[tuple[int, dict[Any, Any]]]:
        """Return the subtasks that get elements, with their elements."""
        if receivers == 1:
            return [(0, block)]
        parts: dict[int, dict[Any, Any]] = defaultdict(dict)
        for key, values in block.items():
            encoded = key[0] if type(key) is tuple else key
            parts[subtask_of(key_hash(encoded), max_parallelism, receivers)][key] = values
        return list(parts.items())


class GroupCoders:
    """The coders of a group, and its windows."""

    def __init__(self, grouping: Grouping) -> None:
        components = beam_runner_api_pb2.Components.FromString(grouping.components)
        context = pipeline_context.PipelineContext(components)
        pairs = context.coders[f"channel:{grouping.input}"]
        windowing = components.pcollections[grouping.input].windowing_strategy_id
        self.windowing = context.windowing_strategies[windowing]
        self.value = coders.WindowedValueCoder(coders.BytesCoder(), pairs.window_coder).get_impl()
        self.window = pairs.window_coder.get_impl()
        self.header = coders.WindowedValueCoder(coders.SingletonCoder(None), pairs.window_coder).get_impl()

    def encoded(self, pane: Any, key: bytes) -> bytes:
        """Return the encoding of a pane, whose values are encoded, with its encoded key."""
        values = list(pane.value)
        return b"".join([self.header.encode_nested(pane.with_value(None)), key, count_prefix(len(values)), *values])


class GroupInBatch(KeyedRowsFunction):
    """GroupByKey in BATCH: groups are emitted when all elements are there. A subtask has them in memory."""

    def __init__(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._parts: dict[Any, list[tuple[int, bytes]]] = {}
        self._ended = False

    def open(self, context: Any) -> None:
        """Prepare the coders."""
        self._coders = GroupCoders(self._grouping)

    def process(self, index: int, rows: dict[Any, tuple[int, bytes]], context: RowsContext) -> list[Any]:
        """Keep a block."""
        if not self._parts:
            context.register_event_timer(MAX_TIME)
        parts = self._parts
        for key, values in rows.items():
            if key in parts:
                parts[key].append(values)
            else:
                parts[key] = [values]
        return []

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that the input has ended."""
        self._ended = True

    def emit_after_timers(self, context: RowsContext) -> list[Any]:
        """Return the groups, if the input has ended."""
        if not self._ended:
            return []
        self._ended, parts = False, self._parts
        self._parts = {}
        groups = self._simple(parts) if is_simple(self._coders.windowing) else self._triggered(parts)
        return list(chunked(groups))

    def _simple(self, parts: dict[Any, list[tuple[int, bytes]]]) -> Iterator[bytes]:
        """Yield encoded groups whose windows fire once; nothing is decoded but windows."""
        headers: dict[bytes, bytes] = {}
        while parts:
            (key, window), values = parts.popitem()
            if window not in headers:
                headers[window] = self._header(window)
            yield b"".join(
                [headers[window], key, count_prefix(sum(number for number, _ in values)), *(each for _, each in values)]
            )

    def _header(self, window: bytes) -> bytes:
        """Return how the encoding of a group of a window begins: its timestamp, window and pane."""
        known = self._coders
        found = GlobalWindows().get_window_coder().decode(b"") if not window else known.window.decode_nested(window)
        value = WindowedValue(None, found.max_timestamp(), (found,))
        driver = trigger.create_trigger_driver(known.windowing, True)
        (group,) = driver.process_entire_key(None, [value])
        return bytes(known.header.encode_nested(group.with_value(None)))

    def _triggered(self, parts: dict[Any, list[tuple[int, bytes]]]) -> Iterator[bytes]:
        """Yield encoded panes, as Beam's triggers make them of all elements of a key."""
        known = self._coders
        while parts:
            key, values = parts.popitem()
            elements = list(known.value.decode_all(b"".join(each for _, each in values)))
            driver = trigger.create_trigger_driver(known.windowing, True)
            for pane in driver.process_entire_key(None, elements):
                yield known.encoded(pane.with_value(pane.value[1]), key)


def chunked(elements: Iterator[bytes]) -> Iterator[bytes]:
    """Yield encoded elements in chunks."""
    gathered, size = create_OutputStream(), 0
    for each in elements:
        gathered.write(each)
        size += len(each)
        if size > CHUNK_BYTES:
            yield gathered.get()
            gathered, size = create_OutputStream(), 0
    if size:
        yield gathered.get()
