"""The program whose savepoints are kept in tests/fixtures/savepoint-v1 to -v3, and that goes on with them.

    python tests/state/kept_savepoints.py DIRECTORY      # writes such a savepoint with the release at hand

Releases to come must read what this one wrote: neither the classes in state (`pipelines.Visit`) nor uids may change.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pipelines

from scurry.common import Configuration, Duration, WatermarkStrategy
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor
from scurry.runtime.keys import key_hash

#: Keys of one key group, whose state together is in a run: since version 3.
ARTICLES = [key for key in (f"article {number}" for number in range(2000)) if key_hash(key) % 128 == 1]

BEFORE = """\
price,tea,3,0
visit,ann,home 10,1000
sale,tea,2,1500
visit,ann,shop 30,2000
visit,bob,home 20,3000
""" + "".join(f"article,{key},3000\n" for key in ARTICLES)
#: the number of results of these lines: a count per visit, what was sold, and the articles
RESULTS_BEFORE = 4 + len(ARTICLES)

AFTER = f"""\
visit,ann,home 50,4000
article,{ARTICLES[0]},4200
sale,tea,1,4500
visit,ann,shop 10,70000
visit,ann,shop 10,90000
"""


class Article(KeyedProcessFunction):
    """Keeps a text of 4,000 characters and a timer; tells how long the text was before."""

    def open(self, runtime_context: Any) -> None:
        self.text = runtime_context.get_state(ValueStateDescriptor("text"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield ctx.get_current_key(), len(self.text.value() or "")
        self.text.update(value[1].ljust(4000))
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 80_000)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield "timer", ctx.get_current_key(), timestamp


def build(env: StreamExecutionEnvironment, directory: str) -> dict[str, Any]:
    """The streams whose records count, by name."""
    text = FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory)
    source = text.monitor_continuously(Duration.of_millis(20)).build()
    watermarks = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_time)
    lines = env.from_source(source, watermarks, "lines").uid("lines").set_parallelism(1)
    records = lines.map(lambda line: line.split(","))
    visits = records.filter(lambda record: record[0] == "visit").map(_visit)
    seconds = visits.map(lambda pair: (pair[0], pair[1].seconds))
    sales = records.filter(lambda record: record[0] == "sale").map(lambda record: (record[1], int(record[2])))
    prices = records.filter(lambda record: record[0] == "price").map(lambda record: (record[1], int(record[2])))
    articles = records.filter(lambda record: record[0] == "article")
    return {
        "articles": articles.key_by(lambda record: record[1]).process(Article()).uid("articles"),
        "profiles": pipelines.profiles(visits),
        "windows": pipelines.windows(seconds),
        "sessions": pipelines.sessions(seconds),
        "revenue": pipelines.revenue(sales, prices),
    }


def _time(line: str, before: int) -> int:
    return int(line.rpartition(",")[2])


def _visit(record: list[str]) -> tuple[str, pipelines.Visit]:
    page, seconds = record[2].split()
    return record[1], pipelines.Visit(page, int(seconds), ["a tag"])


def run(lines: str, ready: Callable[[dict[str, list[Any]]], bool], stop: Callable[[Any], Any], **settings: Any) -> Any:
    """Runs the program in this process on some lines; stops it when its results are ready."""
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    configuration.set_string("execution.runtime-mode", "STREAMING")
    for key, value in settings.items():
        configuration.set_string(key.replace("__", ".").replace("_", "-"), str(value))
    env = StreamExecutionEnvironment(configuration)
    results: dict[str, list[Any]] = {}
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / f"{len(lines)}.txt").write_text(lines)
        for name, stream in build(env, directory).items():
            results[name] = []
            stream._sink(CollectSink(results[name].extend), name)
        client = env.execute_async("savepoint-v1")
        deadline = time.monotonic() + 120
        while not ready(results) and time.monotonic() < deadline:
            time.sleep(0.02)
        stopped = stop(client)
    return results, stopped


if __name__ == "__main__":
    _, path = run(
        BEFORE,
        lambda results: sum(map(len, results.values())) >= RESULTS_BEFORE,
        lambda client: client.stop_with_savepoint(False, sys.argv[1]).result(),
        parallelism__default=2,
    )
    print(path)
