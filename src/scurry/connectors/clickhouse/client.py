"""ClickHouse: statements, columns of Arrow and facts of tables, by requests of HTTP."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.connectors.clickhouse.names import quoted, text_literal
from scurry.connectors.http.client import SHOWN_CHARACTERS, HttpClient, HttpSettings
from scurry.connectors.sink import COUNTED, RETRIES
from scurry.errors import ConnectorError, SourceConnectionError, SourceNotFoundError

if TYPE_CHECKING:
    import pyarrow as pa

#: Pauses before what the server could not do just now is tried again grow up to this.
_LONGEST_PAUSE = 8.0
_FIRST_PAUSE = 0.25
#: Settings of insertions: one at a time, and nothing is rounded or filled in silently.
_WRITING = {
    "async_insert": "0",
    "insert_deduplicate": "1",
    "input_format_null_as_default": "0",
    "date_time_overflow_behavior": "throw",
}
#: Texts come as bytes, so that those that are not UTF-8 are noticed here; conditions are about columns, which the
#: expressions that read them are named after.
_READING = {
    "output_format_arrow_string_as_string": "0",
    "output_format_arrow_low_cardinality_as_dictionary": "0",
    "prefer_column_name_to_alias": "1",
}
_CODE = re.compile(r"Code: (\d+)\.")
_UNKNOWN_TABLE, _UNKNOWN_DATABASE, _NO_PRIVILEGE = 60, 81, 497
#: Codes of a wrong user or password.
_LOGIN = {192, 193, 194, 516}
#: Codes of what may go well later: too many queries or parts, a replica that is read-only, memory.
_PASSING = {159, 202, 209, 210, 236, 241, 242, 252, 319, 425, 999}


@dataclass(frozen=True)
class ClickHouseTable:
    """A table and its server.

    Attributes:
        hosts: Addresses of the server.
        database: Name of the database.
        name: Name of the table.
        retries: How often a statement is repeated that the server could not do just then.
    """

    hosts: HttpSettings
    database: str
    name: str
    retries: int = 3

    @property
    def quoted(self) -> str:
        """The full name in statements."""
        return f"{quoted(self.database)}.{quoted(self.name)}"

    @property
    def shown(self) -> str:
        """The full name in messages."""
        return f"{self.database}.{self.name}"


@dataclass(frozen=True)
class TableFacts:
    """Engine and columns of a table.

    Attributes:
        engine: Its engine.
        creation: The statement that makes it.
        types: The type of each column.
    """

    engine: str
    creation: str
    types: dict[str, str]

    @property
    def replaces(self) -> bool:
        """Return whether rows of a key replace each other, which queries see with FINAL only."""
        return "Replacing" in self.engine or "Collapsing" in self.engine


class ServerRefusal(Exception):
    """The answer of a server to a statement that it does not carry out.

    Attributes:
        code: Its number of the error, 0 for none.
        status: The status of HTTP.
        host: The host.
    """

    def __init__(self, text: str, code: int, status: int, host: str) -> None:
        """Describe it."""
        super().__init__(text)
        self.code, self.status, self.host = code, status, host

    @property
    def is_passing(self) -> bool:
        """Return whether the same may go well later."""
        return self.code in _PASSING or self.status in (429, 502, 503, 504)


class ClickHouse:
    """Send statements about a table; for one thread."""

    def __init__(self, table: ClickHouseTable, kind: type[ConnectorError] = SourceConnectionError) -> None:
        """Describe the table; the first statement connects.

        Args:
            table: The table.
            kind: The class of errors of the server.
        """
        self._table, self._kind = table, kind
        self._client = HttpClient(table.hosts)

    def facts(self) -> TableFacts:
        """Return engine and columns of the table.

        Raises:
            SourceNotFoundError: There is no such table.
            ConnectorError: The server does not answer, or refuses the user.
        """
        table = self._table
        where = f"database = {text_literal(table.database)}"
        named = text_literal(table.name)
        found = self._rows(
            f"SELECT engine, create_table_query AS creation FROM system.tables WHERE {where} AND name = {named}"
        )
        if not found:
            raise SourceNotFoundError(
                f"{table.hosts.shown} has no table {table.shown}: check 'database-name' and 'table-name'"
            )
        columns = self._rows(
            f"SELECT name, type FROM system.columns WHERE {where} AND table = {named} ORDER BY position"
        )
        types = {each["name"]: each["type"] for each in columns}
        return TableFacts(found[0]["engine"], found[0]["creation"], types)

    def remembered_blocks(self, facts: TableFacts) -> int:
        """Return how many blocks the table knows when they come again, 0 for none."""
        if "MergeTree" not in facts.engine:
            return 0
        prefix = "" if facts.engine.startswith(("Replicated", "Shared")) else "non_"
        name = f"{prefix}replicated_deduplication_window"
        own = re.search(rf"\b{name} = (\d+)", facts.creation)
        if own is not None:
            return int(own[1])
        (found,) = self._rows(f"SELECT value FROM system.merge_tree_settings WHERE name = {text_literal(name)}")
        return int(found["value"])

    def _rows(self, query: str) -> list[dict[str, Any]]:
        body = self.execute(f"{query} FORMAT JSONEachRow")
        return [json.loads(line) for line in body.splitlines()]

    def execute(self, statement: str) -> bytes:
        """Carry a statement out, and return the answer.

        Raises:
            ConnectorError: The server does not answer, or refuses the statement.
        """
        return self._sent(statement.encode(), {})

    def insert(self, columns: list[str], block: bytes, token: str) -> None:
        """Insert rows.

        Args:
            columns: Names of the columns.
            block: The rows, as a stream of Arrow with one batch.
            token: Text by which the server knows the rows when they come again.

        Raises:
            ServerRefusal: The server refuses the values.
            ConnectorError: The server does not answer, or refuses the user or the table.
        """
        listed = ", ".join(map(quoted, columns))
        query = f"INSERT INTO {self._table.quoted} ({listed}) FORMAT ArrowStream"
        self._sent(block, {"query": query, "insert_deduplication_token": token} | _WRITING, of_values=True)

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the columns that a query returns, while they come.

        Raises:
            ConnectorError: The server does not answer, refuses the query, or does not end its answer.
        """
        import pyarrow as pa

        answer = self._opened(f"{query} FORMAT ArrowStream".encode(), _READING)
        try:
            with pa.ipc.open_stream(pa.PythonFile(answer, "r")) as stream:
                yield from stream
            answer.read()  # the end of the answer, by which it is known to be whole
        except (OSError, http.client.HTTPException, pa.ArrowInvalid) as error:
            self.close()
            raise self._kind(
                f"{self._table.hosts.shown} has not sent all rows of {self._table.shown}: "
                f"{without_secrets(str(error))[:SHOWN_CHARACTERS]}"
            ) from None
        except GeneratorExit:
            self.close()
            raise

    def _sent(self, body: bytes, settings: dict[str, str], of_values: bool = False) -> bytes:
        answer = self._opened(body, settings, of_values)
        try:
            found = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._kind(f"{self._table.hosts.shown} ('url') does not end its answer: {error}") from None
        if answer.will_close:
            self.close()
        return found

    def _opened(self, body: bytes, settings: dict[str, str], of_values: bool = False) -> http.client.HTTPResponse:
        pause = _FIRST_PAUSE
        for retry in range(self._table.retries + 1):
            try:
                return self._asked(body, settings)
            except ServerRefusal as refusal:
                if not refusal.is_passing or retry == self._table.retries:
                    known = self._explained(refusal)
                    if of_values and known is None and not refusal.is_passing:
                        raise
                    text = f"{refusal.host} fails a statement about {self._table.shown}: {refusal}"
                    raise known or self._kind(text) from None
            COUNTED.get()(RETRIES, 1)
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        raise AssertionError("the last try returns or raises")

    def _asked(self, body: bytes, settings: dict[str, str]) -> http.client.HTTPResponse:
        try:
            answer, host = self._client.open("POST", f"/?{urlencode(settings)}", body)
            if answer.status == 200 and not answer.getheader("X-ClickHouse-Exception-Code"):
                return answer
            text = answer.read(1 << 20).decode(errors="replace").strip()
        except (OSError, http.client.HTTPException) as error:
            hosts = self._table.hosts
            raise self._kind(
                f"no host of 'url' answers ({error}): check the addresses, and that the server runs"
                if isinstance(error, ConnectionError)
                else f"{hosts.shown} does not end its answer: {error}"
            ) from None
        if answer.will_close or not answer.isclosed():
            self.close()
        told = answer.getheader("X-ClickHouse-Exception-Code")
        named = _CODE.search(text)
        code = int(told) if told and told.isdigit() else int(named[1]) if named else 0
        raise ServerRefusal(without_secrets(text)[:SHOWN_CHARACTERS], code, answer.status, host)

    def _explained(self, refusal: ServerRefusal) -> ConnectorError | None:
        """Return the error for a refusal for which an option or a user is to blame, None for others."""
        table, host = self._table, refusal.host
        if refusal.code in _LOGIN or (refusal.status == 401 and not refusal.code):
            known = "refuses the user" if table.hosts.authorization else "wants a user"
            return self._kind(f"{host} {known} (HTTP {refusal.status}): check 'username' and 'password'")
        if refusal.code == _NO_PRIVILEGE:
            return self._kind(f"{host}: the user ('username') may not do this with {table.shown}: {refusal}")
        if refusal.code == _UNKNOWN_TABLE:
            return SourceNotFoundError(f"{host} has no table {table.shown} ('table-name')")
        if refusal.code == _UNKNOWN_DATABASE:
            return SourceNotFoundError(f"{host} has no database {table.database!r} ('database-name')")
        if not refusal.code and not refusal.is_passing:
            return self._kind(f"{host} does not answer as ClickHouse ('url'): HTTP {refusal.status} {refusal}")
        return None

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
