"""Every name and parameter of PyFlink's DataStream API and common modules exists here under the same path."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SURFACE = Path(__file__).parent.parent / "fixtures" / "api" / "core.txt"


def entries() -> Iterator[tuple[str, str, str]]:
    """(module, class or "functions", signatures) of every line."""
    module = ""
    for line in SURFACE.read_text().splitlines():
        if line.startswith("## "):
            module = line[3:]
        elif line.startswith("- "):
            name, _, members = line[2:].partition(": ")
            yield module, name.strip(), members


def classes() -> list[Any]:
    found = []
    for module, name, members in entries():
        if name.startswith("**"):
            cls = name.split("**")[1]
            found.append(pytest.param(module, cls, members, id=f"{module}.{cls}"))
    return found


def resolve(module: str, name: str) -> Any:
    thing: Any = importlib.import_module(f"scurry.{module}")
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def offers(module: str, name: str, expected: Any) -> bool:
    try:
        return resolve(module, name) is expected
    except (ImportError, AttributeError):
        return False


def also_paths(members: str) -> list[str]:
    _, _, paths = members.partition("also: ")
    return paths.split()


def signatures(members: str) -> list[tuple[str, list[str]]]:
    """(method, parameter names) of the methods listed."""
    listed = members.partition("also: ")[0].partition("fields: ")[0].partition("values: ")[0]
    found = re.findall(r"([-.~]?)(\w+)\(([^()]*)\)", listed)
    return [
        ("__init__" if method == "new" else method, [p.strip().rstrip("=") for p in params.split(",") if p.strip()])
        for _, method, params in found
    ]


def called(cls: Any, method: str) -> Any:
    return cls if method == "__init__" else getattr(cls, method)


def parameters(function: Any) -> list[str]:
    names = []
    for parameter in inspect.signature(function).parameters.values():
        stars: dict[Any, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        star = stars.get(parameter.kind, "")
        names.append(star + parameter.name)
    return [name for name in names if name not in ("self", "cls")]


@pytest.mark.parametrize(("module", "cls", "members"), classes())
class TestClass:
    def test_is_found_under_every_path(self, module: str, cls: str, members: str) -> None:
        here = resolve(module, cls)
        paths = [p for p in also_paths(members) if p.partition(".")[0] in ("common", "datastream", "metrics")]
        missing = [path for path in paths if not offers(path, cls, here)]
        assert missing == []

    def test_has_every_method_with_its_parameters(self, module: str, cls: str, members: str) -> None:
        here = resolve(module, cls)
        for method, expected in signatures(members):
            assert hasattr(here, method), f"{cls} lacks {method}"
            actual = parameters(called(here, method))
            assert actual[: len(expected)] == expected, f"{cls}.{method}{tuple(actual)}, PyFlink: {tuple(expected)}"

    def test_takes_no_required_parameter_that_pyflink_does_not_have(self, module: str, cls: str, members: str) -> None:
        here = resolve(module, cls)
        for method, expected in signatures(members):
            signature = inspect.signature(called(here, method))
            extra = [p for name, p in signature.parameters.items() if name not in (*expected, "self", "cls")]
            variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            required = [p.name for p in extra if p.default is p.empty and p.kind not in variadic]
            assert required == [], f"{cls}.{method}"

    def test_has_every_value_of_an_enum(self, module: str, cls: str, members: str) -> None:
        values = re.search(r"values: ([\w ]+)", members)
        if values:
            assert [v for v in values[1].split() if v not in resolve(module, cls).__members__] == []


def test_functions_are_found() -> None:
    for module, name, members in entries():
        if name == "functions":
            for function, expected in signatures(members):
                assert parameters(resolve(module, function)) == expected
