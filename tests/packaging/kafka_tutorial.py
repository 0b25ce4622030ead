"""Follow docs/tutorials/kafka.md with an installed scurry, as a new user would: `kafka_tutorial.py ENVIRONMENT PORT`.

Nothing of the repository is on the import path. The broker is at the port instead of 9092.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "kafka.md"
#: A command of the page, or a program.
STEP = re.compile(r"^    ((?:pip|python|scurry) [^\n]*)$|^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main(environment: Path, port: str) -> None:
    """Run the page's commands and programs, one after the other, and check what is printed."""
    page = PAGE.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    (\['.*\])$", page, re.MULTILINE)
    own = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    own["PATH"] = f"{environment / 'bin'}:{own['PATH']}"
    broker, printed = None, ""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        try:
            for command, program in re.findall(STEP, page):
                if "scurry.testing.kafka" in command:
                    broker = subprocess.Popen([*command.split(), "--port", port], env=own, stdout=subprocess.PIPE)
                    assert broker.stdout is not None
                    assert port in broker.stdout.readline().decode()
                elif command.startswith("pip"):
                    continue  # the wheel is installed
                elif command:
                    printed += run(command.split(), directory, own)
                elif "env.execute" in program:  # a command runs it
                    Path(directory, "totals.py").write_text(program.replace("9092", port), encoding="utf-8")
                else:
                    printed += run(["python", "-c", program.replace("9092", port)], directory, own)
        finally:
            if broker is not None:
                broker.terminate()
                broker.wait()
    if printed != f"{shown}\n":
        sys.exit(f"the page shows\n{shown}\nnot\n{printed}")


def run(command: list[str], directory: Path, environment: dict[str, str]) -> str:
    """Run a command; return what it prints."""
    executable = Path(environment["PATH"].partition(":")[0], command[0])
    done = subprocess.run(
        [str(executable), *command[1:]], cwd=directory, env=environment, capture_output=True, text=True, timeout=300
    )
    if done.returncode != 0:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), sys.argv[2])
