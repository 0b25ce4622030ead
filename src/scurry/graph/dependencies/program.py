"""Find the program's own modules, which are not installed on the workers of a cluster."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path
from types import ModuleType

from scurry.common._config.python import PYTHON_FILES, SHIP_PROGRAM
from scurry.errors import DependencyError
from scurry.graph.dependencies.archives import files_below

#: Limits of a program's own modules.
MAX_BYTES = 64 << 20
MAX_FILES = 10_000

_MODULES = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)
#: Packages that every worker has.
_OURS = frozenset({"scurry", "pyspark", "py4j", "pyflink"})


def program_directory() -> Path | None:
    """Return the directory that Python imports a program's own modules from, None if the program is installed.

    It is the first entry that Python puts on ``sys.path``: the directory of ``python program.py``, the parent of the
    package of ``python -m package.program``, and the working directory without a file, as in notebooks.
    """
    main = sys.modules["__main__"]
    file, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    if file is None:
        directory = Path.cwd()
    else:
        path = Path(file).resolve()
        directory = path.parents[spec.name.count(".") if spec is not None else 0]
    return None if is_installed(directory) else directory


def is_installed(path: Path) -> bool:
    """Return whether a path belongs to the interpreter: its library, its site-packages, its scripts."""
    return {"site-packages", "dist-packages"}.intersection(path.parts) != set() or any(
        path.is_relative_to(directory) for directory in _installed_directories(sys.prefix, sys.base_prefix)
    )


@functools.lru_cache(maxsize=2)
def _installed_directories(prefix: str, base_prefix: str) -> list[Path]:
    names = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
    paths = [sysconfig.get_paths()[name] for name in names]
    if prefix != base_prefix:  # all of a virtual environment; but users' programs may be below /usr
        paths.append(prefix)
    return list(map(Path, dict.fromkeys([*paths, *map(os.path.realpath, paths), site.getusersitepackages()])))


def program_modules(ignored: Sequence[Path]) -> dict[str, Path]:
    """Return the files of the program's own modules by their names relative to a directory of ``sys.path``.

    These are the modules in the program's directory, its packages that have an `__init__.py`, and all other imported
    modules that are not installed. Packages include all their files, with data.

    Args:
        ignored: Directories of modules that workers get in another way.

    Raises:
        DependencyError: They exceed `MAX_BYTES` or `MAX_FILES`.
    """
    directory = program_directory()
    found: dict[str, Path] = {}
    if directory is not None:
        for entry in sorted(directory.iterdir()):
            if entry.name.startswith(".") or entry.name.partition(".")[0] in _OURS:
                continue
            if entry.is_dir() and (entry / "__init__.py").exists() or entry.name.endswith(_MODULES):
                found.update(_files_of(entry))
    names = {name.partition(".")[0] for name in list(sys.modules)} - _OURS - sys.stdlib_module_names - {"__mp_main__"}
    for name in sorted(names):
        for place in _places(sys.modules.get(name)):
            if not is_installed(place) and not any(map(place.is_relative_to, ignored)):
                for file, path in _files_of(place):
                    found.setdefault(file, path)
    return _limited(found)


def _places(module: ModuleType | None) -> Iterator[Path]:
    """Yield a module's file, or the directories of a package."""
    if module is None or module.__name__ == "__main__":
        return
    try:
        for directory in getattr(module, "__path__", ()):
            yield Path(directory).absolute()
        file = getattr(module, "__file__", None)
    except Exception:  # modules that compute their attributes may raise anything
        return
    if isinstance(file, str) and not hasattr(module, "__path__") and file.endswith(_MODULES):
        yield Path(file).absolute()


def _files_of(entry: Path) -> Iterator[tuple[str, Path]]:
    """Yield a module, or the files of a package, by their names beginning with the package's."""
    if entry.is_file():
        yield entry.name, entry
        return
    for name, path in files_below(entry).items():
        yield f"{entry.name}/{name}", path


def _limited(found: dict[str, Path]) -> dict[str, Path]:
    sizes: dict[str, int] = {}
    for name, path in found.items():
        top = name.partition("/")[0]
        sizes[top] = sizes.get(top, 0) + path.stat().st_size
    if sum(sizes.values()) <= MAX_BYTES and len(found) <= MAX_FILES:
        return found
    largest = max(sizes, key=sizes.__getitem__)
    raise DependencyError(
        f"the program's own modules are {sum(sizes.values()) >> 20} MiB in {len(found)} files, the largest "
        f"{largest} ({sizes[largest] >> 20} MiB); at most {MAX_BYTES >> 20} MiB in {MAX_FILES} files are sent to "
        f"workers: set {SHIP_PROGRAM.key}=false and name what they need in {PYTHON_FILES.key}"
    )
