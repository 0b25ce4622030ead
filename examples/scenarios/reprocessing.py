"""Reprocessing a slice of history: the streaming job's own code over one day of files, in BATCH.

Prints:

    ('tea', 6)
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from scurry.common import Types, WatermarkStrategy
from scurry.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat

archive = Path(tempfile.mkdtemp())
for day, lines in {"2026-01-30": "tea,3\ncake,4\n", "2026-01-31": "tea,5\ntea,1\n", "2026-02-01": "cake,2\n"}.items():
    (archive / day).mkdir()
    (archive / day / "orders.csv").write_text(lines)


def totals(lines: DataStream[str]) -> DataStream[tuple[str, int]]:
    """What the streaming job does with its topic, too."""
    pairs = lines.map(lambda line: (line.split(",")[0], int(line.split(",")[1])))
    return pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
day = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(archive / "2026-01-31")).build()
lines = env.from_source(day, WatermarkStrategy.no_watermarks(), "2026-01-31", Types.STRING())
totals(lines).print()
env.execute("reprocess 2026-01-31")
