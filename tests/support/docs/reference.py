"""The generated pages of docs/reference, from what they describe; run it to write them."""

from __future__ import annotations

import inspect
import operator
import os
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

import scurry.datastream
import scurry.table
from scurry import errors
from scurry.cli.commands import app
from scurry.common._config.validation import known_options
from scurry.common.config_options import ConfigOption
from sql.functions.evaluation import typed, value

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
FUNCTIONS = Path(__file__).with_name("sql_functions.txt")

GENERATED = "<!-- Generated: PYTHONPATH=tests python -m support.docs.reference -->\n\n"

#: The parser of a value -> what the page calls its type.
_TYPES = {
    "str": "text",
    "parse_boolean": "true, false",
    "parse_bytes": "size: `64 mb`",
    "parse_duration": "duration: `200 ms`, `10 s`",
    "duration_of": "duration: `200 ms`, `10 s`",
    "at_least": "whole number",
    "parse_integer": "whole number",
    "parse_float": "number",
    "parse_map": "`key:value,key:value`",
    "parse_ports": "ports: `8081`, `50100-50200`",
    "one_of": "a name",
    "number": "number",
}


def pages() -> dict[str, str]:
    """Return file name -> text of all generated pages."""
    made: dict[str, Callable[[], Iterator[str]]] = {
        "configuration.md": configuration,
        "commands.md": commands,
        "http.md": http,
        "sql-functions.md": sql_functions,
        "errors.md": all_errors,
        "api/datastream.md": streams,
        "api/table.md": tables,
    }
    return {name: GENERATED + "\n".join(lines()) + "\n" for name, lines in made.items()}


#: Title -> beginnings of the group's keys. A key belongs to the first group that fits; the last takes the others.
_GROUPS = {
    "The job": ("scurry.runner", "execution.runtime-mode", "parallelism.", "pipeline.", "jobmanager.", "scheduler"),
    "Checkpoints, savepoints and state": (
        "execution.checkpointing.", "execution.state-recovery.", "state.", "scurry.state.", "scurry.savepoint.",
        "scurry.final-savepoint.", "scurry.cache-dir",
    ),
    "Micro-batches": ("scurry.batch.", "scurry.record.", "scurry.tick-interval"),
    "Failures and restarts": ("restart-strategy.", "scurry.replay."),
    "Python": ("python.", "scurry.ship-program"),
    "Progress, logs, REST and metrics": ("scurry.progress", "scurry.log.", "scurry.rest", "rest.", "metrics."),
    "Others": ("",),
}  # fmt: skip
_MOST_USED = (
    "scurry.runner", "execution.runtime-mode", "parallelism.default", "execution.checkpointing.dir",
    "execution.checkpointing.interval", "execution.state-recovery.path", "restart-strategy.type",
    "scurry.batch.target-duration", "scurry.log.file",
)  # fmt: skip


#: Classes of a page of the API -> their members that programs use most, in that order; the others follow by name.
_STREAMS: dict[str, str] = {
    "StreamExecutionEnvironment": "get_execution_environment from_collection from_source read_json read_csv "
    "read_parquet read_kafka execute execute_async set_parallelism set_runtime_mode "
    "enable_checkpointing configure",
    "DataStream": "map flat_map filter key_by print sink_to assign_timestamps_and_watermarks process union "
    "connect get_side_output execute_and_collect uid name set_parallelism write_json write_csv write_parquet "
    "write_kafka window_all broadcast",
    "KeyedStream": "window process reduce count_window sum min max interval_join connect map flat_map filter",
    "WindowedStream": "reduce aggregate process apply allowed_lateness side_output_late_data trigger evictor",
    "ConnectedStreams": "process key_by map flat_map",
    "BroadcastStream": "",
    "BroadcastConnectedStream": "",
    "JoinedStreams": "",
    "CoGroupedStreams": "",
    "AsyncDataStream": "",
    "DataStreamSink": "",
    "CheckpointConfig": "set_checkpoint_interval set_checkpoint_storage_dir",
}
_TABLES: dict[str, str] = {
    "TableEnvironment": "create execute_sql sql_query from_path from_elements from_pandas create_temporary_view "
    "create_statement_set explain_sql create_temporary_system_function get_config",
    "StreamTableEnvironment": "create execute_sql sql_query from_data_stream to_data_stream from_changelog_stream "
    "to_changelog_stream create_temporary_view",
    "Table": "select where filter group_by window join left_outer_join order_by limit execute execute_insert "
    "to_pandas print_schema explain add_columns distinct union_all",
    "expression.Expression": "alias cast is_null is_not_null sum count avg min max in_ between like",
    "DataTypes": "",
    "Schema": "",
    "TableDescriptor": "",
    "StatementSet": "",
    "TableResult": "",
    "expressions": "",
    "udf": "",
    "window": "",
}


def streams() -> Iterator[str]:
    """Yield the page of streams."""
    return _api("Streams", scurry.datastream, _STREAMS)


