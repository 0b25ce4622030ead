"""The site's reference shows, below each method, the statement of examples/reference that calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from griffe import Docstring, Extension, Function

TRACE = Path(__file__).with_name("examples.py")
LONGEST = 8


class MethodExamples(Extension):
    """Add the statements to the docstrings.

    The programs are run for this, in a process of their own, unless SCURRY_TRACED_EXAMPLES names a file of statements.
    """

    def __init__(self) -> None:
        traced = os.environ.get("SCURRY_TRACED_EXAMPLES")
        found = _traced() if traced is None else Path(traced).read_text(encoding="utf-8")
        self._statements: dict[str, list[str]] = json.loads(found)

    def on_function_instance(self, *, func: Function, **_: Any) -> None:
        """Append the example to a function's docstring."""
        self._append(func)

    def on_attribute_instance(self, *, attr: Any, **_: Any) -> None:
        """Append the example to a property's docstring: griffe has properties as attributes."""
        self._append(attr)

    def _append(self, member: Any) -> None:
        found = self._statements.get(member.path)
        if found is not None and isinstance(member.docstring, Docstring):
            program, statement = found
            lines = "\n".join(f"    {line}" for line in statement.splitlines()[:LONGEST])
            member.docstring.value += f"\n\nFor example, in `examples/reference/{program}`:\n\n{lines}\n"


def _traced() -> str:
    traced = subprocess.run([sys.executable, str(TRACE)], capture_output=True, text=True, timeout=1500)
    if traced.returncode != 0:
        raise RuntimeError(f"examples/reference cannot be run:\n{traced.stderr}")
    return traced.stdout.splitlines()[-1]
