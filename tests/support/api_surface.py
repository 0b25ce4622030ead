"""PyFlink's API as lists of names and signatures (tests/fixtures/api), and what scurry has of it."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

API = Path(__file__).parent.parent / "fixtures" / "api"


def entries(surface: str) -> Iterator[tuple[str, str, str]]:
    """(module, class or "functions", signatures) of every line of a list."""
    module = ""
    for line in (API / surface).read_text().splitlines():
        if line.startswith("## "):
            module = line[3:]
        elif line.startswith("- "):
            name, _, members = line[2:].partition(": ")
            yield module, name.strip(), members


def classes(surface: str) -> list[Any]:
    found = []
    for module, name, members in entries(surface):
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
