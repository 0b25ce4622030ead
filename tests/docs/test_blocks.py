"""Every block of code in docs/ and README.md is run by a test, or is what the parsers of SQL and commands take."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from scurry.cli.commands import app
from scurry.sql.parser import parse
from scurry.table import EnvironmentSettings, TableEnvironment
from support import TESTS

PROJECT = TESTS.parent
DOCS = PROJECT / "docs"
PAGES = {str(page.relative_to(DOCS)): page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}
PAGES["README.md"] = (PROJECT / "README.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)

#: Pages whose programs print nothing that the page shows -> the test that runs them.
RUN_BY = {
    "README.md": "cli/test_readme.py",
    "connectors/hybrid.md": "kafka/test_files_then_topic.py",
    "connectors/kafka.md": "kafka/test_files_then_topic.py",
    "connectors/spark.md": "spark/test_python_data_sources.py",
    "testing.md": "testing/test_guide.py",
    "tutorials/kafka.md": "kafka/test_tutorial.py",
}
#: Fragments: what is around them is said in the text -> the test that runs the same calls.
FRAGMENTS = {
    "connectors/formats.md": "kafka/test_schema_registry.py",
    "state-processor.md": "state/test_on_spark.py",
}
#: What is parsed only, because a server, a file or a module has to be there.
PARSED_ONLY = re.compile(r"\bpg\b|localhost:8181|SELECT \* FROM lake|RENAME id|'protobuf'|'xml'|PLAN '")

COMMAND = re.compile(r"^(?: {4}|\$ )?((?:scurry|python -m|pip|make) (?:[^\n\\]|\\\n|\\.)*)$", re.MULTILINE)
CLI: Any = typer.main.get_command(app)


def programs() -> list[tuple[str, bool]]:
    """The page of each program, and whether what it prints follows."""
    block = re.compile(r"^```python\n(.*?)^```\n+(```text)?", re.MULTILINE | re.DOTALL)
    return [(page, bool(text)) for page, whole in PAGES.items() for _, text in block.findall(whole)]


def test_every_program_is_run() -> None:
    without_result = {page for page, printed in programs() if not printed}
    assert without_result == set(RUN_BY) | set(FRAGMENTS)
    for page, test in {**RUN_BY, **FRAGMENTS}.items():
        assert (TESTS / test).exists(), f"{test}, which runs the programs of {page}"


def statements() -> list[Any]:
    found = []
    for page, text in PAGES.items():
        blocks = [block for language, block in FENCED.findall(text) if language == "sql"]
        # test_sql_client.py runs the first, wrong ones too; the second is PostgreSQL's.
        if page not in ("sql-client.md", "connectors/jdbc.md"):
            found += [pytest.param(block, id=f"{page}-{number}") for number, block in enumerate(blocks)]
    return found


@pytest.mark.parametrize("block", statements())
def test_statements_of_sql_are_right(block: str, tmp_path: Path) -> None:
    """Tables are created and read as far as `EXPLAIN` does; the lake is a directory."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for text in block.replace("s3://lake", str(tmp_path)).split(";\n")[:-1]:
        parse(text)
        if PARSED_ONLY.search(text):
            continue
        environment.execute_sql(f"EXPLAIN {text}" if text.startswith("INSERT") else text)
        if (created := re.match(r"CREATE TABLE (\S+) ", text)) and "'delta'" not in text:
            environment.execute_sql(f"EXPLAIN SELECT * FROM {created[1]}")


def commands() -> list[tuple[str, str]]:
    """Page and text of each command in a block."""
    found = []
    for page, text in PAGES.items():
        shells = [block for language, block in FENCED.findall(text) if language in ("", "sh", "bash")]
        indented = re.findall(r"^ {4}.*(?:\n {4}.*)*", FENCED.sub("", text), re.MULTILINE)
        for block in (*shells, *indented):
            found += [(page, each) for each in COMMAND.findall(block)]
    return found


def words_of(command: str) -> list[str]:
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    return words[:-1] if words[-1] == "&" else words


def known_options(words: list[str]) -> tuple[str, set[str], list[str]]:
    """Return the command that the words name, its options, and the words behind it."""
    command, name = CLI, "scurry"
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command, name, words = command.commands[words[0]], f"{name} {words[0]}", words[1:]
    return name, {opt for each in command.params for opt in (*each.opts, *each.secondary_opts)} | {"--help"}, words


@pytest.mark.parametrize(("page", "command"), commands())
def test_commands_exist_with_their_options(page: str, command: str) -> None:
    program, *words = words_of(command)
    if program == "scurry":
        name, options, rest = known_options(words)
        assert name != "scurry", f"{page}: no such command: {command}"
        if name in ("scurry run", "scurry explain"):  # what follows the program is the program's
            rest = rest[: next((at for at, word in enumerate(rest) if word.endswith((".py", ".sql"))), len(rest)) + 1]
        flags = {word.strip("[]").partition("=")[0] for word in rest if word.lstrip("[").startswith("-")}
        assert flags <= options, f"{page}: {name} has no {flags - options}"
        examples = [word for word in rest if word.startswith("examples/")]
    elif program == "make":
        targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert set(words) <= set(targets)
        examples = []
    elif program == "python":
        assert importlib.util.find_spec(words[1]) is not None
        examples = []
    else:
        extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for extra in re.findall(r"scurry\[([\w,]+)\]", command):
            assert set(extra.split(",")) <= set(extras["optional-dependencies"])
        examples = []
    for example in examples:
        assert (PROJECT / example).exists(), f"{page}: {example}"
