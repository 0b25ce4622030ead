"""Directories of a machine in which jobs keep copies of their runs, so that a job that starts again finds them.

ROOT/                             of one user, checked as checkpoints are: who writes runs can run code
ROOT/KEY-GENERATION/              of one generation of a checkpoint; locked while processes use it
ROOT/KEY-GENERATION/checkpoint    where the checkpoint is, empty if it ends with the job; and the machine's start
ROOT/KEY-GENERATION/START/        of one start of the query: what it has written, or has checked since
ROOT/KEY-GENERATION/savepoint-*/  links to runs that are copied into a savepoint
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.common._config import fault_tolerance
from scurry.common.config_options import ALLOW_UNTRUSTED
from scurry.errors import SavepointTrustError
from scurry.runtime.savepoint.trust import require_trusted
from scurry.spark.workers.local_runs import LocalRuns

if TYPE_CHECKING:
    from pyspark import SparkContext

    from scurry.graph.plan import JobPlan
    from scurry.spark.checkpoint.generations import Generation

_CHECKPOINT, _LINKS = "checkpoint", "savepoint-"

#: The number of earlier starts whose runs are looked for.
_STARTS = 3


@dataclass(frozen=True)
class LocalState:
    """Location of the copies of a job's runs on its workers.

    Attributes:
        root: The directory of all jobs.
        key: The job's key, by which a checkpoint is known.
        checkpoint: The generation's directory or URI; empty if it ends with the job.
        limit: How many bytes the directories that no process uses may have together.
        reuses: Whether runs of earlier starts are used.
        named: Whether the user has named the root.
        allow_untrusted: Use the root although other users could write there.
    """

    root: str
    key: str
    generation: int
    start: str
    checkpoint: str
    limit: int
    reuses: bool = True
    named: bool = False
    allow_untrusted: bool = False

    @classmethod
    def of(
        cls, plan: JobPlan, context: SparkContext, generation: Generation, start: str, on_one_machine: bool
    ) -> LocalState | None:
        """Return where a job keeps its runs, None if they end with Spark's application.

        Args:
            generation: The generation of its checkpoint.
            on_one_machine: Whether all tasks run on the driver's machine.
        """
        settings = plan.settings
        configuration = settings.configuration
        named = configuration.get(fault_tolerance.LOCAL_DIRECTORY.key)
        if not on_one_machine and (named is None or settings.checkpoint_dir is None):
            return None
        root = named
        if root is None:
            where = context.getConf().get("spark.local.dir") or os.environ.get("SPARK_LOCAL_DIRS") or gettempdir()
            root = os.path.join(where.split(",")[0], f"scurry-state-{os.getuid()}")
        return cls(
            root,
            settings.job_key,
            generation.number,
            start,
            "" if settings.checkpoint_dir is None else generation.directory,
            fault_tolerance.LOCAL_MAX_BYTES.parse(configuration.get(fault_tolerance.LOCAL_MAX_BYTES.key, "10 gb")),
            fault_tolerance.RECOVER_FROM_LOCAL.parse(configuration.get(fault_tolerance.RECOVER_FROM_LOCAL.key, "true")),
            named is not None,
            ALLOW_UNTRUSTED.parse(configuration.get(ALLOW_UNTRUSTED.key, "false")),
        )

    def open(self, instead: str) -> LocalRuns:
        """Return the runs, whose directory is in use as long as the result exists.

        Args:
            instead: The directory to use if the root cannot be used, and the user has not named it.

        Raises:
            SavepointTrustError: Other users could write in the root that the user has named.
        """
        try:
            held = self.hold()
        except (OSError, SavepointTrustError):
            if self.named:
                raise
            return LocalRuns(instead)
        return LocalRuns(str(self._own), self._earlier(), held)

    def hold(self) -> ExitStack:
        """Keep other jobs from removing the directory until the result is closed or gone.

        Raises:
            SavepointTrustError: Other users could write in the root.
            OSError: The directory cannot be made.
        """
        root = Path(self.root)
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as stack:
            with _locked(root, fcntl.LOCK_EX):
                require_trusted(self.root, self.allow_untrusted, "local state")
                if not self._own.exists():
                    self._begin()
                stack.enter_context(_locked(self._directory, fcntl.LOCK_SH))
            return stack.pop_all()

    def links(self) -> str:
        """Return a new directory for links to runs."""
        return mkdtemp(prefix=_LINKS, dir=self._directory)

    def forget(self) -> None:
        """Remove the directory of the generation: no job will resume it."""
        shutil.rmtree(self._directory, ignore_errors=True)

    @property
    def _directory(self) -> Path:
        return Path(self.root, f"{self.key}-{self.generation}")

    @property
    def _own(self) -> Path:
        return self._directory / self.start

    def _earlier(self) -> list[str]:
        return [str(each) for each in _starts(self._directory) if each != self._own] if self.reuses else []

    def _begin(self) -> None:
        """Make the directory of this start, and remove files that no job will use again."""
        self._own.mkdir(mode=0o700, parents=True)
        known = f"{self.checkpoint}\n{_boot()}"
        file = self._directory / _CHECKPOINT
        restarted = file.exists() and file.read_text(encoding="utf-8") != known
        file.write_text(known, encoding="utf-8")
        for links in self._directory.glob(f"{_LINKS}*"):
            shutil.rmtree(links, ignore_errors=True)
        others = [each for each in _starts(self._directory) if each != self._own]
        for start in others[_STARTS if self.reuses and not restarted else 0 :]:
            shutil.rmtree(start, ignore_errors=True)
        unused = []
        for directory in Path(self.root).iterdir():
            key, _, number = directory.name.rpartition("-")
            if directory == self._directory or not number.isdigit():
                continue
            if key == self.key or not _resumable(directory):
                _remove_unused(directory)
            else:
                unused.append(directory)
        left = self.limit
        for directory in sorted(unused, key=_last_used, reverse=True):
            left -= sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
            if left < 0:
                _remove_unused(directory)


def _starts(directory: Path) -> list[Path]:
    """Return the directories of the starts of a generation, the latest first."""
    found = (each for each in directory.iterdir() if each.is_dir() and not each.name.startswith(_LINKS))
    return sorted(found, key=_last_used, reverse=True)


def _boot() -> str:
    """Return an id of the machine's start, which may damage files that were not synchronized."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8")
    except OSError:
        return ""


def _last_used(directory: Path) -> int:
    return directory.stat().st_mtime_ns


def _resumable(directory: Path) -> bool:
    """Return whether there may be a checkpoint with which a job finds its runs here."""
    try:
        checkpoint = (directory / _CHECKPOINT).read_text(encoding="utf-8")
    except OSError:
        return False
    checkpoint = checkpoint.partition("\n")[0]
    return bool(checkpoint) and ("://" in checkpoint or os.path.exists(checkpoint))


def _remove_unused(directory: Path) -> None:
    """Remove a directory unless a process uses it."""
    with suppress(OSError), _locked(directory, fcntl.LOCK_EX | fcntl.LOCK_NB):
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _locked(directory: Path, how: int) -> Iterator[None]:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
