"""Check whether workers can run on an interpreter, before a job starts."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from pathlib import Path

from scurry.common._config.python import PYTHON_EXECUTABLE
from scurry.errors import InterpreterError

#: Modules that Python workers import -> package to install.
WORKER_MODULES = {
    "scurry": "scurry",
    "pyspark": "pyspark",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "cloudpickle": "cloudpickle",
    "google.protobuf": "protobuf",
}
CLIENT_MODULES = {**WORKER_MODULES, "typer": "typer"}

#: Program that prints the input of `verdict`; its arguments are names of modules.
PROBE = """
import importlib.util, json, sys
def found(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False
def version(name):
    try:
        from importlib.metadata import version
        return version(name)
    except Exception:
        return None
print(json.dumps([sys.version_info[:2], [n for n in sys.argv[1:] if not found(n)], version("pyspark")]))
"""


def is_this_interpreter(executable: str) -> bool:
    """Return whether a path or command is the interpreter that runs this program, virtual environment included."""
    path = shutil.which(executable)
    return path is not None and _identity(path) == _identity(sys.executable)


def _identity(path: str) -> tuple[str, str]:
    return os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.realpath(path)


@functools.lru_cache(maxsize=64)
def check_interpreter(executable: str, key: str = PYTHON_EXECUTABLE.key, client: bool = False) -> str:
    """Return the path of an interpreter on this machine on which workers can run.

    Args:
        executable: Its path, or a command on PATH.
        key: The configuration key that names it, for errors.
        client: Whether it runs programs instead of workers, with any version of Python.

    Raises:
        InterpreterError: It does not exist, does not run, or lacks modules.
    """
    path = shutil.which(executable)
    if path is None:
        raise InterpreterError(f"{key}: {executable} is no program on this machine that can be run")
    if is_this_interpreter(path):
        return path
    import subprocess  # not for programs without an interpreter of their own

    modules = CLIENT_MODULES if client else WORKER_MODULES
    try:
        done = subprocess.run(
            [path, "-c", PROBE, *modules],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={k: v for k, v in os.environ.items() if k != "PYTHONHOME"},
            cwd="/",
        )
        fault = verdict(path, done.stdout.splitlines()[-1], client)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise InterpreterError(f"{key}: {path} is no Python that can be run: {_first_line(error)}") from error
    if fault is not None:
        raise InterpreterError(f"{key}: {fault}")
    return path


def verdict(path: str, printed: str, client: bool = False) -> str | None:
    """Return why an interpreter cannot be used, given the output of `PROBE`; None if it can.

    Raises:
        ValueError: The text is not the probe's.
    """
    (major, minor), missing, pyspark = json.loads(printed)
    if not client and (major, minor) != sys.version_info[:2]:
        ours = f"{sys.version_info.major}.{sys.version_info.minor}"
        return (
            f"{path} is Python {major}.{minor} and the program runs on {ours}; functions are sent as byte code: "
            f"name a Python {ours}, or run the program with the other one (scurry run -pyclientexec)"
        )
    if missing:
        packages = " ".join(CLIENT_MODULES[name] for name in missing)
        needs = "scurry run needs" if client else "workers need"
        return f"{path} lacks what {needs}: {path} -m pip install {packages}"
    from importlib.metadata import version

    ours = version("pyspark")
    if pyspark is not None and pyspark.split(".")[:2] != ours.split(".")[:2]:
        return f"{path} has pyspark {pyspark}, the program runs with {ours}: install the same"
    return None


def _first_line(error: Exception) -> str:
    text = getattr(error, "stderr", None) or str(error)
    return next((line for line in reversed(str(text).splitlines()) if line.strip()), type(error).__name__)


def executable_bit(path: Path) -> None:
    """Make a file executable, because archives may lose that permission."""
    path.chmod(path.stat().st_mode | 0o111)
