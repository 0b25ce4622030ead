"""What a file sink writes, with names of its own, a file source reads."""

# modes: streaming batch
from __future__ import annotations

import os
import tempfile

from pyflink.common import Encoder, Row, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import (
    FileSink,
    FileSource,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
)

env = StreamExecutionEnvironment.get_execution_environment()
base = tempfile.mkdtemp()
config = OutputFileConfig.builder().with_part_prefix("mine").with_part_suffix(".txt").build()
sink = (
    FileSink.for_row_format(base, Encoder.simple_string_encoder())
    .with_output_file_config(config)
    .with_rolling_policy(RollingPolicy.default_rolling_policy())
    .build()
)
env.from_collection([Row(1, "a"), Row(2, "ü b")], type_info=Types.ROW([Types.INT(), Types.STRING()])).sink_to(sink)
env.from_collection(["x", "", "y"], type_info=Types.STRING()).sink_to(sink)
env.execute()
files = [os.path.join(top, name) for top, _, names in os.walk(base) for name in names]
print(all(os.path.basename(f).startswith("mine-") and f.endswith(".txt") for f in files))
for path in files:
    with open(path) as file:
        for line in file.read().splitlines():
            print("line %r" % line)
source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), base).build()
env.from_source(source, WatermarkStrategy.no_watermarks(), "files").map(
    lambda line: line.upper(), output_type=Types.STRING()
).print("back")
env.execute()
