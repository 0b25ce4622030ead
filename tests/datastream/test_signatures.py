"""Names, parameters and defaults against those of real PyFlink (`tests/fixtures/api/signatures.py`)."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scurry.errors import UnsupportedError

SIGNATURES = Path(__file__).parent.parent / "fixtures" / "api" / "signatures.txt"

#: What is not offered, by patterns of lines, and why.
NOT_OFFERED = {
    r".*__init__\(_?j_\w+": "takes an object of Java",
    r".*\.(__init__\((source|sink|sink_func)\))": "takes an object of Java",
    r".*\.(get_java_\w+|\w*to_j_\w+|get_transformer|register_next_fire_timestamp)\(": "for PyFlink itself",
    r".*\.(need_conversion|to_internal_type|from_internal_type)\(": "PyFlink's way to Java and back",
    r"common\.(utils|constants|serializer VoidNamespace)": "for PyFlink itself",
    r"datastream\.utils ": "for PyFlink itself",
    r".*(JavaFunctionWrapper|JavaObjectWrapper|FunctionWrapper|AssignerWithPeriodicWatermarksWrapper)": "wraps Java",
    r".* RowDataBulkWriterFactory": "wraps Java",
    r".* Internal\w*Window": "how PyFlink calls window functions",
    r".* (PassThrough\w*Function|ReduceFunctionWrapper|AsyncFunctionDescriptor|WindowOperationDescriptor)": "internal",
    r".* (mod_inverse|long_to_int_with_bit_mixing|Min)\b": "internal",
    r".*KeyedStream\.AccumulateType": "internal",
    r".*(Windowed|Keyed)Stream\.__init__": "made by window() and key_by()",
    r".*StreamingFileSink\.BaseBuilder": "its builders derive from FileSink's",
    r".*RestartStrategyConfiguration\.__init__": "made by RestartStrategies",
    r"datastream\.connectors\.base (StreamTransformer|SupportsPreprocessing)": "for PyFlink itself",
    r"datastream\.connectors\.file_system (OnCheckpoint|Default)RollingPolicy": "made by RollingPolicy",
    r"datastream\.connectors\.kafka FlinkKafka(Consumer|Producer)": "removed in Flink 2; refused with what to use",
    r"datastream\.connectors\.(cassandra|dynamic_kafka|elasticsearch|kinesis|pulsar|rabbitmq)": "importing says so",
    r"common.*ExecutionConfig\.get_(default_kryo|registered_(kryo|pojo))": "PyFlink 2.3 has them, Flink 2 does not",
    r".*CleanupStrategies\.\w+Strategy\.__init__": "made by StateTtlConfig's builder",
}


class Line(NamedTuple):
    """A public name and, of functions, its parameters."""

    module: str
    name: str
    parameters: list[str] | None


def recorded() -> Iterator[Line]:
    for line in SIGNATURES.read_text().splitlines()[1:]:
        if not any(re.match(pattern, line) for pattern in NOT_OFFERED):
            module, name, parameters = re.fullmatch(r"(\S+) ([\w.]+)(?:\((.*)\))?", line).groups()  # type: ignore[union-attr]
            yield Line(module, name, None if parameters is None else _split(parameters))


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
        found = {line.name: differences(line) for line in functions if not lacks(line)}
        assert {name: difference for name, difference in found.items() if difference} == {}


@pytest.mark.parametrize("pattern", NOT_OFFERED)
def test_what_is_not_offered_is_there_in_pyflink(pattern: str) -> None:
    assert any(re.match(pattern, line) for line in SIGNATURES.read_text().splitlines())
