"""Every command in docs/ and README.md exists: subcommands, options, requests of curl, files."""

from __future__ import annotations

import functools
import importlib.util
import re
import tomllib
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import typer
from fastapi.routing import APIRoute

from scurry.cli.commands import app
from scurry.rest import events
from scurry.rest.app import application as job
from scurry.rest.session.app import session_application as session
from scurry.sql.gateway.app import application as gateway
from support import TESTS
from support.docs.blocks import PAGES, commands, words_of

PROJECT = TESTS.parent
CLI: Any = typer.main.get_command(app)


@functools.cache
def requests() -> list[tuple[str, list[str]]]:
    """Return methods and parts of the paths that endpoints of jobs, sessions and the gateway answer."""
    nothing: Any = None
    applications = (job(nothing), session(nothing, nothing), gateway(nothing))
    described = [each.openapi()["paths"] for each in applications]
    found = [(method.upper(), path) for paths in described for path, methods in paths.items() for method in methods]
    # An endless stream is in no description.
    found += [("GET", route.path) for route in events.router.routes if isinstance(route, APIRoute)]
    return [(method, path.split("/")) for method, path in found]


def known_options(words: list[str]) -> tuple[str, set[str], list[str]]:
    """Return the command that the words name, its options, and the words behind it."""
    command, name = CLI, "scurry"
    while hasattr(command, "commands") and words and words[0] in command.commands:
        command, name, words = command.commands[words[0]], f"{name} {words[0]}", words[1:]
    return name, {opt for each in command.params for opt in (*each.opts, *each.secondary_opts)} | {"--help"}, words


@pytest.mark.parametrize(("page", "command"), commands("scurry", "python", "pip", "make"))
def test_commands_exist_with_their_options(page: str, command: str) -> None:
    program, *words = words_of(command)
    if program == "scurry":
        name, options, rest = known_options(words)
        assert name != "scurry", f"{page}: no such command: {command}"
        if name in ("scurry run", "scurry explain"):  # what follows the program is the program's
            ends = [at for at, word in enumerate(rest) if word == "--" or word.endswith((".py", ".sql"))]
            rest = [word for word in rest[: ends[0] + 1] if word != "--"] if ends else rest
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


def is_answered(method: str, url: str) -> bool:
    """Return whether an endpoint answers a request; the gateway's version may be left out."""
    path = urlsplit(url).path
    return any(
        known == method
        and len(route) == len(parts)
        and all(part == given or part.startswith("{") for part, given in zip(route, parts, strict=True))
        for parts in (path.split("/"), f"/v4{path}".split("/"))
        for known, route in requests()
    )


@pytest.mark.parametrize(
    ("page", "method", "url"),
    [(page, *found) for page, text in PAGES.items() for found in re.findall(r"`([A-Z]{3,}) (/[^\s`]*)`", text)],
)
def test_a_described_request_is_answered(page: str, method: str, url: str) -> None:
    assert is_answered(method, url), f"{page}: nothing answers {method} {url}"


@pytest.mark.parametrize(("page", "command"), commands("curl"))
def test_a_request_of_curl_is_answered(page: str, command: str) -> None:
    words = words_of(command)
    flags = [word for word in words if re.fullmatch(r"-\w|--\w.*", word)]
    assert set(flags) <= {"-H", "-N", "-F", "-d", "-X"}, f"{page}: say here what {command} sends"
    method = words[words.index("-X") + 1] if "-X" in words else "POST" if {"-F", "-d"} & {*flags} else "GET"
    (url,) = [word for word in words if word.startswith(("$URL/", "http://"))]
    path = re.sub(r"^(\$URL|http://[\w.]+:\w+)", "", url)
    assert is_answered(method, path), f"{page}: nothing answers {method} {path}"
    for name, watched in parse_qsl(urlsplit(path).query):
        assert name != "path" or is_answered("GET", watched), f"{page}: nothing answers GET {watched}"


@pytest.mark.parametrize(("page", "command"), commands("flink"))
def test_a_command_of_flink_is_one_that_scurry_has_too(page: str, command: str) -> None:
    """Its names and options are Flink's, but for the address of the JobManager."""
    name, options, rest = known_options(words_of(command)[1:])
    assert name != "scurry", f"{page}: not tested with Flink's command line: {command}"
    assert {word for word in rest if word.startswith("-")} <= options | {"-m"}, f"{page}: {command}"


@pytest.mark.parametrize(("page", "command"), commands("docker"))
def test_a_command_of_docker_names_files_and_commands_that_exist(page: str, command: str) -> None:
    words = words_of(command)[1:]
    if words[0] == "run" and "scurry" not in words:
        assert re.search(r"postgres|redis|kafka", command), f"{page}: whose image? {command}"
    elif words[0] == "run":
        name, options, rest = known_options(words[words.index("scurry") + 1 :])
        assert name != "scurry" and {word for word in rest if word.startswith("-")} <= options, f"{page}: {command}"
    elif words[0] == "compose":
        assert (PROJECT / words[words.index("-f") + 1]).exists(), f"{page}: {command}"
    else:
        assert words[0] == "build" and (PROJECT / words[-1] / "Dockerfile").exists(), f"{page}: {command}"
