"""Set up a worker before it loads the functions of a job."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from scurry._dataclasses import dataclass
from scurry.errors import DependencyError
from scurry.graph.dependencies.archives import unpacked_once

#: The digest of the files that this process is set up for.
_active: str | None = None


@dataclass(frozen=True)
class WorkerSetup:
    """Import path and working directory of a job's workers, sent with the job.

    Attributes:
        digest: Digest of all declared or bundled files; empty without any.
        path: Directories of `sys.path`, the first searched first; relative ones are in the bundle.
        bundle: Name of the zip file that Spark downloads, None if the worker is on the driver's machine.
        requirements: Name of the requirements.txt, if there is one; a relative one is in the bundle.
        requirements_digest: Digest of requirements and packages.
        working_directory: Directory of the archives, None if workers are started in it.
    """

    digest: str = ""
    path: tuple[str, ...] = ()
    bundle: str | None = None
    requirements: str | None = None
    packages: str | None = None
    requirements_digest: str = ""
    working_directory: str | None = None

    def activate(self, downloads: Callable[[], str]) -> None:
        """Set this process up to import the job's dependencies.

        Args:
            downloads: Returns the directory of the files that Spark has downloaded.

        Raises:
            DependencyError: The requirements cannot be installed, or the process is set up for a job with other files.
        """
        global _active
        if self.digest and _active == self.digest:
            return
        if _active and self.digest:
            raise DependencyError(
                "two jobs of one Spark session that run at the same time have different python.files, archives or "
                "requirements: start them one after the other, or in processes of their own"
            )
        base = Path()
        if self.bundle is not None:
            root = Path(downloads())
            base = unpacked_once(root / self.bundle, root / self.bundle.removesuffix(".zip"))
        path = [str(base / directory) for directory in self.path]
        if self.requirements is not None:
            from scurry.graph.dependencies.requirements import environment, refuse_loaded  # few jobs have some

            packages = None if self.packages is None else base / self.packages
            installed = environment(base / self.requirements, packages, self.requirements_digest)
            refuse_loaded(installed)
            path.append(str(installed))
            os.environ["PATH"] = os.pathsep.join([str(installed.parents[2] / "bin"), os.environ.get("PATH", "")])
        search_first(path)
        if self.working_directory is not None:
            os.chdir(self.working_directory)
        _active = self.digest or _active


def search_first(path: list[str]) -> None:
    """Put directories first on the import path."""
    sys.path[:] = [*path, *(entry for entry in sys.path if entry not in path)]
    importlib.invalidate_caches()
