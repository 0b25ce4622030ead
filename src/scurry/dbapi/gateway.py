"""Statements that run in a SQL gateway."""

from __future__ import annotations

import decimal
import time
from collections.abc import Mapping
from typing import Any

from scurry.common.types import RowKind
from scurry.dbapi.transports import PATIENCE_SECONDS, Change, Execution
from scurry.dbapi.values import plain_row
from scurry.sql.client.executor import Description
from scurry.sql.client.remote import RemoteExecutor
from scurry.sql.gateway.layout import data_type_of, value_of_json
from scurry.sql.values.converters import Convert


class GatewayTransport:
    """Statements run in a SQL gateway, scurry's or Flink's."""

    def __init__(self, url: str, token: str | None, settings: Mapping[str, str]) -> None:
        self._executor = RemoteExecutor(url, settings, token, decimal.Decimal)

    def begin(self, text: str) -> Execution:
        """Begin to execute a statement."""
        return _Remote(self._executor, self._executor.begin(text))

    def close(self) -> None:
        """End the session; jobs of insertions keep running."""
        self._executor.close()

    def abandon(self) -> None:
        """Stop the heartbeats: the gateway closes the session when it has been idle."""
        self._executor.abandon()


class _Remote:
    def __init__(self, executor: RemoteExecutor, operation: str) -> None:
        self._executor, self._operation = executor, operation
        self._next: str | None = f"{operation}/result/0?rowFormat=JSON"
        self._page: dict[str, Any] | None = None
        self._read: list[Any] = []
        self._convert: Convert | None = None

    def described(self) -> Description | None:
        page = self._fetched()
        if page["resultType"] == "NOT_READY":
            return None
        columns = [(one["name"], data_type_of(one["logicalType"])) for one in page["results"]["columns"]]
        self._read = [value_of_json(kind) for _, kind in columns]
        self._convert = plain_row(*zip(*columns, strict=True)) if columns else tuple
        self._page = page
        has_content = page["resultKind"] == "SUCCESS_WITH_CONTENT"
        return Description(columns, bool(page["isQueryResult"]), has_content, page.get("jobID"))

    def page(self) -> list[Change] | None:
        page, self._page = self._page, None
        if page is None:
            if self._next is None:
                return None
            page = self._fetched()
        rows = page["results"]["data"] if "results" in page else []
        assert self._convert is not None
        return [
            (
                RowKind[row["kind"]].value,
                self._convert([read(v) for read, v in zip(self._read, row["fields"], strict=True)]),
            )
            for row in rows
        ]

    def cancel(self) -> None:
        self._executor.ask("POST", f"{self._operation}/cancel")

    def close(self) -> None:
        self._executor.ask("DELETE", f"{self._operation}/close")

    def _fetched(self) -> dict[str, Any]:
        assert self._next is not None
        began = time.monotonic()
        page = self._executor.page(self._next)
        is_empty = page["resultType"] == "NOT_READY" or not page.get("results", {}).get("data")
        if is_empty and page.get("nextResultUri") and time.monotonic() - began < PATIENCE_SECONDS / 2:
            time.sleep(PATIENCE_SECONDS)  # a gateway that does not wait itself, such as Flink's
        self._next = page.get("nextResultUri")
        return page
