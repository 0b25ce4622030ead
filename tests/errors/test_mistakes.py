"""The mistakes that beginners made when scurry was tried, each with all that its user sees.

A program has the line to look at marked with `# here`; the report names it. Programs run as `scurry run` runs them, in
this process. What needs Spark, a broker or a worker is tested elsewhere: `ELSEWHERE` says where, and that it is there.
"""

from __future__ import annotations

import io
import pdb
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scurry.cli.commands import app
from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions

#: A line of the program as errors show it: `program.py:LINE: CODE` or `program.py:LINE in NAME: CODE`.
SHOWN = re.compile(r"program\.py:(\d+)(?: in \S+)?: (.+)$", re.MULTILINE)
#: What no text that a user sees may contain: names of Java's and of scurry's own files.
FOREIGN = re.compile(r"org\.apache|java\.\w|Long\.M|site-packages|src/scurry|typer|\w+Exception\b|Traceback")
SETUP = """
import datetime, threading
from scurry.common import *
from scurry.common.time import *
from scurry.common.watermark_strategy import *
from scurry.datastream import *
from scurry.datastream.functions import *
from scurry.datastream.state import *
from scurry.datastream.window import *
from scurry.datastream.connectors.file_system import *
from scurry.testing import TestHarness

env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection([1, 2])
people = env.from_collection([{"user": "ann", "amount": 2}])
monotonous = WatermarkStrategy.for_monotonous_timestamps()
"""


@dataclass(frozen=True)
class Mistake:
    """A program with a mistake.

    Attributes:
        number: Its number in the list.
        name: What is wrong.
        program: What follows `SETUP`.
        says: What the user reads, in this order; the line marked `# here` is checked besides.
        status: Exit status of the program.
    """

    number: int
    name: str
    program: str
    says: tuple[str, ...]
    status: int = 1


