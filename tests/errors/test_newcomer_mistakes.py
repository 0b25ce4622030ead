"""The 37 mistakes that a newcomer made (N1 to N37), each with what its user reads: the cause first, the place, a hint.

Statements of SQL are in `sql_mistakes.txt`, with their whole texts. Here are programs; they run as `scurry run` runs
them, in this process, and a line marked with `# here` is the one that the report names.
"""

from __future__ import annotations

import re
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scurry.cli.commands import app
from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions

TABLES = """
import threading
from scurry.table import *
from scurry.table.expressions import col
from scurry.table.udf import udf

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
people = t_env.from_elements([(1, 'ann'), (0, 'bob')], ['id', 'name'])
"""
STREAMS = """
from dataclasses import dataclass
from scurry.cep import CEP, Pattern
from scurry.common import *
from scurry.common.watermark_strategy import *
from scurry.datastream import *
from scurry.datastream.connectors.file_system import *
from scurry.datastream.connectors.kafka import *
from scurry.datastream.formats.avro import *
from scurry.datastream.formats.json import *

class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]

def is_order(event):
    return event[0] == 'order'

env = StreamExecutionEnvironment.get_execution_environment()
events = env.from_collection([('order', 1), ('pay', 5)])
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
timed = events.assign_timestamps_and_watermarks(times)
orders = Pattern.begin('order').where(is_order)
"""


@dataclass(frozen=True)
class Mistake:
    """A program with a mistake.

    Attributes:
        number: Its number in the list.
        name: What is wrong.
        program: What the user writes.
        says: What the user reads, in this order; the first is where the text begins, the last is the advice.
        setup: What comes before the program.
        status: Exit status.
        without: A package that is not installed.
        goes_on: Whether the job goes on, and the text is logged or a warning.
    """

    number: int
    name: str
    program: str
    says: tuple[str, ...]
    setup: str = STREAMS
    status: int = 1
    without: str = ""
    goes_on: bool = False


