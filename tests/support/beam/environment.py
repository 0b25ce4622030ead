"""A virtual environment with Beam, whose pyarrow and protobuf are other ones than those of the lock."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import venv
from pathlib import Path

import scurry

#: What Beam's own tests import, too.
PACKAGES = ("apache-beam==2.77.0", "parameterized==0.9.0", "pyhamcrest==2.1.0", "tenacity")
SOURCES = Path(scurry.__file__).parents[1]


def python_with_beam() -> Path:
    """Return the interpreter of an environment that stays there, with scurry and what this one has behind Beam's."""
    place = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "scurry-tests" / "beam-2.77.0"
    place.mkdir(parents=True, exist_ok=True)
    python = place / "venv" / "bin" / "python"
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "done").exists():
            venv.EnvBuilder(symlinks=True, with_pip=True, clear=True).create(place / "venv")
            subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True, timeout=900)
            (place / "done").touch()
    return python


def environment() -> dict[str, str]:
    """Return the variables with which that interpreter finds scurry and pytest."""
    behind = [path for path in sys.path if "site-packages" in path]
    start = "import sys; sys.path += " + repr(behind)
    place = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "scurry-tests" / "beam-2.77.0"
    (place / "behind").mkdir(exist_ok=True)
    (place / "behind" / "sitecustomize.py").write_text(start)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), str(place / "behind")])}
