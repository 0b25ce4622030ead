"""Run a pipeline as a job."""

from __future__ import annotations

from pathlib import Path

from scurry.common.configuration import Configuration
from scurry.connectors.cdc.capture import CapturedTable
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ScurryError, ValidationError
from scurry.sql.pipelines.columns import TableColumns, columns_of
from scurry.sql.pipelines.definition import Pipeline, read_pipeline
from scurry.sql.pipelines.sink import PipelineSink
from scurry.sql.pipelines.source import PipelineSource


def run(path: Path, configuration: Configuration | None = None) -> None:
    """Run the pipeline of a file until it is ended; in `scan.startup.mode: snapshot` until all rows are written.

    Raises:
        ValidationError: The file is wrong; the message has the line and the column.
        ScurryError: The database or the sink cannot be reached, or refuses a table.
        JobError: The job has failed.
    """
    pipeline = read_pipeline(path)
    check_tables(pipeline)
    env = environment(pipeline, configuration)
    env.execute(pipeline.name)


def environment(pipeline: Pipeline, configuration: Configuration | None = None) -> StreamExecutionEnvironment:
    """Return an environment with the job of a pipeline."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    if pipeline.parallelism is not None:
        env.set_parallelism(pipeline.parallelism)
    source = PipelineSource(pipeline.capture, pipeline.settings, pipeline.plan)
    rows = env.from_source(source, None, f"source {pipeline.name}").uid("source")
    rows.sink_to(PipelineSink(pipeline.target)).name(f"sink {pipeline.name}").uid("sink")
    return env


def check_tables(pipeline: Pipeline) -> None:
    """Look at the captured tables, and create those of the sink, so that mistakes are seen at once.

    Raises:
        ScurryError: A table is refused; the message has the line and the column of what is about it.
    """
    document, plan = pipeline.document, pipeline.plan
    try:
        session = pipeline.capture.open()
        try:
            tables = session.tables()
        finally:
            session.close(False)
        columns = columns_of(pipeline.capture, tables)
    except ScurryError as error:
        raise document.block("source").explained(error) from None
    for table in tables:
        try:
            compiled = plan.compiled(table.id, columns[table.id])
        except ScurryError as error:
            raise _of_transform(pipeline, table, columns[table.id], error) from None
        for sink in compiled.sinks:
            try:
                pipeline.target.prepare(sink, False)  # a job that goes on may rename columns
                pipeline.target.sink(sink)
            except ScurryError as error:
                raise document.block("sink").explained(error) from None


def _of_transform(
    pipeline: Pipeline, table: CapturedTable, columns: TableColumns, error: ScurryError
) -> ValidationError:
    rules = zip(pipeline.plan.transforms, pipeline.document.blocks("transform"), strict=True)
    about_table = [(rule, block) for rule, block in rules if rule.source.match(table.id)]
    block = about_table[-1][1]  # if they do not fit together
    for rule, its_block in about_table:
        try:
            rule.compiled(table.id, columns, pipeline.plan.time_zone)
        except ScurryError:
            block = its_block
            break
    text = str(error)
    about = next((key for key in ("primary-keys", "partition-keys", "filter") if key in text), "projection")
    found = block.error(about, f"{block.name} of table {table.id.path}: {text}")
    for note in getattr(error, "__notes__", ()):
        found.add_note(note)
    return found
