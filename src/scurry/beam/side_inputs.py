"""Side inputs of a stage, by window, as the SDK harness asks for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from apache_beam.portability import common_urns
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners import pipeline_context

from scurry.beam.stages import SideInput
from scurry.errors import UnsupportedError

_MULTIMAP = common_urns.side_inputs.MULTIMAP.urn


class SideInputs:
    """The side inputs of a stage.

    Args:
        components: The coders of their collections, as Beam's Components.
    """

    def __init__(self, sides: Sequence[SideInput], components: bytes) -> None:
        context = pipeline_context.PipelineContext(beam_runner_api_pb2.Components.FromString(components))
        self._sides = {(each.transform, each.tag): (place, each) for place, each in enumerate(sides)}
        self._coders = [context.coders[f"channel:{each.collection}"] for each in sides]
        self._elements: list[dict[bytes, list[Any]]] = [defaultdict(list) for _ in sides]
        self._by_key: dict[tuple[int, bytes], dict[bytes, list[Any]]] = {}

    def add(self, place: int, chunk: bytes) -> None:
        """Add encoded elements of a side input."""
        coder = self._coders[place]
        elements, window = self._elements[place], coder.window_coder
        for each in coder.get_impl().decode_all(chunk):
            for one in each.windows:
                elements[window.encode(one)].append(each.value)

    def get(self, key: Any, coder: Any) -> list[Any]:
        """Return the elements that the harness asks for."""
        kind = key.WhichOneof("type")
        asked = getattr(key, kind)
        place, side = self._sides[asked.transform_id, asked.side_input_id]
        if kind == "iterable_side_input":
            return self._elements[place].get(asked.window, [])
        if side.pattern != _MULTIMAP:
            raise UnsupportedError(f"ScurryRunner does not read side inputs as {side.pattern}")
        if kind == "multimap_side_input":
            return self._pairs(place, asked.window).get(asked.key, [])
        found = self._elements[place].get(asked.window, [])
        grouped: dict[bytes, tuple[Any, list[Any]]] = {}
        keys = self._coders[place].wrapped_value_coder.key_coder().get_impl()
        for one, value in found:
            grouped.setdefault(keys.encode_nested(one), (one, []))[1].append(value)
        if kind == "multimap_keys_side_input":
            return [one for one, _ in grouped.values()]
        return list(grouped.values())

    def _pairs(self, place: int, window: bytes) -> dict[bytes, list[Any]]:
        """Return the values of a window by encoded key."""
        if (place, window) not in self._by_key:
            keys = self._coders[place].wrapped_value_coder.key_coder().get_impl()
            found: dict[bytes, list[Any]] = defaultdict(list)
            for key, value in self._elements[place].get(window, []):
                found[keys.encode_nested(key)].append(value)
            self._by_key[place, window] = found
        return self._by_key[place, window]
