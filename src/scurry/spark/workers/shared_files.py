"""The files that the jobs of a session send to executors: they belong to the application, not to the job.

Spark lets an executor that joins fetch all files that were ever added, also for the tasks of other jobs.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scurry.errors import ConfigError
from scurry.graph.dependencies.archives import digest_of

#: The environment variable with the id of a job that shares an application.
SESSION_JOB = "SCURRY_SESSION_JOB"
#: The environment variable with the directory of the files, in the processes of the jobs.
FILES = "SCURRY_SESSION_FILES"
_USES = ".uses"


class SharedFiles:
    """The files of an application that several processes share.

    Args:
        directory: Where they are; it lives as long as the application.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def add(self, context: Any, job_id: str, files: Iterable[Path], archives: Iterable[tuple[Path, str]]) -> None:
        """Provide executors with the files of a job.

        Args:
            context: The Spark context.
            files: Files that are named by their content.
            archives: Archives, and the directories that they are unpacked into.

        Raises:
            ConfigError: Another job that runs has another archive for the same directory.
        """
        named = {f"{digest_of({target: path})}-{path.name}": (path, target) for path, target in archives}
        own = {path.name: path for path in files}
        with self._locked():
            with open(self._directory / f"{job_id}{_USES}", "a", encoding="utf-8") as uses:
                uses.writelines(f"{name}\n" for name in [*own, *named])  # beside those of earlier jobs of the program
            for name, path in own.items():
                if name not in map(_name, context.listFiles):
                    context.addFile(self._kept(name, path))
            for name, (path, target) in named.items():
                known = [str(url) for url in context.listArchives if str(url).partition("#")[2] == target]
                if any(_name(url) != name for url in known):
                    raise ConfigError(
                        f"python.archives: another job of this session has unpacked another archive as {target!r}: "
                        f"name another target, {path}#OTHER"
                    )
                if not known:
                    context.addArchive(f"{self._kept(name, path)}#{target}")

    def release(self, context: Any, job_id: str) -> None:
        """Stop sending the files that only this job, which is over, has used to executors that join later.

        Tasks that run may still ask for them: they are deleted once no job is left.
        """
        with self._locked():
            (self._directory / f"{job_id}{_USES}").unlink(missing_ok=True)
            users = list(self._directory.glob(f"*{_USES}"))
            used = {name for user in users for name in user.read_text(encoding="utf-8").splitlines()}
            spark = context._jsc.sc()
            for urls, added in ((context.listFiles, spark.addedFiles()), (context.listArchives, spark.addedArchives())):
                for url in urls:
                    if _name(url) not in used and (self._directory / _name(url)).exists():
                        added.get("default").get().remove(url)
            if not users:
                for file in list(self._directory.iterdir()):
                    file.unlink()

    def _kept(self, name: str, path: Path) -> str:
        target = self._directory / name
        if not target.exists():
            staged = self._directory / f".{name}"
            shutil.copyfile(path, staged)
            staged.replace(target)
        return str(target)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # The directory itself is locked: it has nothing but the files.
        descriptor = os.open(self._directory, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _name(url: Any) -> str:
    return str(url).partition("#")[0].rpartition("/")[2]
