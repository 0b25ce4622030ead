"""A source whose batches cannot be limited says so if it is in an alignment group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Duration, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.formats.csv import CsvReaderFormat, CsvSchema
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.source_coordinator import SourceCoordinator
from scurry.testing import job_plan_of


def lines(path: Path) -> Any:
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(path)).build()


def csv(path: Path) -> Any:
    schema = CsvSchema.builder().add_number_column("n").build()
    return FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), str(path)).build()


def notes(source: Any, groups: tuple[str, str]) -> list[str]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    for name, group, each in zip(("files", "numbers"), groups, (source, NumberSequenceSource(1, 9)), strict=True):
        strategy = WatermarkStrategy.no_watermarks().with_watermark_alignment(group, Duration.of_seconds(5))
        env.from_source(each, strategy, name).print()
    job = JobExecution(job_plan_of(env, "job"))
    SourceCoordinator(job, job.plan.sources.values())
    return [note for note in job.log.notes if "watermark alignment" in note]


@pytest.mark.parametrize(("kind", "file", "noted"), [(lines, "a.txt", 0), (csv, "a.csv", 0), (lines, "a.txt.gz", 1)])
def test_a_source_of_whole_files_or_pieces_is_named(tmp_path: Path, kind: Any, file: str, noted: int) -> None:
    (tmp_path / file).write_text("1\n")
    found = notes(kind(tmp_path / file), ("g", "g"))
    assert len(found) == noted
    assert all(note.startswith(f"source 'files' ({__file__}:") for note in found)


def test_a_source_without_others_in_its_group_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n")
    assert notes(csv(tmp_path / "a.csv"), ("g", "h")) == []
