"""Sessions of clients: each has its own catalogs, settings and operations."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import nullcontext

from scurry.common._config.tables import DML_SYNC
from scurry.common.configuration import Configuration
from scurry.errors import GatewayError
from scurry.sql.gateway.operations import Operation
from scurry.sql.statements.client_statements import ClientStatements
from scurry.sql.statements.job_list import JobList
from scurry.sql.statements.results import StatementResult
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse_statements

#: Maximum open operations of a session.
MOST_OPERATIONS = 1000


class Session:
    """One client's session.

    Attributes:
        statements: What executes its statements.
        used: Seconds of the monotonic clock at the last request.
    """

    def __init__(self, context: TableSession, jobs: JobList) -> None:
        """Open a session.

        Args:
            context: The catalogs and settings of its statements.
        """
        self.id = str(uuid.uuid4())
        self.statements = ClientStatements(context, jobs)
        self.used = time.monotonic()
        self._operations: dict[str, Operation] = {}
        self._lock = threading.Lock()
        self._executing = threading.Lock()

    @property
    def settings(self) -> dict[str, str]:
        return self.statements.session.configuration.to_dict()

    def submit(
        self, text: str, settings: Mapping[str, str] | None = None, *, script: str = "", lines_before: int = 0
    ) -> Operation:
        """Begin to execute a statement; statements of a session are executed one after the other.

        Args:
            settings: Settings for this statement alone.
            script: What errors call the text; empty for a statement that is from no script.
            lines_before: How many lines of the script come before the text.

        Returns:
            The operation that has its state and its rows.

        Raises:
            GatewayError: Too many operations of the session are open.
        """

        def execute() -> StatementResult:
            with self._executing:
                with self.statements.overridden(settings) if settings else nullcontext():
                    return self.statements.execute(single_statement(text), script or "statement", lines_before)

        operation = Operation(execute, lambda: self.statements.session.get(DML_SYNC))
        with self._lock:
            self._make_room()
            self._operations[operation.id] = operation
        operation.start()
        return operation

    def configure(self, text: str) -> None:
        """Execute a statement that changes the session, and nothing else.

        Raises:
            GatewayError: It is a query, an insertion, or one that shows something.
            ScurryError: It has failed.
        """
        statement = single_statement(text)
        if isinstance(statement, nodes.Query | nodes.Insert | nodes.Execute | nodes.Explain | nodes.StatementSet):
            raise GatewayError(f"Unsupported statement for configuring session: {text}")
        with self._executing:
            if self.statements.execute(statement).has_content:
                raise GatewayError(f"Unsupported statement for configuring session: {text}")

    def operation(self, operation_id: str) -> Operation:
        """Return an operation.

        Raises:
            GatewayError: No operation has the identifier.
        """
        self.used = time.monotonic()
        with self._lock:
            found = self._operations.get(operation_id)
        if found is None:
            raise GatewayError(f"Can not find the submitted operation in the OperationManager with the {operation_id}.")
        return found

    def close_operation(self, operation_id: str) -> None:
        """Stop an operation and forget it."""
        self.operation(operation_id).close()
        with self._lock:
            self._operations.pop(operation_id, None)

    def close(self) -> None:
        """Stop all operations; jobs of insertions keep running."""
        with self._lock:
            operations, self._operations = list(self._operations.values()), {}
        for operation in operations:
            operation.close()

    def _make_room(self) -> None:
        if len(self._operations) < MOST_OPERATIONS:
            return
        settled = [operation for operation in self._operations.values() if operation.is_settled]
        if not settled:
            raise GatewayError(
                f"session {self.id} has {MOST_OPERATIONS} operations that are not over; close some, or fetch their rows"
            )
        del self._operations[min(settled, key=lambda operation: operation.changed).id]


class Sessions:
    """The sessions of a gateway. Used by many threads."""

    def __init__(self, configuration: Mapping[str, str], most: int = 1000, idle_seconds: float = 600.0) -> None:
        """Begin without sessions.

        Args:
            configuration: Settings that each session begins with.
            most: Most sessions at a time.
            idle_seconds: After how long without a request a session is closed; 0 for never.
        """
        self.jobs = JobList()
        self._configuration = dict(configuration)
        self._most, self._idle_seconds = most, idle_seconds
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def open(self, properties: Mapping[str, str] | None = None, context: TableSession | None = None) -> Session:
        """Open a session.

        Args:
            properties: Its settings, beside those of all.
            context: Its catalogs and settings, which a program has already; None for new ones.

        Raises:
            GatewayError: There are as many as there may be.
        """
        self.expire()
        if context is None:
            context = TableSession.create(Configuration.from_dict({**self._configuration, **(properties or {})}))
        session = Session(context, self.jobs)
        with self._lock:
            if len(self._sessions) >= self._most:
                raise GatewayError(
                    f"Failed to create session, the count of active sessions exceeds the max count: {self._most}"
                )
            self._sessions[session.id] = session
        return session

    def get(self, session_id: str) -> Session:
        """Return a session, which is in use from now on.

        Raises:
            GatewayError: No session has the identifier.
        """
        with self._lock:
            session = self._sessions.get(session_id)
        if session is None:
            raise GatewayError(f"Session '{session_id}' does not exist.")
        session.used = time.monotonic()
        return session

    def close(self, session_id: str) -> None:
        session = self.get(session_id)
        with self._lock:
            self._sessions.pop(session_id, None)
        session.close()

    def expire(self) -> None:
        """Close the sessions whose idle timeout has expired."""
        if self._idle_seconds <= 0:
            return
        now = time.monotonic()
        with self._lock:
            idle = [each for each in self._sessions.values() if now - each.used > self._idle_seconds]
            for each in idle:
                del self._sessions[each.id]
        for each in idle:
            each.close()

    def close_all(self) -> None:
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.close()


def single_statement(text: str) -> nodes.Statement:
    """Return the statement of a text.

    Raises:
        SqlParserError: It is none.
        GatewayError: There are several.
    """
    from scurry.sql.syntax.parser import parse

    statements = parse_statements(text)
    if len(statements) > 1:
        raise GatewayError("only single statement supported")
    return statements[0] if statements else parse(text)
