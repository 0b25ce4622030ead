"""The programs of examples/reference, run under a tracer: which public method each of their lines calls."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import json
import os
import re
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions

PROJECT = Path(__file__).parents[3]
PROGRAMS = sorted((PROJECT / "examples" / "reference").glob("*.py"))
#: They need a JVM.
ON_SPARK = PROJECT / "examples" / "reference" / "servers" / "on_spark.py"
WITH_KAFKA = ON_SPARK.with_name("kafka_broker.py")
#: Public methods whose call no program shows -> why. It gets shorter.
WITHOUT_EXAMPLE = dict(
    line.split(": ", 1)
    for line in Path(__file__).with_name("without_example.txt").read_text(encoding="utf-8").splitlines()
)
PAGES = PROJECT / "docs" / "reference" / "api"

#: Between a program and the method that it calls.
_BETWEEN = {contextlib.__file__, functools.__file__, "<scurry>"}


@functools.cache
def public_methods() -> dict[str, list[Any]]:
    """Return ``Class.method`` -> the functions of that name, for all that the pages of the API list.

    A method that overrides a public one counts as that one: ``Trigger.on_element``, not ``CountTrigger.on_element``.
    """
    found: dict[str, list[Any]] = defaultdict(list)
    for listed in _listed():
        if not inspect.isclass(listed) and not _refuses(listed):
            found[listed.__name__].append(listed)
    for cls in public_classes():
        for name, function in _methods(cls):
            found[_name(cls, name)].append(function)
    return found


@functools.cache
def public_classes() -> dict[type, None]:
    """Return the classes that the pages of the API list, and those within them."""
    classes: dict[type, None] = {}
    for listed in _listed():
        if inspect.isclass(listed):
            _add_class(listed, classes)
    return classes


def calls_of(program: Path, runner: str = "local") -> dict[str, list[int]]:
    """Run a program in this process, or its driver.

    Returns:
        ``Class.method`` -> the lines of the program that call it or override it, those that were run.

    Raises:
        AssertionError: The program failed.
    """
    tracer = _Tracer(program)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        threading.setprofile(tracer.call)
        sys.setprofile(tracer.call)
        try:
            status = run_program(program, [], LaunchOptions(runner=runner, parallelism=1), debug=True)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            os.chdir(here)
    assert status == 0, f"{program.name} failed"
    return {name: sorted(lines) for name, lines in tracer.found.items()}


def statement_at(program: Path, line: int) -> str:
    """Return the innermost statement of a program at a line; of a definition, its whole text."""
    lines, places = _statements_of(program)
    begin, end = [place for place in places if place[0] <= line <= place[1]][-1]
    return inspect.cleandoc("\n" + "\n".join(lines[begin - 1 : end]))


@functools.cache
def _statements_of(program: Path) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the lines of a program, and the first and last line of each statement, outer ones before inner ones."""
    text = program.read_text(encoding="utf-8")
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return text.splitlines(), [(_first_line(node), node.end_lineno or 0) for node in found]


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    lines: list[int] = [node.lineno, *(each.lineno for each in decorators)]
    return min(lines)


