"""Scripts of time: what a pipeline gets step by step, and what it must answer. `README.md` describes the format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from support import TESTS

SCRIPTS_DIRECTORY = TESTS / "transcripts"
INPUT = {"element", "watermark", "clock", "batch", "end"}
EXPECTED = {
    "expect", "expect_in_order", "expect_late", "expect_dropped", "expect_timestamps", "expect_watermarks",
    "expect_timers", "expect_state",
}  # fmt: skip


@dataclass(frozen=True)
class Script:
    """One document of a transcript."""

    file: str
    spec: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.file}: {self.spec['name']}"

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """The steps as (kind, argument)."""
        return [step if isinstance(step, tuple) else _step(step) for step in self.spec["steps"]]

    @property
    def moves_the_clock(self) -> bool:
        """Whether it needs a runner whose processing time can be set."""
        return any(kind == "clock" for kind, _ in self.steps)

    def expected(self, *kinds: str) -> list[Any]:
        """Everything that comes out, all steps together."""
        return [result for kind, results in self.steps if kind in kinds for result in results]

    @property
    def results(self) -> list[Any]:
        return self.expected("expect", "expect_in_order")

    @property
    def batch_results(self) -> list[Any] | None:
        """What BATCH must give: None where the script does not say."""
        batch = self.spec.get("batch")
        return self.results if batch == "same" else batch

    def batches(self, one_step_each: bool = False) -> list[list[tuple[str, Any]]]:
        """The input as micro-batches: a new one at each `batch` and `clock`, or at every step."""
        batches: list[list[tuple[str, Any]]] = [[]]
        for kind, argument in self.steps:
            if kind not in INPUT or kind == "end":
                continue
            if kind in ("batch", "clock") or (one_step_each and batches[-1]):
                batches.append([])
            if kind != "batch":
                batches[-1].append((kind, argument))
        return batches


def _step(step: Any) -> tuple[str, Any]:
    if isinstance(step, str):
        step = {step: None}
    ((kind, argument),) = step.items()
    if kind not in INPUT | EXPECTED:
        raise ValueError(f"no such step: {kind}")
    return kind, argument


def load(directory: Path = SCRIPTS_DIRECTORY) -> list[Script]:
    """The scripts of a directory."""
    return [script for file in sorted(directory.glob("*.yaml")) for script in _documents(file)]


def _documents(file: Path) -> Iterator[Script]:
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
        yield Script(file.stem, document)


def plain(value: Any) -> Any:
    """Results as YAML would write them: lists instead of tuples."""
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def unordered(results: list[Any]) -> list[Any]:
    """Results as a multiset."""
    return sorted(map(plain, results), key=repr)


if __name__ == "__main__":
    import json

    print(json.dumps([{"name": script.name, **script.spec, "steps": script.steps} for script in load()]))