MISTAKES = [
    Mistake(
        1,
        "a result of another type than declared",
        'numbers.map(lambda n: f"{n}x", Types.INT()).print()  # here\nenv.execute()',
        (
            "Integer does not accept '1x' (Python type str); return a matching value or change the declared type",
            "operator 'Map'",
            "record: '1x'",
        ),
    ),
    Mistake(
        2,
        "a function without return",
        'def load(n):\n    {"n": n}\nnumbers.map(load).map(lambda r: r["n"]).print()  # here\nenv.execute()',
        (
            "'NoneType' object",
            'r["n"]',
            "operator 'Map'",
            "record: None",
            "did the function of 'Map' (",
            "def load(n):) return nothing?",
        ),
    ),
    Mistake(
        3,
        "a lock in a closure",
        "lock = threading.Lock()\ndef locked(n):\n    with lock:\n        return n\n"
        "numbers.map(locked).print()  # here\nenv.execute()",
        ("operator 'Map'", "cannot be sent to workers: variable 'lock'", "hint: create connections, locks", "open()"),
    ),
    Mistake(
        4,
        "misspelt keys of the configuration",
        "wrong = Configuration.from_dict({'paralelism.default': '2', 'pipeline.nam': 'x'})\n"
        "StreamExecutionEnvironment.get_execution_environment(wrong)  # here",
        ("paralelism.default is unknown: did you mean parallelism.default?", "did you mean pipeline.name?"),
    ),
    Mistake(
        5,
        "a number in a configuration of texts",
        "Configuration.from_dict({'parallelism.default': 2})  # here",
        ("'parallelism.default' = 2: both must be str: write '2', or use set_integer",),
    ),
    Mistake(
        6,
        "event-time windows without timestamps",
        "windows = TumblingEventTimeWindows.of(Time.seconds(5))\n"
        "numbers.key_by(lambda n: n).window(windows).reduce(max).print()  # here\nenv.execute()",
        (
            "the record has no timestamp, so it belongs to no event-time window",
            "operator 'TumblingEventTimeWindows'",
            "record: 1",
            "hint: call assign_timestamps_and_watermarks(...) before key_by, or use processing-time",
        ),
    ),
    Mistake(
        7,
        "timestamps in seconds",
        "class Assigner(TimestampAssigner):\n    def extract_timestamp(self, value, record_timestamp):\n"
        "        return 1_718_000_000\n"
        "numbers.assign_timestamps_and_watermarks(monotonous.with_timestamp_assigner(Assigner())).print()  # here\n"
        "env.execute()",
        ("look like seconds: 1718000000 is 1970-01-20 in milliseconds", "return milliseconds, value * 1000"),
        status=0,
    ),
    Mistake(
        8,
        "a file that is not there",
        "lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), '/nowhere/in').build()\n"
        "env.from_source(lines, None, 'in').print()  # here\nenv.execute()",
        ("there is no file or directory /nowhere/in; check the path", "in source 'in' built at"),
    ),
    Mistake(
        9,
        "a key selector that fails",
        "people.key_by(lambda person: person['usr']).reduce(max).print()  # here\nenv.execute()",
        ("KeyError: 'usr'", "operator 'KeyBy'", "record: {'user': 'ann'", "hint: the key selector failed"),
    ),
    Mistake(
        10,
        "an unbounded source in BATCH",
        "env.set_runtime_mode(RuntimeExecutionMode.BATCH)\n"
        "env.socket_text_stream('localhost', 1).print()  # here\nenv.execute()",
        ("source 'Socket Stream'", "is unbounded, but execution.runtime-mode is BATCH", "set it to STREAMING"),
    ),
    Mistake(
        11,
        "state without keys",
        "class Counts(ProcessFunction):\n    def open(self, context):\n"
        "        self.count = context.get_state(ValueStateDescriptor('count', Types.INT()))  # here\n"
        "    def process_element(self, value, ctx):\n        yield value\n"
        "numbers.process(Counts()).print()\nenv.execute()",
        ("state 'count' of operator 'PROCESS'", "needs a keyed stream; call key_by() before this operator"),
    ),
    Mistake(
        12,
        "no execute()",
        "numbers.print()  # here",
        ("built 1 operator that it did not execute: call env.execute()", "the last one at ", ": numbers.print()"),
        status=0,
    ),
    Mistake(
        15,
        "a parallelism that is text",
        "env.set_parallelism('4')  # here",
        ("set_parallelism: parallelism must be int, got '4' (str)",),
    ),
    Mistake(
        17,
        "a number that is none",
        "wrong = Configuration.from_dict({'parallelism.default': 'zwei'})\n"
        "StreamExecutionEnvironment.get_execution_environment(wrong)  # here",
        ("parallelism.default = 'zwei' cannot be used: expected a whole number",),
    ),
    Mistake(
        18,
        "a duration that is none",
        "wrong = Configuration.from_dict({'execution.checkpointing.interval': 'ten seconds'})\n"
        "StreamExecutionEnvironment.get_execution_environment(wrong)  # here",
        ("interval = 'ten seconds' cannot be used: expected a duration such as '200 ms', '10 s'",),
    ),
    Mistake(
        19,
        "a flat_map that returns text",
        "env.from_collection(['word']).flat_map(lambda word: word).print()  # here\nenv.execute()",
        ("'FlatMap' (", "returned the text 'word' and emits it letter by letter", "return [text]"),
        status=0,
    ),
    Mistake(
        20,
        "process_element that returns a number",
        "class Same(ProcessFunction):\n    def process_element(self, value, ctx):  # here\n        return value\n"
        "numbers.process(Same()).print()\nenv.execute()",
        ("process_element returned a value of type int", "operator 'PROCESS'", "record: 1", "hint: yield the results"),
    ),
    Mistake(
        21,
        "a window without keys",
        "numbers.window(TumblingEventTimeWindows.of(Time.seconds(5)))  # here",
        ("'DataStream' object has no attribute 'window': call key_by(...) before window(...), or window_all(...)",),
    ),
    Mistake(
        22,
        "a method that streams do not have",
        "numbers.count()  # here",
        ("no attribute 'count': map each record to (key, 1), then key_by(...) and sum(1)",),
    ),
    Mistake(
        23,
        "a misspelt field of a row",
        "env.from_collection([Row(user='ann', amount=1)]).map(lambda row: row.amuont).print()  # here\nenv.execute()",
        ("no field 'amuont'; the row has 'user', 'amount'", "operator 'Map'", "record: Row(user='ann', amount=1)"),
    ),
    Mistake(
        24,
        "a type that is not called",
        "numbers.map(str, output_type=Types.STRING)  # here",
        ("output_type is the method Types.STRING: call it, Types.STRING()",),
    ),
    Mistake(
        25,
        "a class instead of an object",
        "class Same(MapFunction):\n    def map(self, value):\n        return value\nnumbers.map(Same)  # here",
        ("Same is a class; pass an instance of it: Same()",),
    ),
    Mistake(
        26,
        "an attribute that open() should set",
        "class Counts(MapFunction):\n    def map(self, value):\n        self.count += 1  # here\n"
        "numbers.map(Counts()).print()\nenv.execute()",
        ("no attribute 'count'", "operator 'Map'", "record: 1", "hint: nothing has set self.count: set it in open()"),
    ),
    Mistake(
        27,
        "a timer without keys",
        "class Later(ProcessFunction):\n    def process_element(self, value, ctx):\n"
        "        ctx.timer_service().register_event_time_timer(5)  # here\n"
        "numbers.process(Later()).print()\nenv.execute()",
        ("timers is only supported on a keyed stream: call key_by() first", "operator 'PROCESS'", "record: 1"),
    ),
    Mistake(
        28,
        "a datetime as timestamp",
        "class Assigner(TimestampAssigner):\n    def extract_timestamp(self, value, record_timestamp):\n"
        "        return datetime.datetime(2024, 6, 10)\n"
        "numbers.assign_timestamps_and_watermarks(monotonous.with_timestamp_assigner(Assigner())).print()  # here\n"
        "env.execute()",
        (
            "must be an int (milliseconds since the epoch), not datetime",
            "record: 1",
            "return int(x.timestamp() * 1000)",
        ),
    ),
    Mistake(
        29,
        "an assigner of one argument",
        "class Assigner(TimestampAssigner):\n    def extract_timestamp(self, value):  # here\n        return 1\n"
        "numbers.assign_timestamps_and_watermarks(monotonous.with_timestamp_assigner(Assigner())).print()\n"
        "env.execute()",
        (
            "takes 2 positional arguments",
            "record: 1",
            "hint: extract_timestamp is called as extract_timestamp(value, record_timestamp)",
        ),
    ),
    Mistake(
        29,
        "an assigner that is a function of one argument",
        "timed = monotonous.with_timestamp_assigner(lambda value: value)  # here\n"
        "numbers.assign_timestamps_and_watermarks(timed).print()\nenv.execute()",
        (
            "takes 1 positional argument",
            "operator 'Timestamps/Watermarks'",
            "record: 1",
            "hint: a timestamp assigner takes two arguments: (value, record_timestamp)",
        ),
    ),
    Mistake(
        30,
        "a union of two types",
        "texts = env.from_collection(['a'], Types.STRING())\n"
        "env.from_collection([1], Types.INT()).union(texts)  # here",
        ("Cannot union streams of different types: Integer and String; map one",),
    ),
    Mistake(
        31,
        "a reduce that changes the type",
        "pair = Types.TUPLE([Types.STRING(), Types.INT()])\npairs = env.from_collection([('a', 1), ('a', 2)], pair)\n"
        "pairs.key_by(lambda p: p[0]).reduce(lambda a, b: a[1] + b[1]).print()  # here\nenv.execute()",
        (
            "(String, Integer) does not accept 3 (Python type int); return a matching value or change",
            "operator 'Reduce'",
            "record: 3",
        ),
    ),
    Mistake(
        32,
        "a uid that is given twice",
        "numbers.map(str).uid('a').map(len).uid('a').print()  # here\nenv.execute()",
        ("uid 'a' is given to two operators", "state is matched by uid, so each needs its own"),
    ),
    Mistake(
        33,
        "a name that is not defined",
        "numbers.map(lambda n: n * factor).print()  # here\nenv.execute()",
        ("name 'factor' is not defined", "operator 'Map'", "record: 1"),
    ),
    Mistake(
        34,
        "a table of an environment of streams",
        "env.sql_query('SELECT 1')  # here",
        ("no attribute 'sql_query'", "StreamTableEnvironment.create(env)"),
    ),
    Mistake(
        35,
        "a path instead of a sink",
        "numbers.sink_to('out')  # here",
        ("sink_to takes a sink from datastream.connectors, got 'out'; pass one, such as FileSink.for_row_format(",),
    ),
    Mistake(
        36,
        "a source that is not built",
        "lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), 'in')\n"
        "env.from_source(lines, None, 'in')  # here",
        ("the FileSourceBuilder is not built: call .build() on it",),
    ),
    Mistake(
        37,
        "a field as key",
        "people.key_by('user')  # here",
        ("got 'user'; pass a function: lambda record: record['user']",),
    ),
    Mistake(
        38,
        "a method that state does not have",
        "class Seen(KeyedProcessFunction):\n    def open(self, context):\n"
        "        self.seen = context.get_map_state(MapStateDescriptor('seen', Types.INT(), Types.INT()))\n"
        "    def process_element(self, value, ctx):\n        self.seen.update({value: 1})  # here\n"
        "numbers.key_by(lambda n: n).process(Seen()).print()\nenv.execute()",
        (
            "'MapState' object has no attribute 'update'",
            "operator 'KEYED PROCESS'",
            "record: 1",
            "put(key, value) sets",
        ),
    ),
    Mistake(
        39,
        "a global variable as state",
        "count = 0\ndef counted(n):\n    global count\n    count += 1\n    return n\n"
        "numbers.map(counted).print()  # here\nenv.execute()",
        ("the function of 'Map' (", "changes the global variable 'count': each worker has its own", "ValueState"),
        status=0,
    ),
    Mistake(
        44,
        "state of a harness by its name",
        "with TestHarness.of(lambda stream: stream.key_by(str).map(str)) as harness:\n"
        "    harness.state('count', 1)  # here",
        ("ValueStateDescriptor('count', Types.INT())",),
    ),
    Mistake(
        45,
        "a breakpoint without a terminal",
        "def stops(n):\n    breakpoint()  # here\n    return n\nnumbers.map(stops).print()\nenv.execute()",
        (
            "BdbQuit: breakpoint() found no terminal",
            "operator 'Map'",
            "record: 1",
            "hint: breakpoint() needs a terminal",
        ),
    ),
]

