"""Flink's built-in functions, as SHOW FUNCTIONS and DESCRIBE FUNCTION EXTENDED have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path

from scurry._dataclasses import dataclass


@dataclass
class BuiltInFunction:
    """A built-in function.

    Attributes:
        kind: SCALAR, AGGREGATE, PROCESS_TABLE, or OTHER for what only the Table API calls.
        is_deterministic: Whether equal arguments have equal results, as Flink says.
        signatures: Its calls, with the types of arguments.
    """

    kind: str
    is_deterministic: bool
    signatures: list[str] = field(default_factory=list)


@cache
def built_in_functions() -> Mapping[str, BuiltInFunction]:
    """Return the functions that Flink 2.3 lists by their names, those of the Table API among them."""
    found: dict[str, BuiltInFunction] = {}
    kind, is_deterministic = "", True
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            name = line.strip().partition("(")[0]
            found.setdefault(name, BuiltInFunction(kind, is_deterministic)).signatures.append(line.strip())
        else:
            kind, _, remark = line.partition(" ")
            is_deterministic = not remark
    return dict(sorted(found.items()))
