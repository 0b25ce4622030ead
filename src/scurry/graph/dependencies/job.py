"""Stage the dependencies of a job on the driver, once for all its attempts."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from scurry.common._config.python import PYTHON_CLIENT_EXECUTABLE, PYTHON_EXECUTABLE
from scurry.errors import ConfigError, InterpreterError
from scurry.graph.dependencies.archives import digest_of, files_below, pack, unpack
from scurry.graph.dependencies.declared import Archive, Declared
from scurry.graph.dependencies.interpreter import check_interpreter, executable_bit, is_this_interpreter
from scurry.graph.dependencies.program import is_installed, program_modules
from scurry.graph.dependencies.setup import WorkerSetup, search_first

_REQUIREMENTS, _PACKAGES = "requirements/requirements.txt", "requirements/packages"


class JobDependencies:
    """The dependencies of a job on the driver; they are not sent to workers.

    The constructor checks what can be checked without a cluster.

    Args:
        configuration: The job's settings.

    Raises:
        ConfigError: A file does not exist or cannot be used.
    """

    def __init__(self, configuration: Mapping[str, str]) -> None:
        self.declared = Declared.of(configuration)
        if self.declared.requirements is not None:
            _requirements().read_requirements(self.declared.requirements)
        client = configuration.get(PYTHON_CLIENT_EXECUTABLE.key)
        if client and not is_this_interpreter(client):
            raise ConfigError(
                f"{PYTHON_CLIENT_EXECUTABLE.key} = {client}: the program runs on {sys.executable} already; name it on "
                "the command line: scurry run -pyclientexec"
            )
        if self.declared.files:
            self.import_files()

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()

    # ------------------------------------------------------------------ this machine

    @cached_property
    def _files(self) -> list[Path]:
        """The directory to import from, for each of the files."""
        return [file if file.is_dir() else _staged(file, file.stat().st_mtime_ns) for file in self.declared.files]

    @cached_property
    def _directory(self) -> Path:
        """A directory for files of this job only."""
        return Path(tempfile.mkdtemp(dir=_staging_directory()))

    @cached_property
    def _archives(self) -> Path | None:
        """The directory in which the archives are unpacked."""
        if not self.declared.archives:
            return None
        directory = self._directory / "archives"
        for archive in self.declared.archives:
            unpack(archive.path, directory / archive.target)
        return directory

    @cached_property
    def _requirements(self) -> dict[str, Path]:
        """The files of the requirements and their packages, by their names in the bundle."""
        if self.declared.requirements is None:
            return {}
        packages = {} if self.declared.packages is None else files_below(self.declared.packages)
        below = {f"{_PACKAGES}/{name}": path for name, path in packages.items()}
        return {_REQUIREMENTS: self.declared.requirements, **below}

    @cached_property
    def _digest(self) -> str:
        """Digest of the declared files; empty without any."""
        declared = {
            f"{number}/{name}": path
            for number, directory in enumerate(self._files)
            for name, path in files_below(directory).items()
        }
        archives = {f"{archive.target}/": archive.path for archive in self.declared.archives}
        files = {**declared, **archives, **self._requirements}
        return digest_of(files) if files else ""

    def import_files(self) -> None:
        """Add the files to this process's import path, after the program's own directory."""
        first = sys.path[:1]
        files = [str(path) for path in self._files]
        if not all(path in sys.path for path in files):
            search_first([*first, *files])

    @contextmanager
    def in_this_process(self) -> Iterator[None]:
        """Let functions that run in this process import the files, and find the archives in the working directory.

        Raises:
            DependencyError: The job requires another interpreter, or this one lacks packages.
        """
        executable = self.declared.executable
        if executable is not None and not is_this_interpreter(executable):
            raise InterpreterError(
                f"{PYTHON_EXECUTABLE.key} = {executable}: the in-process runner runs functions on {sys.executable}; "
                "leave the setting out, or use --runner spark"
            )
        if self.declared.requirements is not None:
            _requirements().require_here(self.declared.requirements)
        search_first([*sys.path[:1], *map(str, self._files), *self.declared.python_path])
        if self._archives is None:
            yield
            return
        before = os.getcwd()
        os.chdir(self._archives)
        try:
            yield
        finally:
            os.chdir(before)

    def executable_here(self) -> str | None:
        """Return the interpreter of workers on this machine, None for that of the driver.

        Raises:
            InterpreterError: Workers cannot run on it.
        """
        executable = self.declared.executable
        if executable is None or is_this_interpreter(executable):
            return None
        if self._archives is not None and self._is_in_archive(executable):
            path = self._archives / executable
            if path.exists():
                executable_bit(path)
            executable = str(path)
        return check_interpreter(executable)

    def _is_in_archive(self, executable: str) -> bool:
        first = executable.removeprefix("./").partition("/")[0]
        return first in {archive.target for archive in self.declared.archives}

    @cached_property
    def local_setup(self) -> WorkerSetup:
        """The setup of workers on this machine, which import from the same directories as the program."""
        path = [os.path.abspath(entry) for entry in sys.path]
        if self.executable_here() is not None:
            path = [entry for entry in path if not is_installed(Path(entry))]
        own = [str(directory) for directory in self._files]
        path = [*path[:1], *own, *(entry for entry in path[1:] if entry not in own), *self.declared.python_path]
        declared, digest = self.declared, ""
        if declared.requirements is not None:
            digest = digest_of(self._requirements)
            if self.executable_here() is None:
                # fails before the job starts, if at all
                _requirements().environment(declared.requirements, declared.packages, digest)
        return WorkerSetup(
            digest=self._digest,
            path=tuple(dict.fromkeys(path)),
            requirements=None if declared.requirements is None else str(declared.requirements),
            packages=None if declared.packages is None else str(declared.packages),
            requirements_digest=digest,
            working_directory=None if self._archives is None else str(self._archives),
        )

    # ------------------------------------------------------------------ a cluster

    @cached_property
    def bundle(self) -> Path | None:
        """The zip file for workers on a cluster, None if it would be empty."""
        files = dict(self._requirements)
        for number, directory in enumerate(self._files):
            files.update({f"files/{number}/{name}": path for name, path in files_below(directory).items()})
        if self.declared.ship_program:
            own = program_modules(ignored=[_staging_directory(), *self._files])
            files.update({f"program/{name}": path for name, path in own.items()})
        return pack(files, self._directory) if files else None

    @property
    def cluster_archives(self) -> list[Archive]:
        """The archives under names that Spark can unpack, as it goes by their suffixes."""
        return [
            Archive(self._as_zip(a.path) if a.path.suffix in (".whl", ".egg") else a.path, a.target)
            for a in self.declared.archives
        ]

    def _as_zip(self, path: Path) -> Path:
        link = self._directory / f"{path.name}.zip"
        if not link.exists():
            shutil.copyfile(path, link)
        return link

    def cluster_executable(self, *, driver_runs_it: bool) -> str | None:
        """Return the interpreter of workers on a cluster, None for the path of the driver's interpreter.

        Args:
            driver_runs_it: Whether Spark also starts it on the driver's machine.

        Raises:
            InterpreterError: Spark also starts it on the driver's machine, where it cannot run.
        """
        executable = self.declared.executable
        if executable is None:
            return None
        if self._is_in_archive(executable):
            if driver_runs_it:
                raise InterpreterError(
                    f"{PYTHON_EXECUTABLE.key} = {executable}: on a cluster, Spark starts the Python of a STREAMING job "
                    "with keyed state on the driver, too, where archives are not unpacked: name one that is "
                    "installed on all machines"
                )
            return f"./{executable.removeprefix('./')}"
        return check_interpreter(executable) if driver_runs_it else executable

    @cached_property
    def cluster_setup(self) -> WorkerSetup:
        """The setup of workers on a cluster, which import from the bundle that Spark has downloaded."""
        files = [f"files/{number}" for number in range(len(self._files))]
        declared, bundle = self.declared, self.bundle
        archives = {archive.target: archive.path for archive in declared.archives}
        digest = (bundle.stem if bundle is not None else "") + (digest_of(archives) if archives else "")
        return WorkerSetup(
            digest=digest,
            path=tuple(["program", *files, *declared.python_path]) if bundle is not None else declared.python_path,
            bundle=None if bundle is None else bundle.name,
            requirements=None if declared.requirements is None else _REQUIREMENTS,
            packages=None if declared.packages is None else _PACKAGES,
            requirements_digest=digest_of(self._requirements) if self._requirements else "",
        )


@functools.cache
def _staging_directory() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="scurry-dependencies-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


@functools.lru_cache(maxsize=1024)
def _staged(file: Path, _changed: int) -> Path:
    """Return a directory with the modules of a file, the same for all jobs of this process while it is unchanged."""
    directory = Path(tempfile.mkdtemp(dir=_staging_directory()))
    if file.suffix == ".py":
        (directory / file.name).symlink_to(file)  # so that tracebacks and debuggers show the original
    else:
        unpack(file, directory)
    return directory


def _requirements() -> ModuleType:
    """Return the module that reads requirements; few jobs have some, and it loads `packaging`."""
    from scurry.graph.dependencies import requirements

    return requirements


def _nothing() -> None:
    """Return None, as which the dependencies are unpickled in workers, which have a `WorkerSetup`."""