def tables() -> Iterator[str]:
    """Yield the page of tables."""
    return _api("Tables", scurry.table, _TABLES)


def _api(title: str, package: ModuleType, classes: dict[str, str]) -> Iterator[str]:
    yield f"# {title}"
    for name, most_used in classes.items():
        yield f"\n::: {package.__name__}.{name}"
        if most_used:
            found = operator.attrgetter(name)(package)
            others = sorted({each for each in dir(found) if not each.startswith("_")} - set(most_used.split()))
            yield "    options:\n      members:"
            yield from (f"        - {member}" for member in (*most_used.split(), *others))


def configuration() -> Iterator[str]:
    """Yield the page of configuration keys: the most used, all that have an effect by topic, and the others."""
    options = sorted(known_options(), key=lambda option: option.key)
    yield "# Configuration keys\n"
    yield "Set a key on the command line or in the program.\n"
    yield "    scurry run -D execution.checkpointing.dir=/tmp/checkpoints job.py\n"
    yield "In a program, put it into a `Configuration` for `get_execution_environment`, or call `env.configure`."
    yield "Keys that begin with `scurry.` are scurry's; the others are Flink's, with its syntax and defaults."
    yield "`spark.*` goes to Spark unchanged; the format of the state store (`checkpointFormatVersion`) stays 1."
    yield "Keys of `table.*` are on [Settings of SQL and tables](../sql-settings.md).\n"
    yield "Flink keys that are not on this page tune Flink's own processes: scurry ignores them and logs that once."
    yield "A misspelt or unknown key stops the job with a suggestion.\n"
    yield "Most used: " + ", ".join(f"[`{key}`](#{key})" for key in _MOST_USED) + "."
    grouped: dict[str, list[ConfigOption[object]]] = {title: [] for title in _GROUPS}
    for option in options:
        if not option.instead:
            grouped[next(title for title, begins in _GROUPS.items() if option.key.startswith(begins))].append(option)
    for title, found in grouped.items():
        if found:
            yield f"\n## {title}\n"
            yield from map(_described, found)
    yield "\n## Keys without effect\n"
    yield "scurry accepts these keys of Flink, so that its programs run. Each says what to set instead, if anything.\n"
    for option in options:
        if option.instead:
            meaning = f"{option.instead}. In Flink: {option.description}"
            yield f"- {_anchor(option)} has no effect: {meaning}{_aliases(option)}"


def _described(option: ConfigOption[object]) -> str:
    default = f", default {_default(option)}" if _default(option) else ""
    return f"- {_anchor(option)} ({_type(option)}{default}): {option.description}{_aliases(option)}"


def _anchor(option: ConfigOption[object]) -> str:
    return f'<a id="{option.key}"></a>**`{option.key}`**'


def _aliases(option: ConfigOption[object]) -> str:
    return f" Also {', '.join(f'`{alias}`' for alias in option.aliases)}." if option.aliases else ""


def _type(option: ConfigOption[object]) -> str:
    parser: Any = option.type
    qualified = getattr(parser, "__qualname__", str(parser))
    closure = inspect.getclosurevars(parser).nonlocals if inspect.isfunction(parser) else {}
    names = next((found for found in closure.values() if isinstance(found, tuple) and found), None)
    if qualified.startswith("one_of") and names:
        return ", ".join(f"`{name}`" for name in names)
    return _TYPES.get(qualified.partition(".")[0].lstrip("_"), "text")


def _default(option: ConfigOption[object]) -> str:
    default: Any = option.default
    if default is None:
        return ""
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    return f"`{shown}`"


def commands() -> Iterator[str]:
    """Yield the page of commands."""
    yield "# Commands and options\n"
    yield "What each command does is explained on [Command line](../cli.md)."
    yield from _command("scurry", typer.main.get_command(app))


def _command(name: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for below, found in sorted(command.commands.items()):
            yield from _command(f"{name} {below}", found)
        return
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    names = [(argument.metavar or argument.name.upper()).strip("[]") for argument in arguments]
    shown = " ".join(name if each.required else f"[{name}]" for each, name in zip(arguments, names, strict=True))
    yield f"\n## {name}\n"
    yield f"    {name} {'[OPTIONS] ' if len(arguments) < len(command.params) else ''}{shown}".rstrip()
    yield f"\n{(command.help or '').strip()}\n"
    explained = [(f"`{one}`", argument) for one, argument in zip(names, arguments, strict=True)]
    explained += [(_flags(one), one) for one in command.params if one.param_type_name == "option"]
    if explained:
        yield "| argument or option | meaning | default |\n|---|---|---|"
    for how, parameter in explained:
        default = "" if parameter.default in (None, False) else f"`{parameter.default}`"
        yield f"| {how} | {(parameter.help or '').strip()} | {default} |"


def _flags(option: Any) -> str:
    flags = ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))
    return flags if option.is_flag else f"{flags} `{option.metavar or _kind(option)}`"


