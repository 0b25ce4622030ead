"""ScurryRunner: runs Beam pipelines as jobs of scurry."""

from __future__ import annotations

import threading
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions, StandardOptions
from apache_beam.options.value_provider import RuntimeValueProvider
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiMetrics
from apache_beam.runners.runner import PipelineResult, PipelineRunner, PipelineState
from apache_beam.transforms import environments

from scurry.beam.measurements import Measurements
from scurry.common.configuration import Configuration
from scurry.common.job_client import JobClient
from scurry.common.job_status import JobStatus
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ArgumentError, JobCancelledError

__all__ = ["ScurryOptions", "ScurryPipelineResult", "ScurryRunner"]


class ScurryOptions(PipelineOptions):  # type: ignore[misc]
    """Options of a pipeline that runs on scurry."""

    @classmethod
    def _add_argparse_args(cls, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--scurry_runner",
            choices=["local", "spark"],
            default=None,
            help="What executes the job: this process, or Spark. The default is what the settings say.",
        )
        parser.add_argument(
            "--scurry_config",
            action="append",
            default=[],
            help="A setting of scurry as key=value, such as parallelism.default=4; may be given several times.",
        )


class ScurryPipelineResult(PipelineResult):  # type: ignore[misc]
    """A pipeline that runs, or has run.

    Attributes:
        client: The job, with its savepoints and metrics.
    """

    def __init__(self, client: JobClient, measured: Measurements) -> None:
        super().__init__(PipelineState.RUNNING)
        self.client = client
        self._measured = measured

    @property
    def state(self) -> str:
        """The state of the pipeline, one of `PipelineState`."""
        state: str = _STATES.get(self.client.get_job_status().result(), PipelineState.RUNNING)
        return state

    def wait_until_finish(self, duration: int | None = None) -> str:
        """Wait until the pipeline has ended.

        Args:
            duration: Milliseconds to wait at most; None for as long as it takes.

        Raises:
            JobError: The pipeline failed.
        """
        result = self.client.get_job_execution_result()
        if duration is not None and duration >= 0:
            over = threading.Event()
            result.add_done_callback(lambda _: over.set())
            if not over.wait(duration / 1000):
                return self.state
        with suppress(JobCancelledError):
            result.result()
        return self.state

    def cancel(self) -> str:
        """Stop the pipeline, and wait for its end."""
        self.client.cancel().result()
        return self.state

    def metrics(self) -> Any:
        """Return the metrics of the user's functions, which `query` finds."""
        return FnApiMetrics(self._measured.by_stage(), user_metrics_only=True)

    def monitoring_metrics(self) -> Any:
        """Return all metrics, which `query` finds."""
        return FnApiMetrics(self._measured.by_stage(), user_metrics_only=False)

    def monitoring_infos(self) -> Any:
        """Yield all that bundles have measured, as Beam's MonitoringInfo."""
        for infos in self._measured.by_stage().values():
            yield from infos


_STATES = {
    JobStatus.CREATED: PipelineState.STARTING,
    JobStatus.FINISHED: PipelineState.DONE,
    JobStatus.FAILED: PipelineState.FAILED,
    JobStatus.CANCELLING: PipelineState.CANCELLING,
    JobStatus.CANCELED: PipelineState.CANCELLED,
}


class ScurryRunner(PipelineRunner):  # type: ignore[misc]
    """Run a Beam pipeline as a job of scurry, in this process or on Spark.

    Python transforms run in the process of the task that has their elements, without gRPC or containers.

    Example:
        with beam.Pipeline(runner=ScurryRunner(), options=PipelineOptions(["--scurry_runner=local"])) as pipeline: ...
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Create a runner.

        Args:
            configuration: Settings of the jobs, which the pipeline's options override; None for none.
        """
        super().__init__()
        self._configuration = configuration

    def default_environment(self, options: PipelineOptions) -> Any:
        """Return the environment of transforms: the process of the task."""
        return environments.EmbeddedPythonEnvironment.default()

    def run_portable_pipeline(self, pipeline: Any, options: PipelineOptions) -> ScurryPipelineResult:
        """Start a pipeline.

        Raises:
            UnsupportedError: It has a transform that scurry does not run.
        """
        from scurry.beam.stages import has_test_stream, stages_of
        from scurry.beam.translation import Translation

        RuntimeValueProvider.set_runtime_options(options.get_all_options())
        tests = has_test_stream(pipeline)
        streaming = tests or bool(options.view_as(StandardOptions).streaming)
        measured = Measurements()
        env = StreamExecutionEnvironment.get_execution_environment(self._settings(options, streaming, tests))
        Translation(env, stages_of(pipeline, streaming), measured, streaming).build()
        name = options.view_as(GoogleCloudOptions).job_name or "Beam pipeline"
        return ScurryPipelineResult(env.execute_async(name), measured)

    def _settings(self, options: PipelineOptions, streaming: bool, tests: bool) -> Configuration:
        settings, own = Configuration(self._configuration), options.view_as(ScurryOptions)
        settings.set_string("execution.runtime-mode", "STREAMING" if streaming else "BATCH")
        if tests:  # an event has its effects in all stages before the next one
            settings.set_string("scurry.batch.max-records", "1")
        if own.scurry_runner:
            settings.set_string("scurry.runner", own.scurry_runner)
        for each in own.scurry_config:
            key, equals, value = each.partition("=")
            if not equals:
                raise ArgumentError(f"--scurry_config={each}: write it as key=value, such as parallelism.default=4")
            settings.set_string(key, value)
        return settings