MISTAKES = [
    Mistake(
        9,
        "a database that does not run",
        "CREATE TABLE totals (n BIGINT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://127.0.0.1:1/shop',\n"
        "  'table-name' = 'totals', 'username' = 'u', 'password' = 'p', 'sink.max-retries' = '0');\n"
        "INSERT INTO totals SELECT CAST(1 AS BIGINT); -- # here",
        (
            "error: {program}",
            "DatabaseConnectionError: cannot write to jdbc:postgresql://127.0.0.1:1/shop: ",
            "Connection refused",
            "Is the server running on that host",
        ),
        setup="",
    ),
    Mistake(
        13,
        "a lock in a function of a table",
        "lock = threading.Lock()\n@udf(result_type=DataTypes.BIGINT())\ndef double(x):\n    with lock:\n"
        "        return 2 * x\npeople.select(double(col('id'))).execute().print()  # here",
        ("error: function double (", "cannot be sent to workers: variable 'lock'", "hint: create connections, locks"),
        setup=TABLES,
    ),
    Mistake(
        14,
        "a function of a table that raises",
        "@udf(result_type=DataTypes.DOUBLE())\ndef inverse(x):\n    return 1 / x  # here\n"
        "people.select(inverse(col('id'))).execute().print()",
        ("error: Job 'collect' failed.\nZeroDivisionError", "in inverse: return 1 / x", "record: {'id': 0}"),
        setup=TABLES,
    ),
    Mistake(
        15,
        "a column that is not there",
        "people.select(col('nmae')).execute().print()  # here",
        ("error: Cannot resolve field [nmae], input field list:[id, name]. ", "Did you mean name?"),
        setup=TABLES,
    ),
    Mistake(
        16,
        "`and` between expressions",
        "people.where(col('id') > 0 and col('name') == 'ann')  # here",
        ("Python's `and`, `or` and `not` take the expression greaterThan(id, 0) for true", "& ", "for AND"),
        setup=TABLES,
        status=0,
        goes_on=True,
    ),
    Mistake(
        17,
        "a pattern that ends in not_followed_by",
        "pattern = orders.not_followed_by('pay').where(lambda event: event[0] == 'pay')\n"
        "CEP.pattern(timed, pattern).select(str).print()  # here\nenv.execute()",
        ("error: NotFollowedBy is not supported without windowTime", "hint: call .within(...) on the pattern"),
    ),
    Mistake(
        18,
        "a pattern without timestamps",
        "CEP.pattern(events, orders).select(str).print()  # here\nenv.execute()",
        (
            "error: Job",
            "MissingTimestampError: the record has no timestamp",
            "record: ('order', 1)",
            "hint: call assign_timestamps_and_watermarks(...)",
        ),
    ),
    Mistake(
        19,
        "a condition of a pattern that raises",
        "pattern = orders.followed_by('pay').where(lambda event: event['kind'] == 'pay')  # here\n"
        "CEP.pattern(timed, pattern).select(str).print()\nenv.execute()",
        (
            "error: Job",
            "TypeError: tuple indices",
            "record: ('pay', 5)",
            "hint: it failed in a condition of stage 'pay'",
        ),
    ),
    Mistake(
        20,
        "Avro without its extra",
        'schema = AvroSchema.parse_string(\'{"type": "record", "name": "r", "fields": []}\')  # here\n'
        "env.create_input(AvroInputFormat('x.avro', schema))",
        ("error: Avro needs the package fastavro: pip install 'scurry[avro]'",),
        without="fastavro",
    ),
    Mistake(
        21,
        "Delta Lake without its extra",
        "t_env.execute_sql(\"CREATE TABLE t (a INT) WITH ('connector' = 'delta', 'table-path' = '/nowhere')\")\n"
        "t_env.execute_sql('SELECT * FROM t')  # here",
        ("error: Delta Lake needs the package deltalake: pip install 'scurry[delta]'", "1 | SELECT * FROM t\n", "^"),
        setup=TABLES,
        without="deltalake",
    ),
    Mistake(
        27,
        "a misspelt property of Kafka's client",
        "builder = KafkaSource.builder().set_bootstrap_servers('localhost:9092').set_topics('t')\n"
        "builder.set_value_only_deserializer(SimpleStringSchema()).set_property('max.pol.records', '5')\n"
        "builder.build()  # here",
        (
            'error: Kafka client: No such configuration property: "max.pol.records"',
            "hint: did you mean 'max.poll.records'?",
        ),
    ),
    Mistake(
        28,
        "the field of a tuple by its name",
        "events.key_by(lambda event: event[0]).sum('amount').print()  # here\nenv.execute()",
        (
            "error: Job",
            "ArgumentTypeError: sum('amount') cannot select field 'amount' of a tuple or list",
            "pass the position, counted from 0",
            "record: ('order', 1)",
        ),
    ),
    Mistake(
        29,
        "a field of a dataclass that files do not have",
        "@dataclass\nclass Order:\n    customer: str\n    amount: float\n"
        "env.read_json('{dir}/orders.json', Order).print()  # here\nenv.execute()",
        (
            "error: Job",
            "MalformedRecordError: ",
            "orders.json:1: malformed record",
            "there is no field 'customer'; there are card, amount",
            "if it may be missing, declare it as customer: ... | None",
        ),
    ),
    Mistake(
        30,
        "a type as text",
        "events.map(str, output_type='INT')  # here",
        ("error: output_type is 'INT' (Python type str)", "pass Types.STRING()"),
    ),
    Mistake(
        31,
        "the constructor of a format",
        "JsonReaderFormat(Types.ROW_NAMED(['card'], [Types.STRING()]))  # here",
        ("error: JsonReaderFormat is made by JsonReaderFormat.for_type_info(...)",),
    ),
    Mistake(
        32,
        "a record that fails after each restart",
        "env.configure(Configuration.from_dict({'restart-strategy.type': 'fixed-delay',\n"
        "    'restart-strategy.fixed-delay.attempts': '2', 'restart-strategy.fixed-delay.delay': '1 ms'}))\n"
        "events.map(lambda event: 1 / (event[1] - 5)).print()  # here\nenv.execute()",
        (
            "ZeroDivisionError",
            "record: ('pay', 5)",
            "the same record has failed 2 times now, and a restart does not change it: mend the function, or send such "
            "records to a side output with with_dead_letters(tag)",
        ),
        goes_on=True,
    ),
    Mistake(
        34,
        "a port that is taken",
        "env.configure(Configuration.from_dict({'scurry.rest': 'on', 'rest.port': '{port}'}))\n"
        "events.print()\nenv.execute()  # here",
        ("error: the job cannot listen on 127.0.0.1 port {port}: ", "set rest.port to 0 for a free port"),
    ),
]

