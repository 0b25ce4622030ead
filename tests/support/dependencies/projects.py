"""A project on disk with every kind of dependency, and programs that use them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import scurry

SOURCE = str(Path(scurry.__file__).parent.parent)

#: Uses each kind of dependency in an operator; modules are imported where the workers are.
PROGRAM = """
    import helper
    from scurry.datastream import StreamExecutionEnvironment
    from scurry.datastream.functions import KeyedProcessFunction
    from scurry.datastream.state import ValueStateDescriptor
    from scurry.common import Types

    def lazily(value):
        import extra, pkg.inner, tiny
        with open("data/words.txt") as words:
            return f"{value} {extra.NAME} {pkg.inner.NAME} {tiny.NAME} {words.read().strip()}"

    class Count(KeyedProcessFunction):
        def open(self, context):
            self.seen = context.get_state(ValueStateDescriptor("seen", Types.PICKLED_BYTE_ARRAY()))

        def process_element(self, value, context):
            seen = self.seen.value() or helper.Seen(0)
            self.seen.update(helper.Seen(seen.count + value))
            yield self.seen.value().count

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2]).map(helper.double).key_by(lambda value: 0).process(Count())
    numbers.map(lazily).print()
    env.execute("dependencies")
"""

OUTPUT = ["2 extra inner tiny 1.0 words", "6 extra inner tiny 1.0 words"]

WHICH = """
    from scurry.datastream import StreamExecutionEnvironment

    def which(value):
        import sys
        return sys.prefix

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.from_collection([1]).map(which).key_by(lambda value: value).reduce(max).print()
    env.execute()
"""


@dataclass(frozen=True)
class Project:
    """The directory of a program, a directory elsewhere with what it depends on, and one to start it from."""

    program: Path
    parts: Path
    elsewhere: Path

    @property
    def options(self) -> list[str]:
        """Options of `scurry run` that name everything."""
        requirements = f"{self.parts / 'requirements.txt'}#{self.parts / 'packages'}"
        return ["-pyfs", f"{self.parts / 'extra.py'}", "-pyarch", f"{self.parts / 'words.zip'}#data",
                "-pyreq", requirements]  # fmt: skip

    def run(self, *command: str, timeout: int = 240, environment: Mapping[str, str] | None = None) -> Result:
        """Run Python in a directory that has nothing to do with the project, which no variable names either."""
        hidden = ("PYTHONPATH", "PYTEST_CURRENT_TEST")
        variables = {key: value for key, value in os.environ.items() if key not in hidden}
        return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=timeout,
                              cwd=self.elsewhere, env={**variables, **(environment or {})})  # fmt: skip

    def scurry_run(self, *options: str, timeout: int = 240) -> Result:
        """Run the program with the command."""
        return self.run("-m", "scurry", "run", *options, str(self.program), timeout=timeout)


Result = subprocess.CompletedProcess[str]


def new_project(place: Path) -> Project:
    """Write the files."""
    program, parts, elsewhere = place / "project", place / "parts", place / "elsewhere"
    for directory in (program / "pkg", parts / "packages", elsewhere):
        directory.mkdir(parents=True)
    (program / "program.py").write_text(textwrap.dedent(PROGRAM))
    (program / "helper.py").write_text(
        "from dataclasses import dataclass\n\n@dataclass\nclass Seen:\n    count: int\n\n"
        "def double(value):\n    return value * 2\n"
    )
    (program / "pkg" / "__init__.py").touch()
    (program / "pkg" / "inner.py").write_text("NAME = 'inner'\n")
    (parts / "extra.py").write_text("NAME = 'extra'\n")
    with zipfile.ZipFile(parts / "words.zip", "w") as archive:
        archive.writestr("words.txt", "words\n")
    make_wheel(parts / "packages", "tiny", "1.0")
    (parts / "requirements.txt").write_text("tiny==1.0\n")
    return Project(program / "program.py", parts, elsewhere)


def make_wheel(directory: Path, name: str, version: str, code: str | None = None) -> Path:
    """Write a package of one module, whose NAME is its name and version."""
    path, info = directory / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": code or f"NAME = '{name} {version}'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as wheel:
        for file, content in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(file, content)
    return path


def printed(result: Result) -> list[str]:
    """The lines that `print()` wrote, without the number of the subtask."""
    assert result.returncode == 0, result.stderr[-4000:]
    return [line.partition("> ")[2] or line for line in result.stdout.splitlines()]


def another_python(place: Path) -> Path:
    """A virtual environment that has what this one has."""
    venv.EnvBuilder(symlinks=True).create(place)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = [path for path in sys.path if "site-packages" in path or path.endswith("/src")]
    (place / "lib" / version / "site-packages" / "ours.pth").write_text("\n".join(site_packages))
    return place / "bin" / "python"
