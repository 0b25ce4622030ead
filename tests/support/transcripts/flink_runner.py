"""Plays the scripts on Flink itself: `python -m support.transcripts.scripts > all.json` in the directory `tests`.

Then, with PyFlink, `python -m support.transcripts.flink_runner all.json`.

Flink's clock cannot be set, so only scripts that leave it alone are played; and, as its tables know no time before
1970, none with negative times. PyFlink has no watermark generators of its own: watermarks come by way of a table, whose
watermark is a column. Prints what differs and is not known to; the count of that is the exit status.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Schema, StreamTableEnvironment

from support.transcripts import pipelines

SCRIPTS_PER_JOB = 12
#: PyFlink sends timers set in a timer's callback to Flink when all timers due have fired; in Java they fire with them.
LATE_TIMERS = "PyFlink: a timer set while timers fire waits for the next watermark"
#: In PyFlink, windows that merge because of an element out of order lose what is in one of them, as no Java job would.
LOST_SESSIONS = "PyFlink: sessions that an element out of order merges lose contents"
KNOWN = {
    "accumulators of merged sessions are merged": LOST_SESSIONS,
    "reduced values of merged sessions are reduced": LOST_SESSIONS,
    "counts of merging sessions add up": LOST_SESSIONS,
    "a timer set while timers fire fires with them if it is due": LATE_TIMERS,
    "timers set while timers fire keep the order of time with those of other keys": LATE_TIMERS,
    "at the end of input all event-time timers fire": LATE_TIMERS,
    "a continuous trigger makes up for intervals a watermark jumps over": LATE_TIMERS,
    "a continuous trigger on sessions goes on with the earliest interval when they merge": LATE_TIMERS,
}
ROW = Types.ROW_NAMED(
    ["kind", "key", "value", "ts", "wm"], [Types.STRING(), Types.STRING(), Types.STRING(), Types.LONG(), Types.LONG()]
)


def rows(script: dict[str, Any]) -> list[Any]:
    """The input of a script: each row says what the watermark is after it."""
    watermark, found = 0, []
    for kind, argument in script["steps"]:
        if kind == "element":
            found.append((kind, argument[0], json.dumps(argument[1]), argument[2], watermark))
        elif kind == "watermark":
            watermark = argument
            found.append((kind, "", "", watermark, watermark))
    return found


def playable(script: dict[str, Any]) -> bool:
    if any(kind == "clock" for kind, _ in script["steps"]):
        return False
    times = [argument[2] for kind, argument in script["steps"] if kind == "element"]
    return min(times, default=0) >= 0


def stream_of(env: Any, tables: Any, script: dict[str, Any]) -> Any:
    schema = (
        Schema.new_builder()
        .column_by_expression("time", "TO_TIMESTAMP_LTZ(ts, 3)")
        .watermark("time", "TO_TIMESTAMP_LTZ(wm, 3)")
        .build()
    )
    table = tables.from_data_stream(env.from_collection(rows(script), ROW), schema)
    elements = tables.to_data_stream(table).filter(lambda row: row[0] == "element")
    return elements.map(lambda row: (row[1], json.loads(row[2])))


def tagged(stream: Any, name: str, output: str) -> Any:
    return stream.map(lambda result: json.dumps([name, output, result]), Types.STRING())


def play(scripts: list[dict[str, Any]]) -> dict[tuple[str, str], list[Any]]:
    """The results and late records of some scripts."""
    configuration = Configuration()
    configuration.set_string("pipeline.auto-watermark-interval", "0")  # each watermark at once
    configuration.set_string("python.fn-execution.bundle.size", "1")  # a larger bundle holds watermarks back
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    tables = StreamTableEnvironment.create(env)
    outputs = []
    for script in scripts:
        results, late = pipelines.build(script, stream_of(env, tables, script))
        outputs.append(tagged(results, script["name"], "results"))
        if late is not None:
            outputs.append(tagged(late, script["name"], "late"))
    found: dict[tuple[str, str], list[Any]] = {}
    with outputs[0].union(*outputs[1:]).execute_and_collect() as collected:
        for line in collected:
            name, output, result = json.loads(line)
            found.setdefault((name, output), []).append(result)
    return found


def expected(script: dict[str, Any], *kinds: str) -> list[Any]:
    return [result for kind, argument in script["steps"] if kind in kinds for result in argument]


def main() -> int:
    with open(sys.argv[1]) as file:
        scripts = [script for script in json.load(file) if playable(script)]
    different = 0
    for start in range(0, len(scripts), SCRIPTS_PER_JOB):
        some = scripts[start : start + SCRIPTS_PER_JOB]
        found = play(some)
        for script in some:
            for output, kinds in (("results", ("expect", "expect_in_order")), ("late", ("expect_late",))):
                got = sorted(found.get((script["name"], output), []), key=repr)
                want = sorted(expected(script, *kinds), key=repr)
                if got != want and script["name"] in KNOWN:
                    print(f"{script['name']}: {KNOWN[script['name']]}", flush=True)
                elif got != want:
                    different += 1
                    print(f"{script['name']}, {output}\n  Flink    {got}\n  expected {want}", flush=True)
    print(f"{len(scripts)} scripts, {different} differences")
    return different


if __name__ == "__main__":
    sys.exit(main())
