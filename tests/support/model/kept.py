"""Fixtures for tests that kill or fail jobs: the model of the protocol accepts the steps of all jobs that they run.

A `conftest.py` imports both; then each test of its directory is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scurry.runtime.driver.protocol import TRACE_FILE
from support.model.spin import Unavailable
from support.model.traces import Trace, traces_in, unexplained

__all__ = ["protocol_is_kept", "protocol_trace"]


@dataclass
class Recorded:
    """What the jobs of a package's tests have recorded.

    Attributes:
        file: To which they append their steps.
        looked_at: How many steps of each trace a test has been asked for.
    """

    file: Path
    looked_at: dict[tuple[str, int], int] = field(default_factory=dict)

    def new(self) -> list[Trace]:
        """Return the traces that have got steps since the last call."""
        traces = [each for each in traces_in(self.file) if len(each.steps) > self.looked_at.get(each.key, 0)]
        self.looked_at |= {each.key: len(each.steps) for each in traces}
        return traces


@pytest.fixture(scope="package", autouse=True)
def protocol_trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """What all jobs of these tests record; those of shared fixtures are looked at by the first test that has them."""
    file = tmp_path_factory.mktemp("protocol") / "trace"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TRACE_FILE, str(file))
        yield Recorded(file)


@pytest.fixture(autouse=True)
def protocol_is_kept(
    protocol_trace: Recorded, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The model of the protocol accepts what the jobs of a test have recorded, over all their starts."""
    # simulations have oracles of their own, and mutants
    if request.node.get_closest_marker("slow"):
        monkeypatch.delenv(TRACE_FILE)
        yield
        return
    yield
    refused = []
    for trace in protocol_trace.new():
        try:
            step = unexplained(trace, tmp_path / "protocol-check")
        except Unavailable as reason:
            print(f"the model of the protocol is not asked: {reason}")
            return
        if step is None:
            print(f"the model of the protocol accepts {len(trace.steps)} steps of {trace.directory}")
            continue
        at = trace.steps.index(step)
        refused.append(f"{trace.directory}: step {at} is none of the protocol's: {trace.steps[: at + 1]}")
    assert not refused, "\n".join(refused)
