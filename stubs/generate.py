"""Make the stubs of pyflink from scurry's modules: `python stubs/generate.py`, in the project's environment."""

from __future__ import annotations

import shutil
from pathlib import Path

import scurry
from scurry.common._pyflink.names import IMPORTED

STUBS = Path(__file__).with_name("pyflink-stubs")
SOURCE = Path(scurry.__file__).parent

#: What programs written for PyFlink import; scurry.state and others have no counterpart there.
PACKAGES = ("cep", "common", "datastream", "metrics", "table", "testing")


def stubs() -> dict[str, str]:
    """Return path below ``pyflink-stubs`` -> text of a stub, each of which has the names of one of scurry's modules."""
    found = {
        "__init__.pyi": stub("scurry", {"": "__version__"}),
        "version.pyi": stub("scurry.common._pyflink.version", {"common._pyflink.version": "__version__"}),
        "util/__init__.pyi": stub("scurry.common._pyflink.util", {}),
        "util/exceptions.pyi": stub("scurry.common._pyflink.util.exceptions", {}),
    }
    for package in PACKAGES:
        for file in sorted((SOURCE / package).rglob("*.py")):
            path = file.relative_to(SOURCE).with_suffix("")
            module = path.parent if path.name == "__init__" else path
            if not any(part.startswith("_") for part in module.parts):
                name = ".".join(module.parts)
                found[f"{path}.pyi"] = stub(f"scurry.{name}", IMPORTED.get(name, {}))
    return found


def stub(module: str, imported: dict[str, str]) -> str:
    """Return a stub with the names of a module, and those that PyFlink's module imports besides."""
    lines = [f"from {module} import *"]
    for source, names in imported.items():
        origin = f"scurry.{source}" if source else "scurry"
        lines += [f"from {origin} import {name} as {name}" for name in names.split()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    shutil.rmtree(STUBS, ignore_errors=True)
    for path, text in stubs().items():
        (STUBS / path).parent.mkdir(parents=True, exist_ok=True)
        (STUBS / path).write_text(text, encoding="utf-8")
