"""Decide how a job starts on a checkpoint directory: fresh, resumed or from a savepoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from scurry.errors import CheckpointMismatchError
from scurry.graph.plan import JobPlan, OperatorPlan, SourcePlan
from scurry.runtime.checkpoint.identity import differences, identity, own_directory
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.savepoint.reading import Savepoint
from scurry.runtime.savepoint.restore import Restore, open_for, savepoint_to_start_from, with_key_groups
from scurry.runtime.state.evolution.job import Collected, plan_migration

#: The last program of this process on each directory.
_last_program: dict[str, object] = {}
#: Maximum number of directories whose program is known.
_MOST_PROGRAMS = 100


class Checkpoints(Protocol):
    """The content of a checkpoint directory of either engine."""

    #: the job's key, identity and schemas of states; empty in a new directory
    content: dict[str, Any]

    @property
    def finished(self) -> bool:
        """Return whether all input is processed and committed."""

    @property
    def origin(self) -> str | None:
        """The savepoint that the current generation begins with, None if it begins without state."""

    @property
    def savepoint(self) -> str | None:
        """The savepoint that the user started the job from."""

    @property
    def first_batch(self) -> int:
        """The id of the first batch of the current generation; valid once it has begun."""

    def clear_leftovers(self) -> None:
        """Delete incomplete files of killed jobs; the directory must be locked."""

    def adopt(self, plan: JobPlan) -> None:
        """Give the plan the job key that is stored in the directory, so that its sinks keep their names."""

    def begin(
        self, plan: JobPlan, origin: str | None, savepoint: str | None, states: Mapping[str, Any] | None
    ) -> None: ...


class JobStart(ABC):
    """Start a job on its checkpoint directory.

    Args:
        directory: Its content.
    """

    #: what may have changed since the checkpoint, for messages
    _changing = "program has"

    def __init__(self, job: JobExecution, root: str, directory: Checkpoints) -> None:
        self._job, self._root, self._directory = job, root, directory
        self._collected: Collected | None = None
        self._savepoint: Savepoint | None = None
        #: the savepoint that the current generation has to restore, if any
        self.restore: Restore | None = None

    def make(self) -> bool:
        """Prepare the directory for the job; return False if there is nothing left to run."""
        job, directory = self._job, self._directory
        directory.clear_leftovers()
        if directory.content:
            groups = directory.content["description"]["max_parallelism"]
            job.use(with_key_groups(groups, job.plan, f"the checkpoint in {self._root}"))
            if directory.finished and not self._new_savepoint():
                self._refuse_another_program()
                job.log.note(
                    f"nothing left to do: all input was processed and committed before, says {self._root}; "
                    "to run the job again, give it another execution.checkpointing.dir or empty this one"
                )
                _remember_program(self._root, _program(job.plan))
                return False
        _remember_program(self._root, _program(job.plan))
        savepoint = self._new_savepoint()
        if savepoint is not None:
            self._opened(savepoint)  # before anything is started or written
        if not self._adapt(savepoint):
            return False
        if savepoint is not None:
            self._prepare(job.plan)
            self._begin(job.plan, savepoint, savepoint)
            job.log.note(f"starting from the savepoint {savepoint}", "restored")
        elif not directory.content:
            self._prepare(job.plan)
            directory.begin(job.plan, None, None, None)
            self._trace_begin(None)
        else:
            self._go_on()
        return True

    def _refuse_another_program(self) -> None:
        """Refuse a program that has not been there: that it has nothing left to do would be said of another one."""
        program = _program(self._job.plan)
        is_second = _last_program.get(self._root, program) != program  # states and sources may be alike
        there, here = self._directory.content["description"], identity(self._job.plan)["description"]
        if is_second or any(there[what].keys() != here[what].keys() for what in ("operators", "sources")):
            details = differences(self._directory.content, identity(self._job.plan))[:3]
            raise CheckpointMismatchError(
                f"{self._root} has the checkpoint of another job, which has finished"
                + (f": {'; '.join(details)}" if details else "")
            ).with_hint(own_directory(self._root))

    def _new_savepoint(self) -> str | None:
        """Return the savepoint that the user names, unless the directory began with it: its checkpoints are newer."""
        savepoint = savepoint_to_start_from(self._job.plan)
        return savepoint if savepoint != self._directory.savepoint else None

    def _opened(self, path: str) -> Savepoint:
        """Return a savepoint to begin with, checked once; one that the user names may be written by another user."""
        if self._savepoint is None or self._savepoint.path != path:
            named = path in (savepoint_to_start_from(self._job.plan), self._directory.savepoint)
            self._savepoint = open_for(self._job.plan, path, self._job.log.note, own=not named)
        return self._savepoint

    def _go_on(self) -> None:
        """Resume the current generation, or begin another one with its state if the program has changed."""
        job, directory = self._job, self._directory
        self._prepare(job.plan)
        self._repair()
        changes = differences(directory.content, identity(job.plan))
        if not changes and self._interrupted():
            self._commit_prepared(job.plan)  # it may have had the rest of the state
        if changes:
            job.log.note(f"the {self._changing} changed since the checkpoint in {self._root}: {'; '.join(changes)}")
            self.move(job.plan)
        elif self._interrupted():
            self._begin(job.plan, directory.origin, directory.savepoint)
        elif directory.origin is not None and self._fresh():
            job.use(self._restored(job.plan, directory.origin, self._states()))
        elif not job.attempt:
            self._check_states()

    def _check_states(self) -> None:
        """Compare the program's states with the stored ones, and begin a generation that converts them if needed."""
        job, stored = self._job, self._directory.content["states"]
        if not stored:
            return
        migration = plan_migration(job.plan, stored, self._states(), wall_clock_ms())
        if migration.operators:
            job.log.note(f"the program's states have changed since the checkpoint in {self._root}")
            self.move(job.plan)
        else:
            migration.attach(job.plan)
            job.took_over(migration)

    def _states(self) -> Collected:
        """Return the states that the program's functions register."""
        if self._collected is None:
            self._collected = self._collect()
        return self._collected

    # ---------------------------------------------------------------- beginning a generation

    def move(self, plan: JobPlan, changed: bool = True) -> None:
        """Begin a generation of another plan with the state of the present one.

        Args:
            changed: Whether its functions may have changed.
        """
        self._prepare(plan)
        self._savepoint = None  # the origin may be rewritten
        self._begin(plan, self._save_state(plan), self._directory.savepoint, changed)

    def _begin(self, plan: JobPlan, origin: str | None, savepoint: str | None, changed: bool = True) -> None:
        self.restore = None
        if origin is not None:
            plan = self._restored(plan, origin, self._states() if changed else None)
            self._prepare(plan)
        self._job.use(plan)
        self._directory.begin(plan, origin, savepoint, self._job.state_schemas)
        self._trace_begin(origin)

    def _trace_begin(self, origin: str | None) -> None:
        directory = self._directory
        numbers = directory.content["generation"], directory.first_batch, int(origin is not None)
        self._job.protocol.step("begun", *numbers)

    def _restored(self, plan: JobPlan, origin: str, collected: Collected | None) -> JobPlan:
        """Let the job restore a savepoint; return the plan that fits it."""
        self.restore = Restore.configured(self._opened(origin), plan, collected)
        self._job.took_over(self.restore.migration)
        return self.restore.plan

    # ---------------------------------------------------------------- by engine

    def _adapt(self, savepoint: str | None) -> bool:
        """Choose the parallelism if the engine does; return False if the job was stopped meanwhile."""
        return True

    def _prepare(self, plan: JobPlan) -> None:
        """Make a plan ready for the directory and the engine."""
        self._directory.adopt(plan)

    def _repair(self) -> None:  # noqa: B027
        """Roll back damaged batches, if the engine can."""

    def _commit_prepared(self, plan: JobPlan) -> None:  # noqa: B027
        """Let the sinks commit, and the engine, if the job ended while they did; else its id would be used again."""

    @abstractmethod
    def _fresh(self) -> bool:
        """Return whether nothing was submitted in the current generation."""

    @abstractmethod
    def _interrupted(self) -> bool:
        """Return whether the generation was stopped before it had restored the state it begins with."""

    @abstractmethod
    def _collect(self) -> Collected:
        """Return the states that the functions of the job's plan register."""

    @abstractmethod
    def _save_state(self, plan: JobPlan) -> str | None:
        """Write the committed state as the origin of the next generation, which executes `plan`.

        Returns:
            The savepoint; if nothing is committed or the origin of the present generation is not fully restored, that
            origin, which may be None.
        """


def _remember_program(root: str, program: object) -> None:
    _last_program.pop(root, None)
    _last_program[root] = program
    while len(_last_program) > _MOST_PROGRAMS:
        del _last_program[next(iter(_last_program))]


def _program(plan: JobPlan) -> object:
    """Return the identity of a program: jobs that a process runs one after the other share it, even when restarted.

    The stored identity has only what has state or positions, so that the rest of a program may change.
    """
    vertices: list[SourcePlan | OperatorPlan] = [*plan.sources.values(), *plan.operators.values()]
    sql = plan.settings.tables.sql if plan.settings.tables is not None else ""
    return sql, frozenset((each.uid, each.name, str(each.origin)) for each in vertices)
