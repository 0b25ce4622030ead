"""Counts words: those of a file, or of a few lines if there is none.

    scurry run examples/word_count.py
    scurry run --mode batch examples/word_count.py --input book.txt --output counts

A stream prints the new count for every word that comes; a batch job (`--mode batch`) prints each word once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scurry.common import Encoder, Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, StreamFormat

LINES = [
    "To be, or not to be, -- that is the question: --",
    "Whether 'tis nobler in the mind to suffer",
    "The slings and arrows of outrageous fortune",
    "Or to take arms against a sea of troubles,",
    "And by opposing end them? -- To die, -- to sleep, --",
]


def words_of(line: str) -> list[str]:
    words = (word.strip(",.;:?!-'\"").lower() for word in line.split())
    return [word for word in words if word]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--input", type=Path, help="file or directory of text to read")
    parser.add_argument("--output", type=Path, help="directory to write the counts to, instead of the terminal")
    args = parser.parse_args()

    env = StreamExecutionEnvironment.get_execution_environment()
    if args.input is None:
        lines = env.from_collection(LINES, type_info=Types.STRING())
    else:
        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(args.input)).build()
        lines = env.from_source(source, None, "lines", Types.STRING())

    counts = (
        lines.flat_map(words_of, output_type=Types.STRING())
        .map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    if args.output is None:
        counts.print().set_parallelism(1)
    else:
        sink = FileSink.for_row_format(str(args.output.resolve()), Encoder.simple_string_encoder())
        counts.sink_to(sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
    env.execute("word count")


if __name__ == "__main__":
    main()