class _Tracer:
    def __init__(self, program: Path) -> None:
        self._program = str(program)
        self._lines = program.read_text(encoding="utf-8").splitlines()
        named = [(key, function) for key, functions in public_methods().items() for function in functions]
        self._plain = {inspect.unwrap(function).__code__: key for key, function in named}
        self._wrappers = {function.__code__ for _, function in named if hasattr(function, "__wrapped__")}
        # Most calls are of other functions.
        self._names = {code.co_name for code in self._plain} | {key.rpartition(".")[2] for key in public_methods()}
        self.found: dict[str, set[int]] = defaultdict(set)

    def call(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call if the program makes it, or if what is called is written in the program."""
        if event != "call" or frame.f_code.co_name not in self._names:
            return
        code, caller = frame.f_code, self._caller(frame)
        if code.co_filename == self._program:
            line = code.co_firstlineno
        elif caller is not None:
            line = caller.f_lineno
        else:
            return
        for key in self._keys(frame, caller):
            self.found[key].add(line)

    def _caller(self, frame: FrameType) -> FrameType | None:
        back = frame.f_back
        while back is not None and (back.f_code.co_filename in _BETWEEN or back.f_code in self._wrappers):
            back = back.f_back
        return back if back is not None and back.f_code.co_filename == self._program else None

    def _keys(self, frame: FrameType, caller: FrameType | None) -> Iterator[str]:
        code = frame.f_code
        if (receiver := _receiver(frame)) is not None and (names := _names(receiver, code)):
            # Several names for one function: the program says which one it means.
            text = self._lines[caller.f_lineno - 1] if caller is not None and len(names) > 1 else None
            for name in names:
                if text is None or re.search(rf"\b{name}\b", text):
                    yield from _public_keys(receiver, name, caller)
        elif code in self._plain:
            yield self._plain[code]


def _receiver(frame: FrameType) -> type | None:
    """Return the class of the first argument, or the first argument if it is a class."""
    code = frame.f_code
    if not code.co_argcount:
        return None
    first = frame.f_locals.get(code.co_varnames[0])
    return first if inspect.isclass(first) else type(first)


@functools.cache
def _names(cls: type, code: CodeType) -> list[str]:
    """Return the names under which a class has a function of this code."""
    functions = [(name, _function(member)) for base in cls.__mro__ for name, member in vars(base).items()]
    return sorted({name for name, function in functions if function is not None and function.__code__ is code})


def _public_keys(cls: type, name: str, caller: FrameType | None) -> Iterator[str]:
    public = public_classes()
    bases = [base for base in cls.__mro__ if base in public and hasattr(base, name)]
    if not bases and caller is not None:
        # A context of the runtime: it is what the function class of the caller calls its context.
        around = _receiver(caller)
        names = {base.__qualname__ for base in around.__mro__} if around is not None else set()
        bases = [each for each in public if hasattr(each, name) and _implements(cls, each)]
        bases = [
            base for base in bases if "." not in base.__qualname__ or base.__qualname__.rpartition(".")[0] in names
        ]
    for base in bases:
        yield _name(base, name)


def _implements(cls: type, declared: type) -> bool:
    abstract: set[str] | frozenset[str] = getattr(declared, "__abstractmethods__", frozenset())
    if getattr(declared, "_is_protocol", False):
        abstract = {name for name, _ in _methods(declared)}
    return bool(abstract) and all(hasattr(cls, name) for name in abstract)


def _listed() -> Iterator[Any]:
    for page in sorted(PAGES.glob("*.md")):
        for path in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            named = _resolved(path)
            if not inspect.ismodule(named):
                yield named
                continue
            for name in named.__all__:
                member = getattr(named, name)
                if inspect.isclass(member) or inspect.isfunction(member):
                    yield member


def _resolved(path: str) -> Any:
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        with contextlib.suppress(ImportError):
            return functools.reduce(getattr, parts[end:], importlib.import_module(".".join(parts[:end])))
    raise ImportError(path)


def _add_class(cls: type, classes: dict[type, None]) -> None:
    if cls not in classes and cls.__module__.startswith("scurry"):
        classes[cls] = None
        for name, member in vars(cls).items():
            if not name.startswith("_") and inspect.isclass(member) and member.__qualname__.startswith(cls.__name__):
                _add_class(member, classes)


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, with what it inherits from classes of its own project."""
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("scurry"):
            for name, member in vars(base).items():
                function = _function(member)
                if function is not None and not name.startswith("_") and not _refuses(function):
                    yield name, function


def _function(member: Any) -> Any:
    if isinstance(member, property):
        member = member.fget
    member = getattr(member, "__func__", member)
    return inspect.unwrap(member) if inspect.isfunction(member) else None


def _refuses(function: Any) -> bool:
    """Return whether a method is there to say why scurry does not have it."""
    return bool(function.__annotations__.get("return") == "NoReturn")


def _name(cls: type, method: str) -> str:
    owner = [base for base in cls.__mro__ if base in public_classes() and hasattr(base, method)][-1]
    return f"{owner.__qualname__}.{method}"


def statements(calls: Callable[[Path], dict[str, list[int]]] = calls_of) -> dict[str, tuple[str, str]]:
    """Run all programs; return the path of each method -> a program and the statement that calls it."""
    found: dict[str, tuple[str, str]] = {}
    for program in PROGRAMS:
        for key, lines in calls(program).items():
            shown = min((statement_at(program, line) for line in lines), key=len)
            for function in public_methods()[key]:
                found.setdefault(f"{function.__module__}.{function.__qualname__}", (program.name, shown))
    return found


if __name__ == "__main__":
    print(json.dumps(statements()))
