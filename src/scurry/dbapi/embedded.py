"""Statements that run in this process."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.dbapi.transports import PATIENCE_SECONDS, Change, Execution
from scurry.dbapi.values import plain_row
from scurry.sql.client.embedded import EmbeddedExecutor
from scurry.sql.client.executor import Description
from scurry.sql.gateway.operations import Operation
from scurry.sql.statements.session import TableSession
from scurry.sql.values.converters import Convert


class EmbeddedTransport:
    """Statements run in this process."""

    def __init__(self, settings: Mapping[str, str], context: TableSession | None) -> None:
        self._executor = EmbeddedExecutor(settings, context)

    def begin(self, text: str) -> Execution:
        """Begin to execute a statement."""
        return _Embedded(self._executor, self._executor.begin(text))

    def close(self) -> None:
        """End the session, and the jobs that it has begun."""
        self._executor.close()

    def abandon(self) -> None:
        """End the session: nothing else does."""
        self._executor.close()


class _Embedded:
    def __init__(self, executor: EmbeddedExecutor, operation: Operation) -> None:
        self._executor, self._operation = executor, operation
        self._token: int | None = 0
        self._convert: Convert | None = None

    def described(self) -> Description | None:
        result = self._operation.wait(PATIENCE_SECONDS)
        if result is None:
            return None
        names, kinds = result.schema.get_column_names(), result.schema.get_column_data_types()
        self._convert = plain_row(names, kinds)
        job = None if result.job is None else str(result.job.get_job_id())
        return Description(list(zip(names, kinds, strict=True)), result.is_query, result.has_content, job)

    def page(self) -> list[Change] | None:
        if self._token is None:
            return None
        page = self._operation.fetch(self._token)
        self._token = page.next_token
        assert self._convert is not None
        return [(kind, self._convert(values)) for kind, values in page.rows]

    def cancel(self) -> None:
        self._operation.cancel()

    def close(self) -> None:
        self._executor.forget(self._operation)
