"""Beam's transcripts of triggers, on ScurryRunner: run by tests/beam/test_beam.py."""

from __future__ import annotations

from typing import Any

import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.transforms import trigger_test

from scurry.beam import ScurryRunner


class OnScurry(TestPipeline):  # type: ignore[misc]
    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__(runner=ScurryRunner(), options=PipelineOptions(["--scurry_runner=local"]))


@pytest.fixture(autouse=True)
def on_scurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trigger_test, "TestPipeline", OnScurry)


class TestStream(trigger_test.TestStreamTranscriptTest):  # type: ignore[misc]
    pass


class TestBatch(trigger_test.BatchTranscriptTest):  # type: ignore[misc]
    pass
