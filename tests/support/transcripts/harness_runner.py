"""Plays a script step by step in a test harness."""

from __future__ import annotations

from typing import Any

from scurry.common.time import TimeDomain
from scurry.testing import TestHarness
from support.transcripts import commands, pipelines
from support.transcripts.scripts import Script, plain, unordered


def play(script: Script) -> None:
    """Runs the steps; fails at the first answer that is not the expected one, or that is not expected at all."""
    with TestHarness.of(lambda stream: pipelines.build(script.spec, stream)[0]) as harness:
        player = _Player(script, harness)
        for number, (kind, argument) in enumerate(script.steps, 1):
            player.where = f"step {number}, {kind}: {argument}"
            getattr(player, kind)(argument)
        player.finish()


class _Player:
    def __init__(self, script: Script, harness: TestHarness) -> None:
        self.script, self.harness = script, harness
        self.where = ""
        self._seen = self._seen_late = self._seen_watermarks = 0
        self._ended = False

    # ---------------------------------------------------------------- input

    def element(self, element: list[Any]) -> None:
        key, value, *timestamp = element
        self.harness.process((key, value), *timestamp)

    def watermark(self, watermark: int) -> None:
        self.harness.advance_watermark(watermark)

    def clock(self, time: int) -> None:
        self.harness.advance_processing_time(time)

    def batch(self, argument: None) -> None:
        """Every step is a batch here."""

    def end(self, argument: None) -> None:
        self.harness.end_input()
        self._ended = True

    # ---------------------------------------------------------------- answers

    def expect(self, expected: list[Any]) -> None:
        self._equal(unordered(self._new_results()), unordered(expected))

    def expect_in_order(self, expected: list[Any]) -> None:
        self._equal(self._new_results(), expected)

    def expect_late(self, expected: list[Any]) -> None:
        late = plain(self.harness.side_output(pipelines.LATE))
        seen, self._seen_late = self._seen_late, len(late)
        self._equal(late[seen:], expected)

    def expect_dropped(self, expected: int) -> None:
        self._equal(self.harness.num_late_records_dropped(), expected)

    def expect_timestamps(self, expected: list[Any]) -> None:
        """Of the results the last `expect` has seen."""
        times = [record.timestamp for record in self.harness.records()[: self._seen]]
        self._equal(times[len(times) - len(expected) :], expected)

    def expect_watermarks(self, expected: list[int]) -> None:
        watermarks = self.harness.watermarks()
        seen, self._seen_watermarks = self._seen_watermarks, len(watermarks)
        self._equal(watermarks[seen:], expected)

    def expect_timers(self, expected: dict[str, list[int]]) -> None:
        domains = {"event": TimeDomain.EVENT_TIME, "processing": TimeDomain.PROCESSING_TIME}
        timers = {name: [t.time for t in self.harness.timers(domain=domain)] for name, domain in domains.items()}
        self._equal({name: times for name, times in timers.items() if times}, expected)

    def expect_state(self, expected: dict[str, Any]) -> None:
        """By key: what is in the state of `process`; for windows `entries`, how much is kept altogether."""
        for key, state in expected.items():
            if key == "entries":
                self._equal(self.harness.num_keyed_state_entries(), state)
            else:
                descriptor = commands.state_of(self.script.spec["process"]).descriptor
                self._equal(plain(self.harness.state(descriptor, key)), state)

    def finish(self) -> None:
        """Ends the input; nothing may be left that the script has not expected."""
        self.where = "after the last step"
        if not self._ended:
            self.harness.end_input()
        self.expect([])
        self._equal(plain(self.harness.side_output(pipelines.LATE))[self._seen_late :], [])

    def _new_results(self) -> list[Any]:
        results = plain(self.harness.outputs())
        seen, self._seen = self._seen, len(results)
        return list(results[seen:])

    def _equal(self, found: Any, expected: Any) -> None:
        assert found == expected, f"{self.script.name}\n  {self.where}"
