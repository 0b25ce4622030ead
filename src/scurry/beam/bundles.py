"""Beam's SDK harness in the process of a task: it runs a stage on a bundle of elements."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

from apache_beam import coders
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.worker import bundle_processor, data_plane
from apache_beam.transforms import window
from apache_beam.transforms.trigger import DefaultTrigger
from apache_beam.transforms.window import TimestampCombiner

from scurry.beam.stages import GROUPED_OUTPUT, STREAMED_OUTPUT
from scurry.errors import UnsupportedError

#: Bytes of encoded elements that travel together as one record.
CHUNK_BYTES = 1 << 20
#: A reshuffle sends so many elements by themselves before chunks grow, so that few elements are spread, too.
_SINGLE_ELEMENTS = 64

_ids = count(1)


class Chunks(data_plane.ClosableOutputStream):  # type: ignore[misc]
    """Encoded elements in chunks.

    Args:
        add: Takes a chunk.
        spread: Whether chunks are small at first, to be spread over many tasks.
    """

    def __init__(self, add: Callable[[bytes], None], spread: bool = False) -> None:
        super().__init__()
        self._add, self._spread = add, spread
        self._elements = self._sent = 0

    def maybe_flush(self) -> None:
        """Count an element that has been written: a chunk ends here if it is large enough."""
        if self._spread:
            self._elements += 1
            if self._elements > self._sent // _SINGLE_ELEMENTS:
                self._sent += self._elements
                self._elements = 0
                self._flush()
        elif self.size() > CHUNK_BYTES:
            self._flush()

    def _flush(self) -> None:
        self._add(self.get())
        self._clear()

    def close(self) -> None:
        """End the last chunk."""
        if self.size():
            self._flush()


class StateHandler:
    """The answers to the SDK harness' questions about state: side inputs, and state by key.

    Attributes:
        side_inputs: Answers for side inputs; None if the stage has none.
        keyed: Answers for state by key; None if the stage has none.
    """

    def __init__(self) -> None:
        self.side_inputs: Any = None
        self.keyed: Any = None

    def _of(self, key: Any) -> Any:
        kind = key.WhichOneof("type")
        found = self.side_inputs if kind.endswith("_side_input") else self.keyed
        if found is None or kind == "runner":
            raise UnsupportedError(f"ScurryRunner keeps no state of the kind {kind!r}")
        return found

    def blocking_get(self, key: Any, coder: Any) -> Iterable[Any]:
        """Return the elements of a state."""
        return self._of(key).get(key, coder)  # type: ignore[no-any-return]

    def extend(self, key: Any, coder: Any, elements: Iterable[Any]) -> Any:
        """Add elements to a state."""
        self._of(key).extend(key, coder, elements)
        return _DONE

    def clear(self, key: Any) -> Any:
        """Clear a state."""
        self._of(key).clear(key)
        return _DONE

    def done(self) -> None:
        """Do nothing: nothing is kept open."""


class _Done:
    def get(self) -> bool:
        return True


_DONE = _Done()


class Bundles:
    """Run a stage, bundle by bundle.

    Args:
        descriptor: The stage, as Beam's ProcessBundleDescriptor.
        source: The transform that reads the main input.
        spread: The transforms whose outputs are reshuffled.

    Attributes:
        state: What answers the harness' questions about state.
    """

    def __init__(self, descriptor: bytes, source: str, spread: frozenset[str]) -> None:
        parsed = beam_fn_api_pb2.ProcessBundleDescriptor.FromString(descriptor)
        self.state = StateHandler()
        self._source, self._spread = source, spread
        self._elements: list[bytes] = []
        self._due: list[tuple[tuple[str, str], bytes]] = []
        self._outputs: dict[str, list[Any]] = {}
        self._timers: list[tuple[tuple[str, str], bytes]] = []
        self._processor = bundle_processor.BundleProcessor(
            frozenset([_CAPABILITY]), parsed, self.state, _Channels(self)
        )

    @property
    def timer_coders(self) -> dict[tuple[str, str], Any]:
        """The coders of timers by (transform, timer family)."""
        return {key: info.timer_coder_impl for key, info in self._processor.timers_info.items()}

    def run(
        self, elements: list[bytes], timers: list[tuple[tuple[str, str], bytes]] | None = None
    ) -> tuple[dict[str, list[Any]], list[tuple[tuple[str, str], bytes]], list[Any]]:
        """Run a bundle.

        Args:
            elements: Encoded elements, in chunks.
            timers: Encoded timers that are due, by (transform, timer family).

        Returns:
            The outputs by transform, the timers that were set or cleared, and what is to be continued later.
        """
        self._elements, self._due = elements, timers or []
        self._outputs, self._timers = defaultdict(list), []
        try:
            delayed, finalizes = self._processor.process_bundle(str(next(_ids)))
            if finalizes:
                self._processor.finalize_bundle()
            return self._outputs, self._timers, delayed
        except Exception:
            with suppress(Exception):
                self._processor.reset()
            raise

    def monitoring_infos(self) -> list[Any]:
        """Return the measurements of the last bundle, and forget them."""
        found: list[Any] = self._processor.monitoring_infos()
        self._processor.reset()
        return found

    def close(self) -> None:
        """Tear the functions down."""
        self._processor.shutdown()

    # ---------------------------------------------------------------- called by the harness

    def input_elements(self, instruction_id: str, expected: Any, *_: Any) -> Iterator[Any]:
        """Yield the elements and the timers of the bundle."""
        for (transform, family), timers in self._due:
            yield beam_fn_api_pb2.Elements.Timers(transform_id=transform, timer_family_id=family, timers=timers)
        if self._elements and self._source in expected:
            for chunk in self._elements:
                yield beam_fn_api_pb2.Elements.Data(transform_id=self._source, data=chunk)

    def output_stream(self, instruction_id: str, transform: str) -> Chunks:
        """Return the stream of an output."""
        return Chunks(self._outputs[transform].append, transform in self._spread)

    def output_timer_stream(self, instruction_id: str, transform: str, family: str) -> Chunks:
        """Return the stream of timers that are set."""
        return Chunks(lambda chunk: self._timers.append(((transform, family), chunk)))

    def grouped(self, transform: str, block: dict[Any, Any]) -> None:
        """Receive the elements of an output that a group follows."""
        self._outputs[transform].append(block)


_CAPABILITY = "beam:protocol:state_caching:v1"


class _Channels(data_plane.DataChannelFactory):  # type: ignore[misc]
    """The one data channel of a stage."""

    def __init__(self, channel: Bundles) -> None:
        self.channel = channel

    def create_data_channel(self, remote_grpc_port: Any, data_stream_id: str | None = None) -> Any:
        return self.channel

    def create_data_channel_from_url(self, url: str, data_stream_id: str | None = None) -> Any:
        return self.channel if url else None

    def close(self) -> None:
        """Do nothing: nothing is open."""


def is_simple(windowing: Any) -> bool:
    """Return whether windows of a group fire once, when their time is over, whatever their elements are."""
    return (
        not windowing.windowfn.is_merging()
        and windowing.triggerfn == DefaultTrigger()
        and windowing.timestamp_combiner == TimestampCombiner.OUTPUT_AT_EOW
    )


class GroupedOutput(bundle_processor.DataOutputOperation):  # type: ignore[misc]
    """An output that a group follows: it groups elements by their encoded keys.

    A block has for each (key, window) the number of values and their encodings one after the other, as an encoded
    iterable has them. Where windows merge, or triggers ask for single elements, and in STREAMING, it has for each key
    the encoded values with their times and windows.
    """

    def prepare(self, key: Any, value: Any, windowing: Any, window_coder: Any, grouped: Any, streams: bool) -> None:
        """Set the arguments besides Beam's own."""
        self._key, self._grouped = key.get_impl(), grouped
        self._simple = is_simple(windowing) and not streams
        self._global = self._simple and windowing.windowfn == window.GlobalWindows()
        self._value = value.get_impl()
        self._windowed = coders.WindowedValueCoder(coders.BytesCoder(), window_coder).get_impl()
        self._window = window_coder.get_impl()
        self._block: dict[Any, list[bytes]] = defaultdict(list)
        self._windows: dict[Any, bytes] = {}

    def set_output_stream(self, output_stream: Any) -> None:
        """Keep the stream of the bundle, on which nothing is written."""
        self.output_stream = output_stream

    def process(self, windowed_value: Any) -> None:
        """Add an element to its group."""
        key, value = windowed_value.value
        encoded = self._key.encode_nested(key)
        if self._global:
            self._block[encoded, b""].append(self._value.encode_nested(value))
        elif self._simple:
            value = self._value.encode_nested(value)
            for each in windowed_value.windows:
                self._block[encoded, self._window.encode_nested(each)].append(value)
        else:
            value = self._value.encode_nested(value)
            self._block[encoded].append(self._windowed.encode_nested(windowed_value.with_value(value)))

    def finish(self) -> None:
        """Hand the groups of the bundle over."""
        super().finish()
        if self._block:
            self._grouped(
                self.transform_id, {key: (len(values), b"".join(values)) for key, values in self._block.items()}
            )
            self._block = defaultdict(list)


def _create(factory: Any, transform_id: str, transform: Any, port: Any, consumers: Any) -> GroupedOutput:
    coder = factory.get_coder(port.coder_id)
    operation = GroupedOutput(
        bundle_processor.common.NameContext(transform.unique_name, transform_id),
        transform.unique_name,
        consumers,
        factory.counter_factory,
        factory.state_sampler,
        coder,
        transform_id=transform_id,
        data_channel_factory=lambda data_stream_id=None: factory.data_channel_factory.create_data_channel(port),
    )
    pairs = coder.wrapped_value_coder
    operation.prepare(
        pairs.key_coder(),
        pairs.value_coder(),
        factory.get_input_windowing(transform),
        coder.window_coder,
        factory.data_channel_factory.channel.grouped,
        transform.spec.urn == STREAMED_OUTPUT,
    )
    return operation


for _urn in (GROUPED_OUTPUT, STREAMED_OUTPUT):
    bundle_processor.BeamTransformFactory.register_urn(_urn, beam_fn_api_pb2.RemoteGrpcPort)(_create)


def count_prefix(number: int) -> bytes:
    """Return how an encoded iterable of so many elements begins."""
    return struct.pack(">i", number)
