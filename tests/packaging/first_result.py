"""Run the README's program with an installed scurry, as a new user would: `first_result.py ENVIRONMENT [README]`.

Nothing of the repository is on the import path. The machine needs no Java: the first job on Spark installs one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def main(environment: Path) -> None:
    """Run the program in-process, then on Spark, and check what both print."""
    found = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    ((program, printed),) = found
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "sales.py").write_text(program, encoding="utf-8")
        own = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
        for runner in ("local", "spark"):
            started = time.monotonic()
            command = [str(environment / "bin" / "scurry"), "run", "--runner", runner, "sales.py"]
            done = subprocess.run(command, cwd=directory, env=own, capture_output=True, text=True, timeout=600)
            if done.returncode != 0 or sorted(done.stdout.splitlines()) != sorted(printed.splitlines()):
                sys.exit(f"{runner}: {done.returncode}\n{done.stdout}\n{done.stderr}")
            print(f"{runner}: first result after {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
