"""Every name and parameter of PyFlink's Table API exists here under the same path."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import pytest

from support.api_surface import API, also_paths, called, classes, entries, offers, parameters, resolve, signatures

SURFACE = "table.txt"
#: the default values of PyFlink 2.3.0 as texts, by method and parameter; those of its own objects of Java are left out
DEFAULTS = json.loads((API / "table_defaults.json").read_text())
#: other values here that mean the same
SAME_DEFAULTS = {("returning_type", "VARCHAR"): "None", ("row_fields", "[]"): "()", ("columns", "None"): "()",
                 ("watermark_specs", "None"): "()"}  # fmt: skip


def methods(cls: str, members: str) -> list[tuple[str, list[str]]]:
    if cls == "Column":  # abstract: the kinds of columns have another name for the parameter
        members = members.replace("copy(new_type)", "copy(new_data_type)")
    return signatures(members)


@pytest.mark.parametrize(("module", "cls", "members"), classes(SURFACE))
class TestClass:
    def test_is_found_under_every_path(self, module: str, cls: str, members: str) -> None:
        here = resolve(module, cls)
        paths = [p for p in also_paths(members) if p.partition(".")[0] in ("table", "common")]
        missing = [path for path in paths if not offers(path, cls, here)]
        assert missing == []

    def test_has_every_method_with_its_parameters(self, module: str, cls: str, members: str) -> None:
        here = resolve(module, cls)
        for method, expected in methods(cls, members):
            assert hasattr(here, method), f"{cls} lacks {method}"
            actual = parameters(called(here, method))
            assert actual[: len(expected)] == expected, f"{cls}.{method}{tuple(actual)}, PyFlink: {tuple(expected)}"

    def test_takes_no_required_parameter_that_pyflink_does_not_have(self, module: str, cls: str, members: str) -> None:
        here = resolve(module, cls)
        for method, expected in methods(cls, members):
            signature = inspect.signature(called(here, method))
            extra = [p for name, p in signature.parameters.items() if name not in (*expected, "self", "cls")]
            variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            required = [p.name for p in extra if p.default is p.empty and p.kind not in variadic]
            assert required == [], f"{cls}.{method}"

    def test_has_every_value_of_an_enum(self, module: str, cls: str, members: str) -> None:
        values = re.search(r"values: ([\w ]+)", members)
        if values:
            assert [v for v in values[1].split() if v not in resolve(module, cls).__members__] == []


def default_values(function: Any) -> dict[str, str]:
    found = {p.name: p.default for p in inspect.signature(function).parameters.values() if p.default is not p.empty}
    return {name: repr(value) if isinstance(value, str) else str(value) for name, value in found.items()}


def test_parameters_have_pyflinks_default_values() -> None:
    compared = 0
    for module, name, members in entries(SURFACE):
        cls = name.split("**")[1] if name.startswith("**") else ""
        for method, _ in signatures(members) if cls or name == "functions" else []:
            shown = "new" if method == "__init__" else method
            expected = DEFAULTS.get(f"{module}.{cls}.{shown}" if cls else f"{module}.{shown}", {})
            here = default_values(resolve(module, f"{cls}.{method}" if cls else method))
            for parameter, value in expected.items():
                if not parameter.startswith("j_"):
                    compared += 1
                    assert here.get(parameter) in (value, SAME_DEFAULTS.get((parameter, value))), f"{cls}.{method}"
    assert compared > 90


def test_functions_are_found() -> None:
    for module, name, members in entries(SURFACE):
        if name == "functions":
            for function, expected in signatures(members):
                assert parameters(resolve(module, function)) == expected