ELSEWHERE = {
    13: (
        "errors/test_unreachable_broker.py",
        "test_the_source_and_the_users_lines_are_named_and_the_wait_is_announced",
    ),
    14: ("kafka/test_reading_topics.py", "there is no topic 'no-such-topic' at"),
    41: ("common/test_spark_master.py", "test_what_is_no_master_is_refused_with_the_forms_there_are"),
    42: ("spark/session/test_java.py", "JavaMissingError"),
    43: ("graph/test_shipping.py", "test_a_module_that_a_worker_lacks_is_named_with_the_operators_that_use_it"),
}

COMMANDS = {
    16: [
        (["run", "-p", "four", "word_count.py"], "'--parallelism' / '-p': 'four' is not a whole number of 1 or more"),
        (
            ["run", "--mode", "stream", "word_count.py"],
            "not one of 'streaming', 'batch', 'automatic'; did you mean 'streaming'?",
        ),
        (["run", "--runner", "flink", "word_count.py"], "'flink' is not one of 'spark', 'local'"),
    ],
    17: [
        (["run", "-D", "parallelism.default=zwei", "word_count.py"], "'-D': configuration parallelism.default = 'zwei'")
    ],
    18: [
        (
            ["run", "-D", "execution.checkpointing.interval=soon", "word_count.py"],
            "expected a duration such as '200 ms'",
        )
    ],
    4: [(["run", "-D", "paralelism.default=2", "word_count.py"], "unknown: did you mean parallelism.default?")],
    41: [(["run", "--master", "foo", "word_count.py"], "'--master': 'foo' is no Spark master: use local[N]")],
    40: [(["run", "nofile.py"], "'nofile.py' does not exist"), (["rnu", "x.py"], "Did you mean 'run'?")],
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.number}: {each.name}")
def test_the_message_says_what_is_wrong_where_and_what_to_do(
    mistake: Mistake,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # as pdb without a terminal; pytest's own would stop capturing
    debugger = pdb.Pdb(stdin=io.StringIO(), stdout=io.StringIO())
    monkeypatch.setattr(sys, "breakpointhook", lambda: debugger.set_trace(sys._getframe(1)))
    program = tmp_path / "program.py"
    program.write_text(SETUP + mistake.program + "\n", encoding="utf-8")
    status = run_program(program, [], LaunchOptions(runner="local"), debug=False)
    text = capsys.readouterr().err
    if not status:  # notes are logged, and pytest captures what would go to standard error
        text += caplog.text
    assert status == mistake.status, text
    place = -1
    for part in mistake.says:
        place = text.find(part, place + 1)
        assert place >= 0, f"{part!r} is not, or not there, in:\n{text}"
    lines = (SETUP + mistake.program).splitlines()
    for number in [number for number, line in enumerate(lines, 1) if line.endswith("# here")]:
        assert f"{program}:{number}" in text, text
    if status:
        shown = [(int(number), code) for number, code in SHOWN.findall(text)]
        assert any(lines[number - 1].strip() == code for number, code in shown), f"no source line in:\n{text}"
        parts = [text.find(part) for part in ("  in operator ", "  record: ", "  hint: ")]
        assert [each for each in parts if each >= 0] == sorted(each for each in parts if each >= 0), text
    assert len(text.splitlines()) <= 8, text  # noqa: PLR2004
    assert text.count("hint: ") + text.count("return a matching value") <= 1, text
    assert not FOREIGN.search(text), text


@pytest.mark.parametrize(("arguments", "says"), [case for cases in COMMANDS.values() for case in cases])
def test_a_wrong_command_names_the_argument_and_what_it_takes(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "word_count.py").touch()
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2  # noqa: PLR2004
    assert says in re.sub(r"[│\s]+", " ", done.output)


def test_each_mistake_of_the_list_is_tested() -> None:
    assert {each.number for each in MISTAKES} | set(ELSEWHERE) | set(COMMANDS) == set(range(1, 46))


@pytest.mark.parametrize(("file", "text"), ELSEWHERE.values())
def test_those_tested_elsewhere_are(file: str, text: str) -> None:
    assert text in (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
