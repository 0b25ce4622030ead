"""The savepoint of a BATCH job as the driver sees it."""

from __future__ import annotations

from contextlib import AbstractContextManager

from scurry.runtime.driver.job import JobExecution
from scurry.runtime.savepoint.batch_savepoint import batch_savepoint
from scurry.runtime.savepoint.format import SavepointMetadata, new_savepoint_path
from scurry.runtime.savepoint.metadata import Description, SourcePositions, metadata_of


def final_savepoint(job: JobExecution) -> AbstractContextManager[str | None]:
    """Return a context around a BATCH job up to the commit of its sinks; it yields the path that state is written to.

    The path is None if the job does not end in a savepoint.
    """
    settings = job.plan.settings
    directory = settings.final_savepoint_dir

    def metadata() -> SavepointMetadata:
        description = Description.of(job.plan, job.state_schemas)
        sources = SourcePositions()  # none: the streaming job has its own
        return metadata_of(job.as_saved(), description, 0, sources)

    def taken(path: str) -> None:
        job.savepoint_path = path
        job.log.note(f"state saved to {path}", "savepoint taken", logger="savepoint")

    path = None if directory is None else new_savepoint_path(directory, str(job.job_id))
    return batch_savepoint(path, metadata, taken)
