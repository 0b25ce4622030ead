"""Beam's tests of its own runner, with ScurryRunner in its place: run by tests/beam/test_beam.py."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import fn_runner_test

from scurry.beam import ScurryRunner


class TestScurryRunner(fn_runner_test.FnApiRunnerTest):  # type: ignore[misc]
    def create_pipeline(self, is_drain: bool = False) -> Any:
        return beam.Pipeline(runner=ScurryRunner(), options=PipelineOptions(["--scurry_runner=local"]))
