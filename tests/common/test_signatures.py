"""Names, parameters and defaults against those of real PyFlink (`tests/fixtures/api/signatures.py`).

What is left out is in docs/differences.md, "Names": classes and modules say so when they are imported.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import scurry.pyflink_alias  # noqa: F401
from scurry.errors import UnsupportedError

SIGNATURES = Path(__file__).parent.parent / "fixtures" / "api" / "signatures.txt"

#: What is not offered, by patterns of lines, and why.
NOT_OFFERED = {
    r".*__init__\(_?(j|java)_\w+": "takes an object of Java",
    r".*\.(__init__\((source|sink|sink_func)\))": "takes an object of Java",
    r".*\.(get_java_\w+|\w*to_j_\w+|get_transformer|register_next_fire_timestamp)\(": "for PyFlink itself",
    r".*\.get_http_host_class\(": "a class of Java",
    r".*\.(need_conversion|(to|from)_(internal|sql)_type)\(": "PyFlink's way to Java and back",
    r".*KeyedStream\.AccumulateType": "internal",
    r".*(Windowed|Keyed)Stream\.__init__": "made by window() and key_by()",
    r".*FlinkKafkaProducer\.ignore_failures": "refused by its constructor",
    r".*StreamingFileSink\.BaseBuilder": "its builders derive from FileSink's",
    r".*RestartStrategyConfiguration\.__init__": "made by RestartStrategies",
    r".*FunctionContext\.__init__": "made where functions are opened",
    r".*JavaException\.__init__": "raised for an error of Java",
    r".*BytesContentPlanReference\.get_content": "from_smile_bytes refuses",
    r"common.*ExecutionConfig\.get_(default_kryo|registered_(kryo|pojo))": "PyFlink 2.3 has them, Flink 2 does not",
    r".*CleanupStrategies\.\w+Strategy\.__init__": "made by StateTtlConfig's builder",
}


#: Calls that mean the same with other parameters.
SAME = {
    "common.types Row.__setattr__": "called by Python",
    "table.catalog CatalogTableStatistics.__init__": "unknown numbers are -1, and need not be given",
    "table.catalog Column.copy": "the kinds of columns have another name for the parameter",
    "table.catalog ObjectPath.__init__": "PyFlink's default is for objects of Java",
    "table.catalog ResolvedSchema.__init__": "no columns are ()",
}


DIFFERENCES = Path(__file__).parents[2] / "docs" / "differences.md"
#: Modules and names, with * for any letters, as the page has them.
LEFT_OUT = re.findall(r"`([\w.*]+)`", DIFFERENCES.read_text().partition("\n## Names\n")[2].partition("\n## ")[0])


class Line(NamedTuple):
    """A public name and, of functions, its parameters."""

    module: str
    name: str
    parameters: list[str] | None


def recorded() -> Iterator[Line]:
    for line in SIGNATURES.read_text().splitlines()[1:]:
        module, name, parameters = re.fullmatch(r"(\S+)(?: ([\w.]+))?(?:\((.*)\))?", line).groups()  # type: ignore[union-attr]
        if name and not is_left_out(module, name) and not any(re.match(pattern, line) for pattern in NOT_OFFERED):
            yield Line(module, name, None if parameters is None else _split(parameters))


def is_left_out(module: str, name: str) -> bool:
    """Return whether the page names the module, the name, or the class that it is in."""
    outer = f"{module}.{name.partition('.')[0]}"
    return any(fnmatchcase(each, pattern) for pattern in LEFT_OUT for each in (module, outer))


def left_out() -> list[tuple[str, str]]:
    """Modules, each with "", and modules with names, that the page names."""
    found = []
    for line in SIGNATURES.read_text().splitlines()[1:]:
        module, _, name = line.partition("(")[0].partition(" ")
        if "." not in name and (is_left_out(module, name) if name else module in LEFT_OUT):
            found.append((module, "" if module in LEFT_OUT else name))
    return list(dict.fromkeys(found))


def _split(parameters: str) -> list[str]:
    return [each for each in re.split(r", (?=[*\w]+(?:=|,|$))", parameters) if each]


def here(line: Line) -> Any:
    """The thing of that name and, last, the class that it is looked up in."""
    thing: Any = importlib.import_module(f"scurry.{line.module}")
    for part in line.name.split("."):
        thing = getattr(thing, part)
    return thing


def lacks(line: Line) -> bool:
    try:
        here(line)
    except UnsupportedError:
        return False
    except (ImportError, AttributeError):
        return True
    return False


def differences(line: Line) -> str | None:
    """What does not fit a call that PyFlink takes."""
    thing = here(line)
    owner = here(line._replace(name=line.name.rpartition(".")[0])) if "." in line.name else None
    if inspect.isclass(owner) and line.name.endswith(".__init__"):
        signature = list(inspect.signature(owner).parameters.values())
    else:
        signature = list(inspect.signature(thing).parameters.values())
        raw = inspect.getattr_static(owner, line.name.rpartition(".")[2]) if owner else None
        if inspect.isclass(owner) and not isinstance(raw, (staticmethod, classmethod)):
            signature = signature[1:]
    if signature and signature[0].kind is inspect.Parameter.VAR_POSITIONAL and len(signature) == 2:
        return None  # refused whatever is passed
    rest = list(signature)
    for expected in line.parameters or ():
        name, _, default = expected.partition("=")
        if not rest:
            return None if name.startswith("j_") else f"no {name}"
        parameter = rest.pop(0)
        stars: dict[Any, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        star = stars.get(parameter.kind, "")
        if star + parameter.name != name:
            return f"{parameter.name} for {name}"
        if default and default != "..." and _default(parameter) != default:
            return f"{name}={_default(parameter)} for {expected}"
    required = [p.name for p in rest if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return f"{required} in addition" if required else None


def _default(parameter: inspect.Parameter) -> str:
    value = parameter.default
    if value is parameter.empty:
        return "nothing"
    return str(value) if isinstance(value, enum.Enum) else repr(value)


LINES = list(recorded())


@pytest.mark.parametrize("module", sorted({line.module for line in LINES}))
class TestModule:
    def test_has_every_name(self, module: str) -> None:
        assert [line.name for line in LINES if line.module == module and lacks(line)] == []

    def test_takes_every_call_that_pyflink_takes(self, module: str) -> None:
        functions = [line for line in LINES if line.module == module and line.parameters is not None]
        found = {f"{module} {line.name}": differences(line) for line in functions if not lacks(line)}
        assert {name: difference for name, difference in found.items() if difference and name not in SAME} == {}


@pytest.mark.parametrize("pattern", NOT_OFFERED)
def test_what_is_not_offered_is_there_in_pyflink(pattern: str) -> None:
    assert any(re.match(pattern, line) for line in SIGNATURES.read_text().splitlines())


def test_all_that_the_page_leaves_out_is_there_in_pyflink() -> None:
    found = left_out()
    names = {f"{module}.{name}".rstrip(".") for module, name in found}
    assert [pattern for pattern in LEFT_OUT if not any(fnmatchcase(name, pattern) for name in names)] == []


@pytest.mark.parametrize(("module", "name"), left_out())
def test_an_import_of_what_is_left_out_says_why(module: str, name: str) -> None:
    statement = f"from pyflink.{module} import {name}" if name else f"import pyflink.{module}"
    with pytest.raises(ImportError, match=r"(?s)scurry (does not offer|has no) .*: ...") as caught:
        exec(statement)
    assert "there is no scurry" not in str(caught.value)
