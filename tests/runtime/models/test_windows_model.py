"""Windows against a model that keeps every element and looks at all of them each time (`window_model.py`).

Elements and watermarks come interleaved and in several micro-batches, with the state written back in between. Each kind
of window function runs `CASES` cases of time windows, of sessions and of windows that count, and half as many of time
windows that are divided into parts: 20 properties.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Types
from scurry.common.output_tag import OutputTag
from scurry.datastream import DataStream
from scurry.testing import TestHarness
from support.cases import CASES
from support.runtime.divided_state import dividing_early
from support.runtime.window_cases import BATCHES, LATENESS, SESSIONS, TIME_WINDOWS, TRIGGERS
from support.runtime.window_functions import AllContents, AllWithWindow, Contents, Sum, WithWindow, plus
from support.runtime.window_model import (
    AtEnd,
    CountWindows,
    Element,
    Every,
    Global,
    Model,
    Purging,
)

LATE = OutputTag("late")


KINDS: dict[str, Any] = {
    "process": lambda windows, whole: windows.process(AllContents() if whole else Contents()),
    "reduce": lambda windows, whole: windows.reduce(plus),
    "aggregate": lambda windows, whole: windows.aggregate(Sum()),
    "reduce and process": lambda windows, whole: windows.reduce(plus, AllWithWindow() if whole else WithWindow()),
    "aggregate and process": lambda windows, whole: windows.aggregate(
        Sum(), AllWithWindow() if whole else WithWindow(), Types.PICKLED_BYTE_ARRAY()
    ),
}


class Subject:
    """The model's windows as a pipeline, in a test harness."""

    def __init__(self, model: Model, kind: str, late_output: bool) -> None:
        self._kind, self._model = kind, model
        self._late_output = late_output
        self.harness = TestHarness.of(self._pipeline, max_parallelism=4)
        self._watermark = -(2**63)

    def _pipeline(self, stream: DataStream) -> DataStream:
        model, assigner = self._model, self._model.windows.assigner()
        windows: Any = stream.window_all(assigner) if model.over_all else stream.key_by(lambda e: e[0]).window(assigner)
        if type(model.trigger) is not AtEnd:  # the default
            windows = windows.trigger(model.trigger.trigger())
        if model.lateness:
            windows = windows.allowed_lateness(model.lateness)
        if self._late_output:
            windows = windows.side_output_late_data(LATE)
        return KINDS[self._kind](windows, model.over_all)  # type: ignore[no-any-return]

    def batch(self, steps: list[Any]) -> None:
        with self.harness.batch():
            for step in steps:
                if isinstance(step, tuple):
                    self.harness.process(step, step[1])
                elif step > self._watermark:
                    self._watermark = step
                    self.harness.advance_watermark(step)

    def results(self) -> Any:
        """What was emitted, comparable with `expected`."""
        return self._comparable(self.harness.outputs())

    def expected(self) -> Any:
        """What windows that fired as the model's did emit."""
        if self._kind == "process":
            return self._comparable(self._model.fired)
        sums = [(owner, window, sum(e[2] for e in elements)) for owner, window, elements in self._model.fired]
        return self._comparable(sums)

    def _comparable(self, results: list[Any]) -> Any:
        """By key and window in the order of firing; where results do not tell their window, in any order."""
        found: dict[Any, list[Any]] = defaultdict(list)
        if self._kind in ("reduce", "aggregate"):
            for result in results:
                found["" if self._model.over_all else result[0]].append(result[-1])
            return {key: sorted(sums) for key, sums in found.items()}
        for owner, window, content in results:
            found[owner, window].append(content)
        return found


def check(model: Model, kind: str, late_output: bool, batches: list[list[Any]]) -> None:
    subject = Subject(model, kind, late_output)
    for steps in batches:
        for step in steps:
            if isinstance(step, tuple):
                model.element(step)
            else:
                model.time(step)
        subject.batch(steps)
        assert subject.results() == subject.expected()
    model.time(2**63 - 1)
    subject.harness.end_input()
    assert subject.results() == subject.expected()
    late: list[Element] = subject.harness.side_output(LATE)
    assert (late, subject.harness.num_late_records_dropped()) == (
        (model.late, 0) if late_output else ([], len(model.late))
    )
    if model.windows.event_time:
        assert subject.harness.num_keyed_state_entries() == 0, "something is left of windows that are over"
        assert subject.harness.timers() == []


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=CASES)
@given(TIME_WINDOWS, TRIGGERS, LATENESS, st.booleans(), st.booleans(), BATCHES)
def test_time_windows_agree_with_the_model(
    kind: str, windows: Any, trigger: Any, lateness: int, over_all: bool, late_output: bool, batches: Any
) -> None:
    check(Model(windows, trigger, lateness, over_all), kind, late_output, batches)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=CASES // 2)
@given(TIME_WINDOWS, st.booleans(), st.booleans(), BATCHES)
def test_time_windows_in_parts_agree_with_the_model(
    kind: str, windows: Any, over_all: bool, late_output: bool, batches: Any
) -> None:
    with dividing_early():
        check(Model(windows, AtEnd(), 0, over_all), kind, late_output, batches)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=CASES)
@given(SESSIONS, TRIGGERS, LATENESS, st.booleans(), st.booleans(), BATCHES)
def test_sessions_agree_with_the_model(
    kind: str, windows: Any, trigger: Any, lateness: int, over_all: bool, late_output: bool, batches: Any
) -> None:
    check(Model(windows, trigger, lateness, over_all), kind, late_output, batches)


COUNTED = st.one_of(
    st.builds(lambda every: (Global(), every), st.builds(Every, st.integers(1, 5))),
    st.builds(lambda every: (Global(), Purging(every)), st.builds(Every, st.integers(1, 5))),
    st.builds(lambda size: (CountWindows(size), Purging(Every(size))), st.integers(1, 5)),
    st.builds(
        lambda size, slide: (CountWindows(size, slide), Purging(Every(size))), st.integers(1, 5), st.integers(1, 5)
    ),
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=CASES)
@given(COUNTED, st.booleans(), BATCHES)
def test_windows_that_count_agree_with_the_model(kind: str, counted: Any, over_all: bool, batches: Any) -> None:
    check(Model(*counted, over_all=over_all), kind, False, batches)  # type: ignore[misc]