def _kind(option: Any) -> str:
    """Return what stands for an option's value, as `--help` does: the names of an enum, or INT."""
    annotation = option.type_descriptor.annotation
    if inspect.isclass(annotation) and issubclass(annotation, StrEnum):
        return "\\|".join(annotation)
    return {int: "N", float: "X"}.get(annotation, "TEXT")


def http() -> Iterator[str]:
    """Yield the page of the REST interfaces."""
    from scurry.rest.app import application as job
    from scurry.rest.session.app import session_application as session
    from scurry.sql.gateway.app import application as gateway

    nothing: Any = None
    yield "# REST\n"
    yield "## Jobs\n"
    yield "Each running job serves these paths, with and without the prefix `/v1`."
    yield "`/openapi.json` describes them."
    yield "[Running jobs, from outside](../rest.md) says how to reach it and what the answers mean.\n"
    yield from _requests(job(nothing).openapi())
    yield "\n## Sessions\n"
    yield "A [session](../rest.md#sessions) serves these, and those of its jobs that begin with `/jobs/{jobid}`.\n"
    yield from _requests(session(nothing, nothing).openapi())
    yield "\n## The SQL gateway\n"
    yield "[The SQL gateway](../sql-gateway.md) says what the answers mean; earlier versions have fewer paths.\n"
    latest = gateway(nothing).openapi()
    yield from _requests({"paths": {path: them for path, them in latest["paths"].items() if path.startswith("/v4/")}})


def _requests(description: dict[str, Any]) -> Iterator[str]:
    yield "| request | what it does | parameters |\n|---|---|---|"
    for path, methods in sorted(description["paths"].items()):
        for method, operation in sorted(methods.items()):
            names = ", ".join(f"`{each['name']}`" for each in operation.get("parameters", ()))
            summary = (operation.get("description") or operation.get("summary") or "").partition("\n")[0]
            yield f"| `{method.upper()} {path}` | {summary} | {names} |"


def described_functions() -> list[tuple[str, str, str, str]]:
    """Return section, signatures, example and description of each line of the list."""
    found, section = [], ""
    for line in FUNCTIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
        else:
            signatures, example, description = line.split(" | ")
            found.append((section, signatures, example, description))
    return found


def sql_functions() -> Iterator[str]:
    """Yield the page of functions."""
    yield "# Functions of SQL\n"
    yield "Flink 2.3's functions, with Flink's types. Each result was computed when this page was generated."
    yield "In Python they are methods of `Expression` and functions of `scurry.table.expressions`."
    yield "Square brackets `[ ]` enclose what may be left out."
    before = ""
    for section, signatures, example, description in described_functions():
        if section != before:
            yield f"\n## {section}\n\n| function | description | example | result |\n|---|---|---|---|"
            before = section
        yield f"| {_code(signatures)} | {description} | {_answer(example)} |"


def _code(text: str) -> str:
    """Return a text as code; within it, `||` neither ends a cell nor is shown as an entity."""
    return f"<code>{text.replace('<', '&lt;').replace('|', '&#124;')}</code>" if "||" in text else f"`{text}`"


def _answer(example: str) -> str:
    if example == "-":
        return " | "
    text = example.removeprefix("~")
    result = "" if example.startswith("~") else f"`{value(text)}` "
    return f"{_code(text)} | {result}{typed(text).type.as_summary_string()}"


def all_errors() -> Iterator[str]:
    """Yield the page of errors."""
    yield "# Errors\n"
    yield "All are in `scurry.errors`. A message says what is wrong, where in the program, and what to do."
    yield "`except` may name a class above, or the built-in error that many also are."
    yield from _errors_below(errors.ScurryError, 2)


def _errors_below(base: type[Exception], level: int) -> Iterator[str]:
    for cls in base.__subclasses__():
        if cls.__module__ != "scurry.errors":
            continue
        cause, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\n\nCure: ")
        also = ", ".join(f"`{each.__name__}`" for each in cls.__bases__ if each.__module__ == "builtins")
        yield f"\n{'#' * min(level, 4)} {cls.__name__}\n"
        yield f"{_one_line(cause)}{f' Also {also}.' if also else ''}"
        cure = _one_line(rest.partition("\n\n")[0]).replace("docs/", "")
        yield f"\n**Cure:** {re.sub(r'([a-z/-]+[.]md)', _link, cure)}"
        if getattr(cls, "permanent", False):
            yield "\nThe job ends at once: a restart would not help."
        yield from _errors_below(cls, level + 1)


def _link(page: re.Match[str]) -> str:
    name = page[1].removeprefix("reference/") if page[1].startswith("reference/") else f"../{page[1]}"
    return f"[{page[1].removesuffix('.md')}]({name})"


def _one_line(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


if __name__ == "__main__":
    os.chdir(REFERENCE)
    for file, text in pages().items():
        Path(file).write_text(text, encoding="utf-8")
