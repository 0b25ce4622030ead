"""The README's program does what a reader would expect of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import scurry

PROJECT = Path(__file__).parents[2]


def test_the_example_counts_words(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "words.py").write_text(example)
    command = [sys.executable, "-m", "scurry", "run", "--runner", "local", "--parallelism", "1", "words.py"]
    environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env=environment)
    assert {"(fox,1)", "(fox,2)", "(the,3)", "(dog,1)"} <= set(done.stdout.split()), done.stderr
