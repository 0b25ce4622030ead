"""Readings from files that keep coming -> sums per sensor and window, and a running count per sensor, all to files.

    endless.py INPUT OUTPUT CHECKPOINTS STOP

When the file STOP exists the job ends with a savepoint next to it; if it says `drain`, event time ends, too.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from scurry.common import Duration, JobStatus, Time, Types, WatermarkStrategy
from scurry.common.configuration import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.window import TumblingEventTimeWindows
from support.faults.programs.windows_and_counts import (
    READING,
    WINDOW,
    RunningCount,
    SumOfWindow,
    Timestamp,
    parse,
    write,
)


def main(source: str, output: str, checkpoints: str, stop: str) -> None:
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.dir", checkpoints)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), source)
    files = lines.monitor_continuously(Duration.of_millis(200)).build()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    per_sensor = (
        env.from_source(files, WatermarkStrategy.no_watermarks(), "readings")
        .map(parse, output_type=READING)
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Timestamp()))
        .key_by(lambda reading: reading[0], key_type=Types.STRING())
    )
    windows = per_sensor.window(TumblingEventTimeWindows.of(Time.seconds(10)))
    write(windows.process(SumOfWindow(), output_type=WINDOW), f"{output}/sums")
    write(per_sensor.process(RunningCount(), output_type=Types.STRING()), f"{output}/counts")
    finish(env.execute_async("endless"), stop, os.path.join(os.path.dirname(stop), "savepoints"))


def finish(job: Any, stop: str, savepoints: str) -> None:
    said = 0
    while job.get_job_status().result() in (JobStatus.RUNNING, JobStatus.RESTARTING):
        notes = list(job.execution.log.notes)
        for note in notes[said:]:
            print(note, flush=True)
        said = len(notes)
        if os.path.exists(stop):
            with open(stop) as file:
                job.stop_with_savepoint(file.read() == "drain", savepoints).result()
            break
        time.sleep(0.1)
    job.get_job_execution_result().result()


if __name__ == "__main__":
    main(*sys.argv[1:])
