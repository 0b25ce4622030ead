"""Text files of a directory and its directories, several paths, empty lines, no hidden files, no newline at the end."""

# modes: streaming batch
from __future__ import annotations

import os
import tempfile

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

base = tempfile.mkdtemp()
os.makedirs(base + "/in/deeper")
for name, text in {
    "in/a.txt": "one\ntwo\n\n",
    "in/deeper/b.txt": "three",
    "in/.hidden": "no\n",
    "in/_under": "no\n",
    "single.txt": "fünf \n  six\r\n",
    "in/empty.txt": "",
}.items():
    with open(os.path.join(base, name), "w", newline="") as file:
        file.write(text)
env = StreamExecutionEnvironment.get_execution_environment()
lines = StreamFormat.text_line_format()
source = FileSource.for_record_stream_format(lines, base + "/in", base + "/single.txt").build()
env.from_source(source, WatermarkStrategy.no_watermarks(), "files").map(
    lambda line: "%r" % line, output_type=Types.STRING()
).print()
env.execute()
