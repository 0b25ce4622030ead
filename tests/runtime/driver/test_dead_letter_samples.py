"""What a running job keeps of the records that went to dead letters."""

from __future__ import annotations

from scurry.common import Configuration
from scurry.datastream import OutputTag, StreamExecutionEnvironment
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.driver.dead_letters import SampledDeadLetter

BROKEN = OutputTag("broken")


def samples(records: list[str], **settings: str) -> list[SampledDeadLetter]:
    configuration = Configuration.from_dict({"scurry.runner": "local", "scurry.progress": "off", **settings})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    numbers = env.from_collection(records).map(int).name("numbers").with_dead_letters(BROKEN)
    numbers.print()
    job = env.execute_async("samples")
    job.get_job_execution_result().result()
    assert isinstance(job, RunningJob)
    return list(job.execution.dead_letters.latest)


def test_a_sample_names_record_error_and_operator() -> None:
    (found,) = samples(["1", "x", "3"])
    assert (found.record, found.error, found.operator, found.subtask) == ("'x'", "ValueError", "numbers", 0)
    assert "invalid literal" in found.message


def test_a_task_samples_few_of_a_batch_and_shortens_them() -> None:
    found = samples(["x" * 5000] * 100)
    assert len(found) == 5
    assert all(len(each.record) < 400 for each in found)


def test_secrets_are_hidden() -> None:
    (found,) = samples(["password=hunter2"])
    assert "hunter2" not in found.record + found.message