#: Those of SQL, by their names in `sql_mistakes.txt`.
STATEMENTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 22, 23, 24, 25, 26, 27, 33)

#: Commands that name what there is not.
COMMANDS = {
    35: [
        (["savepoint", "nojob"], "no job 'nojob': no job is running; jobs in one process are listed if they run at a"),
        (["cancel", "nojob"], "terminal, or with -D scurry.rest=on"),
        (["session", "stop", "nobody"], "no session 'nobody' runs: `scurry session start nobody` starts one"),
        (["run", "--runner", "local", "-s", "{dir}/nowhere", "{dir}/program.py"], "{dir}/nowhere is no savepoint: "),
        (["run", "--runner", "local", "-s", "{dir}/nowhere", "{dir}/program.py"], "`scurry savepoint list DIR` lists"),
    ]
}

ELSEWHERE = {
    36: ("rest/test_commands.py", "jobs in one process are listed if they run at a terminal, or with"),
    37: ("runtime/state/test_state_evolution.py", "if one was renamed, declare it: with_migration(renamed={...})"),
}


def _forget(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"N{each.number} {each.name}")
def test_the_cause_comes_first_then_the_place_and_the_cure(
    mistake: Mistake,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    recwarn: pytest.WarningsRecorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "orders.json").write_text('{"card": "c1", "amount": 2.5}\n', encoding="utf-8")
    program = tmp_path / ("program.py" if mistake.setup else "program.sql")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        known = {"{dir}": str(tmp_path), "{port}": str(taken.getsockname()[1]), "{program}": str(program)}
        written = filled(mistake.setup + mistake.program, known)
        program.write_text(written + "\n", encoding="utf-8")
        if mistake.without:
            run_program(program, [], LaunchOptions(runner="local"), debug=False)  # fills the caches
            capsys.readouterr()
            _forget(mistake.without, monkeypatch)
        status = run_program(program, [], LaunchOptions(runner="local"), debug=False)
    text = capsys.readouterr().err
    if mistake.goes_on:
        warned = [f"{each.filename}:{each.lineno}: {each.message}" for each in recwarn.list]
        text = "\n".join([*warned, *(record.getMessage() for record in caplog.records)])
    assert status == mistake.status, text
    place = -1
    for part in mistake.says:
        place = text.find(filled(part, known), place + 1)
        assert place >= 0, f"{part!r} is not, or not there, in:\n{text}"
    for number in [number for number, line in enumerate(written.splitlines(), 1) if line.endswith("# here")]:
        assert f"{program}:{number}" in text, text
    if not mistake.goes_on:
        assert text.startswith(filled(mistake.says[0], known)) and len(text.splitlines()) <= 8, text  # noqa: PLR2004
        assert text.count("hint: ") <= 1, text


def filled(text: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        text = text.replace(name, value)
    return text


@pytest.mark.parametrize(("arguments", "says"), [case for cases in COMMANDS.values() for case in cases])
def test_a_command_says_where_those_there_are_are_listed(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))  # no jobs of others
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "program.py").write_text(f"{STREAMS}events.print()\nenv.execute()\n", encoding="utf-8")
    known = {"{dir}": str(tmp_path)}
    done = CliRunner().invoke(app, [filled(each, known) for each in arguments])
    assert done.exit_code == 1
    assert filled(says, known) in done.output


def test_each_of_the_37_mistakes_is_tested() -> None:
    golden = Path(__file__).with_name("sql_mistakes.txt").read_text(encoding="utf-8")
    in_sql = {int(number) for number in re.findall(r"^=== N(\d+) ", golden, re.MULTILINE)}
    assert in_sql == set(STATEMENTS)
    assert in_sql | {each.number for each in MISTAKES} | {*COMMANDS} | {*ELSEWHERE} == set(range(1, 38))


@pytest.mark.parametrize(("file", "text"), ELSEWHERE.values())
def test_those_tested_elsewhere_are(file: str, text: str) -> None:
    assert text in (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
