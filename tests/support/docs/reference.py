"""The generated pages of docs/reference, from what they describe; run it to write them."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from scurry import errors
from scurry.cli.commands import app
from scurry.common._config.validation import known_options
from scurry.common.config_options import ConfigOption
from scurry.sql.functions.aggregate.catalogue import aggregate_names
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
    }
    return {name: GENERATED + "\n".join(lines()) + "\n" for name, lines in made.items()}


def configuration() -> Iterator[str]:
    """Yield the page of configuration keys."""
    yield "# Configuration keys\n"
    yield "Set them with `-D key=value`, in `Configuration`, or in `StreamExecutionEnvironment.configure`."
    yield "Keys without the prefix `scurry.` are Flink's, with Flink's syntax, defaults and meaning, unless said."
    yield "Other keys of Flink that do not change results are accepted without effect, which the log of the job says"
    yield "once; those that would are"
    yield "refused with what to do instead, and unknown ones with the closest known one."
    yield "`spark.*` goes to Spark as it is."
    yield "Settings of tables: [Settings of SQL and tables](../sql-settings.md).\n"
    yield "| key | type | default | effect |\n|---|---|---|---|"
    for option in sorted(known_options(), key=lambda option: option.key):
        others = "".join(f"<br>`{alias}`" for alias in option.aliases)
        unused = f" Without effect: {option.instead}." if option.instead else ""
        effect = f"{option.description}{unused}".replace("|", "\\|")
        yield f"| `{option.key}`{others} | {_type(option)} | {_default(option)} | {effect} |"


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


def described_functions() -> list[tuple[str, str, str]]:
    """Return section, signatures and example of each line of the list."""
    found, section = [], ""
    for line in FUNCTIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
        else:
            signatures, _, example = line.partition(" | ")
            found.append((section, signatures, example))
    return found


def sql_functions() -> Iterator[str]:
    """Yield the page of functions."""
    yield "# Functions of SQL\n"
    yield "Flink 2.3's functions with Flink's types; the results below are computed when the page is generated."
    yield "In Python they are methods of `Expression` and functions of `scurry.table.expressions`."
    yield "A text in brackets `[ ]` may be left out."
    before = ""
    for section, signatures, example in described_functions():
        if section != before:
            yield f"\n## {section}\n\n| function | example | type | result |\n|---|---|---|---|"
            before = section
        yield f"| `{signatures}` | {_answer(example)} |".replace("||", "&#124;&#124;")
    yield "\n## Aggregates\n"
    yield "In [GROUP BY](../sql/aggregation.md), [windows](../sql/windows.md) and [OVER](../sql/over.md):"
    yield ", ".join(f"`{name}`" for name in aggregate_names() if not name.startswith("$")) + "."


def _answer(example: str) -> str:
    if example == "-":
        return " | | "
    text = example.removeprefix("~")
    result = "" if example.startswith("~") else f"`{value(text)}`"
    return f"`{text}` | `{typed(text).type.as_summary_string()}` | {result}"


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
