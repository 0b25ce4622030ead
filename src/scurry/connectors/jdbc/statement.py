"""Statement: executes a user's SQL with the fields of records as parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from scurry.common.typeinfo import RowTypeInfo
from scurry.common.types import Row
from scurry.connectors.jdbc.database import Database
from scurry.connectors.jdbc.session import JdbcSession
from scurry.errors import ArgumentError, ArgumentTypeError, RecordRejectedError, RejectedValuesError, TypeMismatchError

#: Parameters, one list per record.
Rows: TypeAlias = list[list[Any]]
#: Executes the statement for records on a connection.
Run: TypeAlias = Callable[[Any, Rows], None]


class Statement:
    """Execute SQL once per record, with the record's fields as parameters."""

    def __init__(self, database: Database, sql: str, type_info: RowTypeInfo) -> None:
        """Check that the SQL and the record type fit each other.

        Raises:
            ArgumentTypeError: `type_info` is not a row type, or `sql` is not a text.
            ArgumentError: The number of parameters differs from the number of fields.
            UnsupportedError: The database does not support a field's type as a parameter.
        """
        if not isinstance(sql, str):
            raise ArgumentTypeError(f"a JdbcSink takes SQL, got {sql!r}")
        if not isinstance(type_info, RowTypeInfo):
            raise ArgumentTypeError(f"a JdbcSink takes a row type, Types.ROW([...]), got {type_info!r}")
        self._sql, count = database.translate(sql)
        types = type_info.get_field_types()
        if count != len(types):
            raise ArgumentError(f"{count} parameters (?) for records of {len(types)} fields, {type_info}: {sql}")
        database.check_type(type_info)
        self._names = tuple(type_info.get_field_names())
        self._convert = type_info.block_converter()
        special = {at: database.parameter(field) for at, field in enumerate(types)}
        self._special = {at: convert for at, convert in special.items() if convert is not None}

    def rows(self, values: list[Any]) -> Rows:
        """Return the fields of records, converted to their declared types.

        Raises:
            RecordRejectedError: A record is not of the declared type.
        """
        assert self._convert is not None  # a row type has a converter
        try:
            return [list(row) for row in self._convert(values)]
        except TypeMismatchError as error:
            raise RecordRejectedError(str(error), values[error.index or 0]) from None

    def _parameters(self, rows: Rows) -> Rows:
        if not self._special or not rows:
            return rows
        columns: list[Any] = list(zip(*rows, strict=True))
        for at, convert in self._special.items():
            columns[at] = [None if value is None else convert(value) for value in columns[at]]
        return list(map(list, zip(*columns, strict=True)))

    def write(self, session: JdbcSession, work: Callable[[Any, Run], None], doing: str) -> None:
        """Run `work`, which executes the statement, in a transaction.

        Args:
            session: The session.
            work: Called with a connection and a function that executes the statement; may be called again.
            doing: The operation, for error messages.

        Raises:
            RecordRejectedError: The database rejects a record.
            DatabaseError: As for `JdbcSession.transact`.
        """
        try:
            session.transact(lambda connection: work(connection, self._run), doing)
        except RejectedValuesError:
            self._write_singly(session, work, doing)

    def _run(self, connection: Any, rows: Rows) -> None:
        connection.cursor().executemany(self._sql, self._parameters(rows))

    def _write_singly(self, session: JdbcSession, work: Callable[[Any, Run], None], doing: str) -> None:
        """Write record by record to find the rejected one, because drivers do not report its place in a batch."""
        at_work: list[Any] | None = None

        def run(connection: Any, rows: Rows) -> None:
            nonlocal at_work
            cursor = connection.cursor()
            for at_work in self._parameters(rows):
                cursor.execute(self._sql, at_work)
            at_work = None  # a later failure, such as a deferred constraint, is not due to a single record

        try:
            session.transact(lambda connection: work(connection, run), doing)
        except RejectedValuesError as error:
            if at_work is None:
                raise
            raise RecordRejectedError(str(error), Row._from_values(at_work, self._names)) from None
