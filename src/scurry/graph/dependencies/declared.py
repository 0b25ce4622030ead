"""Read the Python code and packages of workers from a configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from scurry._dataclasses import dataclass
from scurry.common._config.option import ConfigOption
from scurry.common._config.python import (
    PYTHON_ARCHIVES,
    PYTHON_EXECUTABLE,
    PYTHON_FILES,
    PYTHON_PATH,
    PYTHON_REQUIREMENTS,
    SHIP_PROGRAM,
)
from scurry.errors import ConfigError

CODE_SUFFIXES = (".py", ".zip", ".whl", ".egg")
ARCHIVE_SUFFIXES = (".zip", ".jar", ".whl", ".egg", ".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True)
class Archive:
    """An archive and the directory it is unpacked into.

    Attributes:
        target: Name of a directory in the working directory of workers.
    """

    path: Path
    target: str


@dataclass(frozen=True)
class Declared:
    """The dependencies that a configuration names; paths are absolute and exist.

    Attributes:
        files: Files and directories to import from, the first searched first.
        archives: Archives to unpack into the working directory.
        requirements: A requirements.txt.
        packages: Directory that its packages are installed from, without any index.
        executable: The interpreter of workers.
        python_path: Directories on the workers' machines to import from.
        ship_program: Whether the program's own modules are sent to workers.
    """

    files: tuple[Path, ...] = ()
    archives: tuple[Archive, ...] = ()
    requirements: Path | None = None
    packages: Path | None = None
    executable: str | None = None
    python_path: tuple[str, ...] = ()
    ship_program: bool = True

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> Declared:
        """Read a configuration.

        Raises:
            ConfigError: A file does not exist, or is of a kind that cannot be used.
        """
        requirements, _, packages = configuration.get(PYTHON_REQUIREMENTS.key, "").partition("#")
        return cls(
            files=tuple(_code(item) for item in _items(configuration, PYTHON_FILES)),
            archives=_distinct([_archive(item) for item in _items(configuration, PYTHON_ARCHIVES)]),
            requirements=_present(PYTHON_REQUIREMENTS, requirements) if requirements else None,
            packages=_present(PYTHON_REQUIREMENTS, packages, directory=True) if packages else None,
            executable=configuration.get(PYTHON_EXECUTABLE.key) or configuration.get("spark.pyspark.python"),
            python_path=tuple(filter(None, configuration.get(PYTHON_PATH.key, "").split(os.pathsep))),
            ship_program=configuration.get(SHIP_PROGRAM.key, "true").strip().lower() == "true",
        )


def _items(configuration: Mapping[str, str], option: ConfigOption[str]) -> list[str]:
    return [item.strip() for item in configuration.get(option.key, "").split(",") if item.strip()]


def _present(option: ConfigOption[str], text: str, *, directory: bool = False) -> Path:
    scheme, separator, rest = text.partition("://")
    if separator and scheme != "file":
        raise ConfigError(f"{option.key}: {text} is not on this machine: copy it to a local disk first")
    path = Path(rest if separator else text).expanduser().absolute()
    if not path.exists():
        raise ConfigError(f"{option.key}: {path} does not exist")
    if directory and not path.is_dir():
        raise ConfigError(f"{option.key}: {path} is no directory")
    if not os.access(path, os.R_OK):
        raise ConfigError(f"{option.key}: {path} cannot be read")
    return path


def _code(text: str) -> Path:
    path = _present(PYTHON_FILES, text)
    if not path.is_dir() and path.suffix not in CODE_SUFFIXES:
        kinds = ", ".join(CODE_SUFFIXES)
        raise ConfigError(
            f"{PYTHON_FILES.key}: {path} is nothing to import from: name {kinds} files or directories; "
            f"for data use {PYTHON_ARCHIVES.key}"
        )
    return path


def _archive(text: str) -> Archive:
    name, _, target = text.partition("#")
    path = _present(PYTHON_ARCHIVES, name)
    if path.is_dir() or not path.name.endswith(ARCHIVE_SUFFIXES):
        kinds = ", ".join(ARCHIVE_SUFFIXES)
        raise ConfigError(f"{PYTHON_ARCHIVES.key}: {path} is no archive that can be unpacked: {kinds}")
    target = target or path.name
    if Path(target).name != target or target in (".", ".."):
        raise ConfigError(
            f"{PYTHON_ARCHIVES.key}: the target {target!r} of {path} must be the name of a directory, without slashes"
        )
    return Archive(path, target)


def _distinct(archives: list[Archive]) -> tuple[Archive, ...]:
    targets: dict[str, Path] = {}
    for archive in archives:
        if targets.setdefault(archive.target, archive.path) != archive.path:
            raise ConfigError(
                f"{PYTHON_ARCHIVES.key}: {targets[archive.target]} and {archive.path} have the same target "
                f"{archive.target!r}: name another one, {archive.path}#OTHER"
            )
    return tuple(dict.fromkeys(archives))
