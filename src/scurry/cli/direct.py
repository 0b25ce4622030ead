"""Run the plain forms of `scurry run` and `scurry sql` without the library that parses all forms.

That library takes a fifth of a second to load, as long as a small program takes in this process. An argument that is
not plain, a wrong one for instance, is left to it: one place explains and refuses arguments.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

_RUNNERS = ("spark", "local")
_MODES = ("streaming", "batch", "automatic")


def direct_command(arguments: Sequence[str]) -> Callable[[], int] | None:
    """Return a command that the arguments of `scurry` plainly name.

    Returns:
        A function that runs it and returns its exit status; None if the arguments are not plain.
    """
    try:
        match arguments:
            case ["run", *rest]:
                return _run(rest)
            case ["sql", *rest]:
                return _sql(rest)
    except ValueError:
        pass
    return None


def call(command: Callable[[], int]) -> int:
    """Run a command and return its exit status, also if it is interrupted or its reader has gone."""
    try:
        return command()
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at the exit would fail again
        return 1


def read_settings(texts: Sequence[str]) -> dict[str, str]:
    """Return the settings of `-D key=value` options.

    Raises:
        ConfigError: A key is misspelt, or a value cannot be used.
        ValueError: A text has another form.
    """
    from scurry.common._config.validation import validate

    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{text!r} is not of the form key=value")
        found[key.strip()] = value.strip()
    with warnings.catch_warnings(action="ignore"):  # the environment that gets them warns
        validate(found)
    return found


def _run(arguments: Sequence[str]) -> Callable[[], int] | None:
    names = {"--runner": "runner", "--mode": "mode", "--parallelism": "parallelism", "-p": "parallelism", "-D": "-D"}
    given, rest = _options(arguments, names)
    if not rest or "--" in rest or not Path(rest[0]).is_file():
        return None
    settings = read_settings(given.pop("-D", []))
    one = {name: values[0] for name, values in given.items()}
    if "python.client.executable" in settings or any(len(values) > 1 for values in given.values()):
        return None
    if not re.fullmatch(r"[1-9]\d*", one.get("parallelism", "1"), re.ASCII):
        return None
    if one.get("runner", "local") not in _RUNNERS or one.get("mode", "batch") not in _MODES:
        return None

    from scurry.cli.program import run_program
    from scurry.common._process.launch import LaunchOptions

    parallelism = int(one["parallelism"]) if "parallelism" in one else None
    options = LaunchOptions(settings, one.get("mode"), parallelism, runner=one.get("runner"))
    return lambda: run_program(Path(rest[0]), rest[1:], options, debug=False)


def _sql(arguments: Sequence[str]) -> Callable[[], int] | None:
    given, rest = _options(arguments, {"--runner": "runner", "--execute": "-e", "-e": "-e", "-D": "-D"})
    runners = given.get("runner", [])
    if rest or "-e" not in given or runners not in ([], *([name] for name in _RUNNERS)):
        return None
    settings = read_settings(given["-D"]) if "-D" in given else None

    import scurry.sql.client.embedded  # noqa: F401  # now, while no garbage is collected
    from scurry.cli.statements import Connection, execute

    connection = Connection(settings, runners[0] if runners else None)
    return lambda: execute(given["-e"], None, None, connection, None)


def _options(arguments: Sequence[str], names: dict[str, str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the values of options by their names, and the arguments after the options.

    Raises:
        ValueError: An option is unknown or lacks a value, or a value may be an option.
    """
    given: dict[str, list[str]] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option, equals, value = rest.pop(0).partition("=")
        if not equals and rest:
            value = rest.pop(0)
        elif not option.startswith("--"):
            option = ""  # -p=4
        if option not in names or value.startswith("-") or not value:
            raise ValueError(f"{option} is not plain")
        given.setdefault(names[option], []).append(value)
    return given, rest
