"""Every method of the Table API is called, and answers as PyFlink 2.3.0 did when it was recorded.

`support/method_calls` has the calls. Where an answer is another one, `tests/fixtures/table_api/method_differences.json`
has it with the reason, so that a difference can neither come nor go unseen.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import scurry.pyflink_alias  # noqa: F401
from scurry.common._process import launch
from support.api_surface import entries, signatures
from support.method_calls import answers, groups

FIXTURES = Path(__file__).parent.parent / "fixtures"
RECORDED = json.loads((FIXTURES / "table_api" / "methods.json").read_text())
#: the reason of each group of calls whose answers differ
DIFFERENCES = json.loads((FIXTURES / "table_api" / "method_differences.json").read_text())
#: PyFlink's kinds of errors that a program can name; the others are those of its bridge to Java
OF_PYTHON = {"AttributeError", "IndexError", "KeyError", "TypeError", "ValueError"}
#: classes and functions that other recorded tests are about: `test_recorded_operations`, those of functions and streams
ELSEWHERE = {
    "AggregateFunction", "AsyncScalarFunction", "DataView", "Expression", "FunctionContext",
    "ImperativeAggregateFunction", "ScalarFunction", "StreamTableEnvironment", "TableAggregateFunction",
    "TableFunction", "UserDefinedFunction", "functions",
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_this_process() -> Iterator[None]:
    with launch.activate(launch.LaunchOptions(runner="local")):
        yield


def same(ours: Any, recorded: Any) -> bool:
    """Return whether an answer is PyFlink's: errors need only be of its kind, and have words of our own."""
    if isinstance(recorded, dict) and "raises" in recorded:
        if not isinstance(ours, dict) or "raises" not in ours:
            return False
        kinds = OF_PYTHON & set(recorded["raises"])
        return not kinds or bool(kinds & set(ours["raises"]))
    if isinstance(recorded, dict) and "class" in recorded:
        if not isinstance(ours, dict) or ours.get("class") != recorded["class"]:
            return False
        return recorded["text"] is None or recorded["class"] == "Table" or ours["text"] == recorded["text"]
    if recorded is None and isinstance(ours, dict) and "printed" in ours:  # Java prints past Python
        return True
    if isinstance(recorded, list):
        return isinstance(ours, list) and len(ours) == len(recorded) and all(map(same, ours, recorded))
    return bool(ours == recorded)


def numbered(lines: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return answers by their lines; the second answer of a line has `(2)` behind it."""
    found: dict[str, Any] = {}
    times = Counter[str]()
    for line, answer in lines:
        times[line] += 1
        found[line if times[line] == 1 else f"{line} ({times[line]})"] = answer
    return found


@pytest.mark.filterwarnings("ignore:configuration without effect")
@pytest.mark.parametrize("group", groups())
def test_methods_answer_as_pyflinks_do(group: str, tmp_path: Path) -> None:
    recorded = numbered(RECORDED[group])
    ours = numbered(answers(group, tmp_path))
    differ = [line for line in ours if not same(ours[line], recorded.get(line))]
    known = [line for lines in DIFFERENCES.values() for line in lines]
    assert {line: (ours[line], recorded.get(line)) for line in differ if line not in known} == {}
    assert [line for line in known if line in ours and line not in differ] == []


def test_every_method_is_called() -> None:
    operations = (FIXTURES / "table_api" / "batch.jsonl").read_text()
    text = operations + "\n".join(line for lines in groups().values() for line in lines)
    for _module, name, members in entries("table.txt"):
        cls = name.split("**")[1] if name.startswith("**") else name
        if cls in ELSEWHERE:
            continue
        methods = [method for method, _ in signatures(members) if not method.startswith("__")]
        assert [method for method in methods if not re.search(rf"\b{method}\(", text)] == [], cls


def test_every_class_is_in_a_group() -> None:
    listed = {word for group in groups() for word in group.split()}
    named = {
        name.split("**")[1] for _, name, members in entries("table.txt") if name.startswith("**") and "(" in members
    }
    assert named - listed - ELSEWHERE == set()
