"""TestStream: elements and watermarks in a given order."""

from __future__ import annotations

from typing import Any

from apache_beam.coders.coder_impl import create_OutputStream
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners import pipeline_context
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.timestamp import MAX_TIMESTAMP, Timestamp

from scurry.beam.stages import TestEvents
from scurry.beam.times import scurrys_watermark
from scurry.common.watermark_strategy import Watermark, WatermarkGenerator, WatermarkStrategy
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.runtime.exchange.wire import MAX_TIME


def test_stream(env: StreamExecutionEnvironment, test: TestEvents) -> DataStream[Any]:
    """Return the elements of a TestStream, in chunks, with its watermarks."""
    context = pipeline_context.PipelineContext(beam_runner_api_pb2.Components.FromString(test.components))
    payload = beam_runner_api_pb2.TestStreamPayload.FromString(test.payload)
    coder = context.coders[payload.coder_id]
    encoder = context.coders[f"channel:{test.collection}"].get_impl()
    events: list[tuple[bytes, int | None]] = []
    for event in payload.events:
        if event.HasField("watermark_event"):
            time = Timestamp(micros=event.watermark_event.new_watermark * 1000)
            # the end of the source is the end of time
            end = time.micros // 1000 >= MAX_TIMESTAMP.micros // 1000
            events.append((b"", MAX_TIME - 1 if end else scurrys_watermark(time)))
            continue
        chunk = create_OutputStream()
        for each in event.element_event.elements:
            value = GlobalWindows.windowed_value(
                coder.decode(each.encoded_element), Timestamp(micros=each.timestamp * 1000)
            )
            encoder.encode_to_stream(value, chunk, True)
        events.append((chunk.get(), None))
    strategy = WatermarkStrategy.for_generator(_Watermarks)
    stream = env.from_collection(events).name(test.name).assign_timestamps_and_watermarks(strategy)
    return stream.flat_map(_chunk).name("Elements")


def _chunk(event: tuple[bytes, int | None]) -> list[bytes]:
    return [event[0]] if event[0] else []


class _Watermarks(WatermarkGenerator):
    """The watermarks of the events."""

    def on_event(self, event: tuple[bytes, int | None], event_timestamp: int, output: Any) -> None:
        """Emit the watermark of an event."""
        if event[1] is not None:
            output.emit_watermark(Watermark(event[1]))

    def on_periodic_emit(self, output: Any) -> None:
        """Emit nothing: watermarks come with events."""
