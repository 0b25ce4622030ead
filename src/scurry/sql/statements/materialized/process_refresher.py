"""ProcessRefresher refreshes materialized tables in this process."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from scurry.common._process.file_locks import lock as lock_file
from scurry.common._process.replaced_files import replace_file
from scurry.common._process.schedule import Periodic, Schedule
from scurry.common.config_options import JOB_NAME, RUNTIME_MODE
from scurry.common.job_client import JobClient
from scurry.errors import ScurryError, ValidationError
from scurry.sql.catalog.catalog import GenericInMemoryCatalog
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.materialized import CatalogMaterializedTable, RefreshHandler, RefreshMode
from scurry.sql.statements.jobs import StatementJob
from scurry.sql.statements.materialized.refresh_jobs import (
    configured,
    continuous_name,
    refresh,
    refresh_name,
    start_continuous,
)
from scurry.sql.statements.materialized.refresher import (
    CHECKPOINTS,
    RECOVERY,
    SAVEPOINT_DIRECTORIES,
    Refresher,
    RefreshState,
    checkpoint_settings,
    partition_at,
    state_directory,
)
from scurry.sql.statements.session import TableSession

#: Milliseconds that a job may take to end after it has refused a request for that reason.
_ENDING_MS = 10_000


class _Refreshed:
    """A table that this process refreshes."""

    def __init__(self, job: StatementJob | None = None, periodic: Periodic | None = None) -> None:
        self.job, self.periodic = job, periodic
        self.lock: IO[str] | None = None
        self.refreshed_ms: int | None = None
        self.error, self.skipped = "", 0

    def skip(self, number: int) -> None:
        """Count refreshes that were left out."""
        self.skipped += number

    @property
    def next_ms(self) -> int | None:
        """The time of the next refresh of FULL mode, in milliseconds since the epoch; None in CONTINUOUS mode."""
        return None if self.periodic is None else self.periodic.schedule.following(int(time.time() * 1000))


class ProcessRefresher(Refresher):
    """Refreshes tables in this process, as long as it runs; another one can resume those of a catalog that outlives it.

    Used by many threads.

    Attributes:
        is_gateway: Whether this process is a SQL gateway.
    """

    is_gateway = False

    def __init__(self) -> None:
        self._tables: dict[str, _Refreshed] = {}
        self._lock = threading.RLock()
        self._temporary: Path | None = None

    # ------------------------------------------------------------------ what statements do

    def start(
        self,
        session: TableSession,
        identifier: ObjectIdentifier,
        table: CatalogMaterializedTable,
        handler: RefreshHandler,
        options: Mapping[str, str],
    ) -> RefreshHandler:
        """Begin, or go on."""
        handler = replace(handler, gateway=self.is_gateway)
        if table.refresh_mode is RefreshMode.FULL:
            return self._schedule(session, identifier, table, handler)
        state = self._directory(session, identifier, handler)
        directory, lock = state / f"checkpoints-{handler.generation}", _hold(state, identifier)
        settings = {
            JOB_NAME.key: continuous_name(identifier),
            RUNTIME_MODE.key: "STREAMING",
            CHECKPOINTS: str(directory),
            **checkpoint_settings(session, table),
        }
        if handler.restore_path:
            settings[RECOVERY] = handler.restore_path
        try:
            job = start_continuous(configured(session, settings), identifier, table, options)
        except BaseException:
            lock.close()
            raise
        with self._lock:
            self._tables[handler.id] = found = _Refreshed(job)
            found.lock = lock
        return replace(handler, job_id=str(job.get_job_id()))

    def suspend(
        self, session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable
    ) -> RefreshHandler:
        """Stop with a savepoint."""
        handler, found = self._own(identifier, table)
        if found.periodic is not None:
            found.periodic.stop()
            self._forget(handler)
            return handler
        assert found.job is not None
        given = (session.configuration.get_string(key, "") for key in SAVEPOINT_DIRECTORIES)
        where = next(filter(None, given), None) or str(self._directory(session, identifier, handler) / "savepoints")
        try:
            path = found.job.stop_with_savepoint(False, where).result()
        except ScurryError:
            if not _is_over(found.job):
                raise
            self._forget(handler)
            return replace(handler, restore_path="")  # it goes on with its last checkpoint
        self._forget(handler)
        return replace(handler, restore_path=path, generation=handler.generation + 1)

    def end(self, identifier: ObjectIdentifier, table: CatalogMaterializedTable) -> None:
        """Stop for good."""
        handler = table.handler
        if handler is None:
            return
        with self._lock:
            found = self._tables.get(handler.id)
        if found is None and (state_directory() / handler.id).exists():
            _hold(state_directory() / handler.id, identifier).close()
        if found is not None and found.periodic is not None:
            found.periodic.stop()
        if found is not None and found.job is not None:
            _ended(found.job)
        self._forget(handler)
        for root in (state_directory(), self._temporary):
            if root is not None:
                shutil.rmtree(root / handler.id, ignore_errors=True)

    def runs(self, table: CatalogMaterializedTable) -> bool:
        with self._lock:
            found = None if table.handler is None else self._tables.get(table.handler.id)
        if found is None:
            return False
        return found.job is None or not found.job.get_job_status().result().is_globally_terminal_state()

    def state(self, table: CatalogMaterializedTable) -> RefreshState:
        with self._lock:
            found = None if table.handler is None else self._tables.get(table.handler.id)
        if found is None:
            return RefreshState(place="")
        job = found.job
        status = "" if job is None else job.get_job_status().result().name
        job_id = "" if job is None else str(job.get_job_id())
        error = found.error
        if status == "FAILED" and job is not None:
            try:
                job.wait(0)
            except (ScurryError, TimeoutError) as failure:
                error = str(failure)
        return RefreshState(status, job_id, found.refreshed_ms, error, next_ms=found.next_ms, skipped=found.skipped)

    def refresh(
        self,
        session: TableSession,
        identifier: ObjectIdentifier,
        table: CatalogMaterializedTable,
        partition: Mapping[str, str],
    ) -> tuple[str, StatementJob | None]:
        """Start a refresh now."""
        settings = {JOB_NAME.key: refresh_name(identifier, periodic=False), RUNTIME_MODE.key: "BATCH"}
        job = refresh(configured(session, settings), identifier, table, partition)
        return str(job.get_job_id()), job

    # ------------------------------------------------------------------ FULL mode

    def _schedule(
        self,
        session: TableSession,
        identifier: ObjectIdentifier,
        table: CatalogMaterializedTable,
        handler: RefreshHandler,
    ) -> RefreshHandler:
        found = _Refreshed()
        found.lock = _hold(self._directory(session, identifier, handler), identifier)
        marker = self._directory(session, identifier, handler) / "refreshed"
        settings = {JOB_NAME.key: refresh_name(identifier, periodic=True), RUNTIME_MODE.key: "BATCH"}
        own = configured(session, settings)
        zone = session.time_zone

        def work(due_ms: int) -> None:
            current = own.catalogs.find_table(identifier)
            if current is None or not isinstance(current.table, CatalogMaterializedTable):
                return
            try:
                job = refresh(own, identifier, current.table, partition_at(current.table, due_ms, zone))
                found.job = job
                job.wait()
            except ScurryError as error:
                found.error = str(error)
                raise
            found.error, found.refreshed_ms = "", int(time.time() * 1000)
            _note(marker, due_ms)

        schedule = Schedule(table.freshness.number, table.freshness.unit, zone)
        found.periodic = Periodic(schedule, work, _noted(marker), skipped=found.skip)
        with self._lock:
            self._tables[handler.id] = found
        found.periodic.start()
        return handler

    # ------------------------------------------------------------------ state on disk

    def _directory(self, session: TableSession, identifier: ObjectIdentifier, handler: RefreshHandler) -> Path:
        """Return the directory of a table's state: for those of catalogs in memory, until this process ends."""
        if not isinstance(session.catalogs.find_catalog(identifier.catalog), GenericInMemoryCatalog):
            return state_directory() / handler.id
        with self._lock:
            if self._temporary is None:
                self._temporary = Path(tempfile.mkdtemp(prefix="scurry-materialized-"))
                atexit.register(shutil.rmtree, self._temporary, ignore_errors=True)
            return self._temporary / handler.id

    def _own(self, identifier: ObjectIdentifier, table: CatalogMaterializedTable) -> tuple[RefreshHandler, _Refreshed]:
        assert table.handler is not None
        with self._lock:
            found = self._tables.get(table.handler.id)
        if found is None:
            _hold(state_directory() / table.handler.id, identifier).close()
            raise ValidationError(
                f"The materialized table {identifier.as_summary_string()} is not refreshed: the process that did has "
                "ended."
            ).with_hint("ALTER MATERIALIZED TABLE ... RESUME goes on here where it left off")
        return table.handler, found

    def _forget(self, handler: RefreshHandler) -> None:
        with self._lock:
            found = self._tables.pop(handler.id, None)
        if found is not None and found.lock is not None:
            found.lock.close()


