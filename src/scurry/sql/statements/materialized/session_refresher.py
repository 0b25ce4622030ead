"""SessionRefresher: refreshes materialized tables by jobs of a session, which go on after kills of all processes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from scurry.common._config.tables import CATALOG_STORE_KIND, LOCAL_TIME_ZONE, REFRESHING_SESSION
from scurry.common._process.replaced_files import replace_file
from scurry.common.config_options import JOB_NAME, RUNTIME_MODE
from scurry.errors import JobError, RequestRefusedError, ScurryError, SessionError, ValidationError
from scurry.rest.client import OVER, RemoteJob, RemoteProcess
from scurry.rest.registry import registered_jobs, token_of
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.materialized import CatalogMaterializedTable, RefreshHandler, RefreshMode
from scurry.sql.statements.inserts import plan_insert
from scurry.sql.statements.jobs import StatementJob
from scurry.sql.statements.materialized.refresh_jobs import (
    REFRESH_KEY,
    configured,
    continuous_name,
    insert_statement,
    refresh_name,
    refresh_text,
    replacing_sink,
)
from scurry.sql.statements.materialized.refresher import (
    CHECKPOINTS,
    RECOVERY,
    SAVEPOINT_DIRECTORIES,
    Refresher,
    RefreshState,
    checkpoint_settings,
    state_directory,
)
from scurry.sql.statements.names import qualified
from scurry.sql.statements.planning import planned
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse

#: Settings of a job that begins again when its process was killed.
_RESTART = {"$internal.session.restart": "true"}
#: Seconds in which the process of a job has to submit it.
_STARTING_SECONDS = 120.0
#: Seconds between two looks at a job.
_PAUSE = 0.1


class SessionRefresher(Refresher):
    """Refreshes tables by jobs of a session on this machine."""

    def __init__(self, session: str) -> None:
        self.session = session

    # ------------------------------------------------------------------ start, suspend, end

    def start(
        self,
        session: TableSession,
        identifier: ObjectIdentifier,
        table: CatalogMaterializedTable,
        handler: RefreshHandler,
        options: Mapping[str, str],
    ) -> RefreshHandler:
        """Begin, or go on."""
        process = self._process()
        _check_catalogs(session, identifier, table)
        directory = state_directory() / handler.id
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if table.refresh_mode is RefreshMode.FULL:
            return self._schedule(process, session, identifier, table, handler, directory)
        text = insert_statement(session, identifier, table, options)
        settings = {
            JOB_NAME.key: continuous_name(identifier),
            RUNTIME_MODE.key: "STREAMING",
            CHECKPOINTS: str(directory / f"checkpoints-{handler.generation}"),
            **checkpoint_settings(session, table),
        }
        if handler.restore_path:
            settings[RECOVERY] = handler.restore_path
        own = configured(session, settings)
        statement = parse(text)
        assert isinstance(statement, nodes.Insert)
        own = own.executing(statement)
        planned(own, [plan_insert(own, statement)])  # a query that cannot run is refused here, with its place
        program = _written(directory / f"continuous-{handler.generation}.sql", text)
        job_id = self._submit(process, program, own, {})
        self._wait_for_start(process, job_id)
        return replace(handler, job_id=job_id)

    def _schedule(
        self,
        process: RemoteProcess,
        session: TableSession,
        identifier: ObjectIdentifier,
        table: CatalogMaterializedTable,
        handler: RefreshHandler,
        directory: Path,
    ) -> RefreshHandler:
        if handler.job_id:  # the workflow that was suspended
            process.request("POST", f"/workflows/{handler.job_id}/resume")
            return handler
        settings = {JOB_NAME.key: refresh_name(identifier, periodic=True), RUNTIME_MODE.key: "BATCH"}
        own = configured(session, settings)
        replacing_sink(own.executing(), identifier, table, {})  # a query that cannot run is refused here
        program = _written(directory / "refresh.sql", refresh_text(str(identifier), {}))
        body = {
            "name": refresh_name(identifier, periodic=True),
            "program": str(program),
            "number": table.freshness.number,
            "unit": table.freshness.unit,
            "zone": session.time_zone,
            "configuration": _settings(own) | {REFRESH_KEY: "here"} | _RESTART,
            "lasting": True,
        }
        return replace(handler, job_id=str(process.request("POST", "/workflows", body)["id"]))

    def suspend(
        self, session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable
    ) -> RefreshHandler:
        """Stop with a savepoint."""
        assert table.handler is not None
        process, handler = self._process(), table.handler
        if table.refresh_mode is RefreshMode.FULL:
            process.request("POST", f"/workflows/{handler.job_id}/suspend")
            return handler
        if not self.runs(table):
            return replace(handler, restore_path="")  # it goes on with its last checkpoint
        given = (session.configuration.get_string(key, "") for key in SAVEPOINT_DIRECTORIES)
        where = next(filter(None, given), None) or str(state_directory() / handler.id / "savepoints")
        with _while_starting():
            path = RemoteJob(handler.job_id, str(identifier), process).stop(False, where)
        return replace(handler, restore_path=path, generation=handler.generation + 1)

    def end(self, identifier: ObjectIdentifier, table: CatalogMaterializedTable) -> None:
        """Stop for good."""
        if table.handler is None:
            return
        process, handler = self._process(), table.handler
        if table.refresh_mode is RefreshMode.FULL:
            if handler.job_id:
                _unless_gone(lambda: process.request("DELETE", f"/workflows/{handler.job_id}"))
        else:
            self._cancel(process, handler.job_id)
        shutil.rmtree(state_directory() / handler.id, ignore_errors=True)

    def _cancel(self, process: RemoteProcess, job_id: str) -> None:
        deadline = time.monotonic() + _STARTING_SECONDS
        while job_id and (state := self._job_state(process, job_id)) not in (*OVER, ""):
            try:
                process.request("PATCH", f"/jobs/{job_id}", mode="cancel")
            except RequestRefusedError as error:  # it is starting or ending
                if error.status != HTTPStatus.CONFLICT:
                    raise
            if time.monotonic() > deadline:
                raise SessionError(f"job {job_id} of session {self.session!r} does not end: it is {state}")
            time.sleep(_PAUSE)

    # ------------------------------------------------------------------ what there is

    def runs(self, table: CatalogMaterializedTable) -> bool:
        assert table.handler is not None
        if table.refresh_mode is RefreshMode.FULL:
            return not self._process().request("GET", f"/workflows/{table.handler.job_id}")["suspended"]
        return self._job_state(self._process(), table.handler.job_id) not in (*OVER, "")

    def state(self, table: CatalogMaterializedTable) -> RefreshState:
        place = f"session {self.session}"
        assert table.handler is not None
        try:
            process = self._process()
            if table.refresh_mode is RefreshMode.FULL:
                found = process.request("GET", f"/workflows/{table.handler.job_id}")
                state = found["state"] or ("RUNNING" if found["job_id"] else "")
                return RefreshState(
                    state,
                    found["job_id"],
                    found["finished_ms"],
                    found["reason"],
                    place,
                    found["next_ms"],
                    found["skipped"],
                )
            job_id = table.handler.job_id
            return RefreshState(self._job_state(process, job_id), job_id, None, self._reason(process, job_id), place)
        except ScurryError as error:
            return RefreshState("", table.handler.job_id, None, str(error), f"{place}, which does not answer")

    def refresh(
        self,
        session: TableSession,
        identifier: ObjectIdentifier,
        table: CatalogMaterializedTable,
        partition: Mapping[str, str],
    ) -> tuple[str, StatementJob | None]:
        """Start a refresh now."""
        assert table.handler is not None
        process = self._process()
        settings = {JOB_NAME.key: refresh_name(identifier, periodic=False), RUNTIME_MODE.key: "BATCH"}
        own = configured(session, settings)
        replacing_sink(own.executing(), identifier, table, partition)  # a query that cannot run is refused here
        directory = state_directory() / table.handler.id
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        program = _written(directory / f"refresh-{time.time_ns()}.sql", refresh_text(str(identifier), partition))
        return self._submit(process, program, own, {REFRESH_KEY: "here"}), None

    # ------------------------------------------------------------------ the session

    def _process(self) -> RemoteProcess:
        for entry in registered_jobs("sessions"):
            if self.session in (entry.name, entry.url):
                return RemoteProcess(entry.url, token_of(entry), pid=entry.pid)
        raise SessionError(
            f"no session {self.session!r} runs, whose jobs refresh materialized tables: `scurry session start "
            f"{self.session}` starts it"
        )

    def _submit(self, process: RemoteProcess, program: Path, session: TableSession, settings: Mapping[str, str]) -> str:
        registered = process.request("POST", "/jars/register", {"path": str(program)})
        body = {"flinkConfiguration": _settings(session) | _RESTART | dict(settings)}
        return str(process.request("POST", f"/jars/{registered['filename']}/run", body)["jobid"])

    def _wait_for_start(self, process: RemoteProcess, job_id: str) -> None:
        """Wait until a job runs.

        Raises:
            JobError: It has failed, or does not start.
        """
        deadline = time.monotonic() + _STARTING_SECONDS
        while (state := self._job_state(process, job_id)) in ("INITIALIZING", "CREATED", ""):
            if time.monotonic() > deadline:
                self._cancel(process, job_id)
                raise JobError(f"job {job_id} of session {self.session!r} has not started: it is {state}")
            time.sleep(_PAUSE)
        if state == "FAILED":
            raise JobError(f"job {job_id} of session {self.session!r} has failed: {self._reason(process, job_id)}")

    def _job_state(self, process: RemoteProcess, job_id: str) -> str:
        """Return the state of a job, empty if the session does not know it."""
        try:
            return str(process.request("GET", f"/jobs/{job_id}/status")["status"])
        except RequestRefusedError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return ""
            if error.status in (HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE):
                return "INITIALIZING"
            raise

    def _reason(self, process: RemoteProcess, job_id: str) -> str:
        try:
            entries = process.request("GET", f"/jobs/{job_id}/exceptions")["exceptionHistory"]["entries"]
        except (RequestRefusedError, KeyError):
            return ""
        return str(entries[0]["stacktrace"]) if entries else ""


def _unless_gone(request: Any) -> None:
    try:
        request()
    except RequestRefusedError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise


@contextmanager
def _while_starting() -> Iterator[None]:
    """Explain the refusal of a job that takes no requests yet."""
    try:
        yield
    except RequestRefusedError as error:
        if error.status == HTTPStatus.CONFLICT:
            raise SessionError(f"{error}: execute the statement again") from None
        raise


def _written(file: Path, text: str) -> Path:
    replace_file(file, f"{text};\n")
    return file


def _settings(session: TableSession) -> dict[str, str]:
    """Return the settings of a job in a process of its own."""
    given = {
        key: value
        for key, value in session.configuration.to_dict().items()
        if not key.startswith(("rest.", "scurry.rest", "spark.master", "$internal.")) and key != REFRESHING_SESSION.key
    }
    return {**given, LOCAL_TIME_ZONE.key: session.time_zone}


def _check_catalogs(session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable) -> None:
    """Refuse tables that another process cannot find.

    Raises:
        ValidationError: There is no catalog store of files, or a catalog is not in it.
    """
    if CATALOG_STORE_KIND.of(session.configuration.to_dict()) != "file":
        raise ValidationError(
            "Jobs of a session find catalogs by a store of files, and this program has none."
        ).with_hint("set table.catalog-store.kind to file, and table.catalog-store.file.path to a directory")
    parsed = parse(table.expanded_query)
    named = [node.name for node in nodes.walk(parsed) if isinstance(node, nodes.TableReference)]
    used = {identifier.catalog: identifier.as_summary_string()}
    for name in named:
        found = qualified(session, name)
        used.setdefault(found.catalog, found.as_summary_string())
    for catalog, example in used.items():
        if session.catalogs.store.get_catalog(catalog) is None:
            raise ValidationError(
                f"The catalog {catalog} of {example} is not in the catalog store: jobs of a session cannot find it."
            ).with_hint("CREATE CATALOG keeps a catalog there; that of a session, in memory, ends with it")
