"""Random windows, triggers and inputs, for properties."""

from __future__ import annotations

from hypothesis import strategies as st

from support.runtime.window_model import AtEnd, Continuous, Every, Purging, Sessions, TimeWindows

KEYS = st.sampled_from(["a", "b"])
ELEMENTS = st.tuples(KEYS, st.integers(-20, 60), st.integers(1, 9))
#: Elements out of order, and watermarks, also such as come too late to count.
STEPS = st.lists(st.one_of(ELEMENTS, ELEMENTS, st.integers(-20, 70)), max_size=16)
BATCHES = st.lists(STEPS, min_size=1, max_size=3)
TIME_WINDOWS = (
    st.builds(TimeWindows, st.integers(1, 12))
    | st.builds(TimeWindows, st.just(10), offset=st.integers(-9, 9))
    | st.builds(TimeWindows, st.integers(1, 12), st.integers(1, 12))
    | st.builds(TimeWindows, st.just(9), st.just(3), st.integers(-2, 2))
)
SESSIONS = st.builds(Sessions, st.integers(0, 8))
SIMPLE_TRIGGERS = st.one_of(
    st.just(AtEnd()), st.builds(Continuous, st.integers(1, 6)), st.builds(Every, st.integers(1, 4))
)
#: The default in every second case.
TRIGGERS = st.one_of(st.just(AtEnd()), SIMPLE_TRIGGERS | st.builds(Purging, SIMPLE_TRIGGERS))
#: Windows without lateness and with the default trigger have operators of their own.
LATENESS = st.sampled_from([0, 0, 0, 1, 5, 30])
