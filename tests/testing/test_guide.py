"""The examples of docs/testing.md are true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "testing.md"


def test_the_examples_run_one_after_another() -> None:
    examples = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 7
    namespace: dict[str, Any] = {"__name__": "guide"}
    for example in examples:
        assert "assert" in example
        exec(compile(example, str(GUIDE), "exec"), namespace)
