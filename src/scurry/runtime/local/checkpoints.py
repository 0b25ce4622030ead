"""The checkpoint directory of an in-process job.

    DIRECTORY/
        .lock                   of the process that runs the job
        checkpoint.db           the last checkpoint, see `database.py`
        committed               the batch of the last checkpoint whose output the sinks have committed
        origin-1/               the state that generation 1 begins with, until it is restored

A checkpoint is durable before the sinks commit what belongs to it, so a job that is killed in between commits it again
when it is started: nothing is computed twice. `committed` only spares that; it is not forced to the disk.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scurry.common.pickling import loads
from scurry.errors import CheckpointCorruptedError, CheckpointMismatchError
from scurry.graph.plan import JobPlan
from scurry.runtime.checkpoint.identity import LOCAL_STORE, SPARK_GENERATIONS, identity, of_other_runner
from scurry.runtime.checkpoint.output import output_of_sinks
from scurry.runtime.checkpoint.storage import LocalStorage, reporting_full
from scurry.runtime.driver.job import BatchOutput, JobExecution
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.local.database import CheckpointDatabase, Stores
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.runtime.state.store import UndoStore

VERSION = 1
_COMMITTED = "committed"


class LocalCheckpoints:
    """The checkpoints of one job; the directory must be locked.

    Raises:
        CheckpointMismatchError: Spark's runner wrote it, or a release whose layout this one does not know.
        CheckpointCorruptedError: It is damaged.
    """

    def __init__(self, storage: LocalStorage) -> None:
        self._root = storage.root
        names = storage.list(".")
        if SPARK_GENERATIONS in names:
            raise of_other_runner(str(self._root), "the runner on Spark", "--runner spark")
        self._database = CheckpointDatabase(self._root / LOCAL_STORE)
        #: the reports of a batch whose output could not be committed, for another attempt in this process
        self._reports: list[tuple[int, TaskReport]] = []
        self.content: dict[str, Any] = {}
        try:
            #: the last batch whose output is committed
            self._committed = self._read_committed()
            self._refresh()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._database.close()

    # ---------------------------------------------------------------- the job

    def _refresh(self) -> None:
        database = self._database
        database.refresh()
        if self._committed > database.batch:
            raise CheckpointCorruptedError(
                f"{self._root / LOCAL_STORE} is missing or older than what the job's sinks have committed (batch "
                f"{self._committed}). Restore the directory from a copy, start from a savepoint, or empty the "
                "directory to start empty"
            )
        self.content = json.loads(database.job) if database.job else {}
        if self.content and self.content["version"] != VERSION:
            raise CheckpointMismatchError(
                f"the checkpoint in {self._root} has layout version {self.content['version']}, this release writes "
                f"{VERSION}: start from a savepoint taken with the release that wrote it, or empty the directory"
            )

    @property
    def finished(self) -> bool:
        """Return whether all input is processed and committed."""
        return bool(self.content["finished"])

    @property
    def origin(self) -> str | None:
        """The savepoint whose state is being restored, or None."""
        origin: str | None = self.content["origin"]
        return origin

    @property
    def savepoint(self) -> str | None:
        """The savepoint that the user started the job from."""
        return self.content.get("savepoint")

    def clear_leftovers(self) -> None:
        """Read the directory again, and delete origins that are restored or were not finished."""
        self._refresh()
        for name in os.listdir(self._root):
            path = self._root / name
            if name.startswith("origin-") and str(path) != self.content.get("origin"):
                shutil.rmtree(path, ignore_errors=True)

    def origin_of_next(self) -> str:
        """Return where to write the state that the next generation begins with."""
        return str(self._root / f"origin-{self.content['generation'] + 1}")

    def adopt(self, plan: JobPlan) -> None:
        """Give the plan the job key that is stored in the directory, so that its sinks keep their names."""
        if self.content:
            plan.settings = replace(plan.settings, job_key=self.content["job_key"])

    def begin(self, plan: JobPlan, origin: str | None, savepoint: str | None, states: Mapping[str, Any] | None) -> None:
        """Begin a new generation of the plan, with empty state, and make it the current one.

        Output of the last checkpoint that is not committed is dropped only if the user names another savepoint.
        """
        self.adopt(plan)
        content = {
            "version": VERSION,
            "job_key": plan.settings.job_key,
            "generation": self.content.get("generation", 0) + 1,
            "origin": origin,
            "savepoint": savepoint,
            "finished": False,
            "states": copy.deepcopy(dict(states or {})),
            **identity(plan),
        }
        self._database.replace(_json(content), keep_output=savepoint == self.savepoint)
        self.content = content

    def finish(self) -> None:
        """Record that all input is processed and committed."""
        self._describe(finished=True)

    def _describe(self, **changes: Any) -> None:
        content = {**self.content, **changes}
        self._database.describe(_json(content))
        self.content = content

    # ---------------------------------------------------------------- checkpoints

    @property
    def next_batch(self) -> int:
        return self._database.batch + 1

    @property
    def first_batch(self) -> int:
        """The id of the first batch of the current generation, which has just begun."""
        return self.next_batch

    @property
    def pickled_positions(self) -> bytes:
        """The source positions of the last checkpoint; empty if the current generation has none."""
        return self._database.positions

    def positions(self) -> SourcePositions | None:
        """Return the source positions of the last checkpoint; None if the current generation has none."""
        found: SourcePositions | None = loads(self._database.positions) if self._database.positions else None
        return found

    def load(self) -> Stores:
        """Return the state of the last checkpoint."""
        return self._database.load()

    def save(
        self,
        job: JobExecution,
        batch_id: int,
        positions: bytes,
        stores: Mapping[tuple[int, int], UndoStore],
        output: BatchOutput,
    ) -> None:
        """Make a checkpoint durable: state after a batch, pickled source positions, and committables of the sinks."""
        restored = self.origin is not None and pickle.loads(positions).restored is None
        if restored or job.state_schemas != self.content["states"]:
            changes = {"origin": None} if restored else {}
            content = {**self.content, **changes, "states": copy.deepcopy(job.state_schemas)}
        else:
            content = self.content
        text = self._database.job if content is self.content else _json(content)
        rows = (
            (job.plan.operators[number].uid, position, block)
            for number, written in output.written.items()
            for position, block in written
        )
        self._database.save(text, batch_id, positions, stores, rows)
        origin, self.content = self.origin, content
        self._reports = output.reports
        if restored and origin is not None and Path(origin).parent == self._root:
            shutil.rmtree(origin, ignore_errors=True)

    def uncommitted(self, plan: JobPlan) -> BatchOutput | None:
        """Return the output of the last checkpoint, None if its sinks have committed it.

        Raises:
            StateNotRestoredError: The program no longer has a sink that has to commit, and must not drop its output.
        """
        if self._committed == self._database.batch:
            return None
        return BatchOutput(output_of_sinks(plan, self._database.output(), self._root), self._reports)

    def committed(self) -> None:
        """Note that the sinks have committed the output of the last checkpoint."""
        self._reports = []
        self._committed = self._database.batch
        # Not forced to the disk, nor replaced atomically: a lost or damaged note only lets the sinks commit once more.
        with reporting_full(self._root), open(self._root / _COMMITTED, "wb", opener=_no_link) as file:
            file.write(b"%d\n" % self._committed)

    def _read_committed(self) -> int:
        try:
            return int((self._root / _COMMITTED).read_bytes())
        except (OSError, ValueError):
            return -1


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o644)


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode()
