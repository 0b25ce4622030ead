"""The functions of the operators that run stages."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from apache_beam.utils import proto_utils

from scurry.beam.bundles import Bundles
from scurry.beam.side_inputs import SideInputs
from scurry.beam.stages import RESHUFFLE, Stage
from scurry.datastream import OutputTag

#: The side output of what bundles measure: (stage, encoded monitoring info).
METRICS = OutputTag("metrics")


def tag_of(place: int) -> OutputTag:
    """Return the tag of an output of a stage."""
    return OutputTag(f"output {place}")


class StageRunner:
    """Run a stage on bundles, and turn their output into records.

    A stage that an element splits (a splittable DoFn) is continued at once: in BATCH nothing else comes in between.
    """

    def __init__(self, stage: Stage) -> None:
        spread = frozenset(each.transform for each in stage.outputs if each.kind == RESHUFFLE)
        self._name = stage.name
        self._tags = {each.transform: tag_of(place) for place, each in enumerate(stage.outputs)}
        self.bundles = Bundles(stage.descriptor, stage.source, spread)

    def run(self, chunks: list[bytes]) -> Iterator[tuple[OutputTag, Any]]:
        """Run a bundle, and the rest that it defers; yield records with their tags."""
        while chunks:
            outputs, _, delayed = self.bundles.run(chunks)
            yield from self.tagged(outputs)
            chunks = [each.application.element for each in delayed]
            if delayed:
                time.sleep(min(_delay(each) for each in delayed))

    def tagged(self, outputs: dict[str, list[Any]]) -> Iterator[tuple[OutputTag, Any]]:
        """Yield the records and the measurements of a bundle, with their tags."""
        for transform, records in outputs.items():
            tag = self._tags[transform]
            for record in records:
                yield tag, record
        for info in self.bundles.monitoring_infos():
            yield METRICS, (self._name, info.SerializeToString())

    def close(self) -> None:
        """Tear the stage down."""
        self.bundles.close()


def _delay(delayed: Any) -> float:
    if not delayed.HasField("requested_time_delay"):
        return 0.0
    return max(0.0, float(proto_utils.to_micros(delayed.requested_time_delay)) / 1e6)


class RunStage:
    """Run a stage without state: a block of records, each a chunk of encoded elements, is a bundle.

    Its side inputs are broadcast. In BATCH they are complete before the first element.

    Args:
        components: The coders of the inputs of the stage, as Beam's Components.
    """

    def __init__(self, stage: Stage, components: bytes) -> None:
        self._stage, self._components = stage, components
        self._runner: StageRunner | None = None

    def open(self, runtime_context: Any) -> None:
        """Set the stage up."""
        self._runner = StageRunner(self._stage)
        if self._stage.side_inputs:
            self._runner.bundles.state.side_inputs = SideInputs(self._stage.side_inputs, self._components)

    def bundle(self, index: int, records: list[Any]) -> Iterable[tuple[OutputTag, Any]]:
        """Run a bundle, or keep elements of a side input."""
        assert self._runner is not None
        if not index:
            return self._runner.run(records)
        for place, chunk in records:
            self._runner.bundles.state.side_inputs.add(place, chunk)
        return ()

    def close(self) -> None:
        """Tear the stage down."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