def _hold(directory: Path, identifier: ObjectIdentifier) -> IO[str]:
    """Reserve the state of a table for this process; closing the file lets another one have it.

    Raises:
        ValidationError: Another process refreshes the table.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = open(directory / "lock", "a+", encoding="utf-8")
    try:
        lock_file(lock, wait=False)
    except OSError:
        lock.close()
        error = ValidationError(
            f"The materialized table {identifier.as_summary_string()} is refreshed by another process, which runs."
        )
        raise error.with_hint(
            "execute the statement there, or let a session refresh tables: scurry.materialized-table.session"
        ) from None
    return lock


def _ended(job: JobClient) -> None:
    """Cancel a job and wait for its end, so that nothing writes afterwards."""
    job.cancel().result()
    if isinstance(job, StatementJob):
        with suppress(ScurryError):
            job.wait()


def _is_over(job: StatementJob) -> bool:
    """Return whether a job that takes no requests has ended, or does so now."""
    with suppress(ScurryError, TimeoutError):
        job.wait(_ENDING_MS)
    return job.get_job_status().result().is_globally_terminal_state()


def _note(marker: Path, due_ms: int) -> None:
    marker.parent.mkdir(parents=True, exist_ok=True)
    replace_file(marker, str(due_ms))


def _noted(marker: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(marker.read_text(encoding="utf-8"))
    return None
