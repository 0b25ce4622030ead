"""MySQL and MariaDB, through PyMySQL."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from scurry.common.typeinfo import (
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
)
from scurry.connectors.jdbc.connection import Connection
from scurry.connectors.jdbc.database import Database, Fault
from scurry.connectors.jdbc.mysql_url import mysql_address
from scurry.connectors.jdbc.placeholders import MYSQL, translate
from scurry.errors import ExtraMissingError, UnsupportedError

#: Numbers of errors when the user may not connect, or not do this.
REFUSED = frozenset({1044, 1045, 1049, 1142, 1143, 1227, 1698, 1370, 1410, 2026, 3118, 4151})
#: Numbers of errors when the server has gone, or never answered.
LOST = frozenset({1053, 1077, 1078, 1079, 1080, 1152, 1159, 1161, 1184, 1927, 2002, 2003, 2006, 2013, 2014, 4031})
_PASSING = frozenset({1040, 1203, 1205, 1206, 1213, 1226, 1021, 1114, 1180, 3101})
#: No value, one that no column takes, constraints. 1062 and its kind are IntegrityErrors as well.
_REJECTED = frozenset({1048, 1062, 1153, 1169, 1216, 1217, 1264, 1265, 1292, 1364, 1366, 1406, 1451, 1452, 3819, 4025})
_NO_TABLE = 1146
#: No statement has this character: it marks where a parameter goes.
_MARK = "\0"
#: Rows are inserted together up to this number of characters; a server takes 16 MB by default, an old one 1 MB.
INSERT_CHARACTERS = 512 * 1024

_INSERT = re.compile(
    rf"\s*(?P<head>(?:INSERT|REPLACE)\b[^{_MARK}]+?\bVALUES?\s*)(?P<row>\(\s*{_MARK}(?:\s*,\s*{_MARK})*\s*\))"
    rf"(?P<tail>\s*(?:ON\s+DUPLICATE\s+KEY\s+UPDATE[^{_MARK}]*)?)",
    re.IGNORECASE | re.DOTALL,
)
_TARGET = re.compile(
    r"\s*(?:INSERT|REPLACE|UPDATE|DELETE)\b(?:\s+(?:IGNORE|LOW_PRIORITY|DELAYED|HIGH_PRIORITY|QUICK|INTO|FROM)\b)*\s+"
    r"(?P<name>(?:`[^`]+`|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|[\w$]+))?)",
    re.IGNORECASE,
)


class MySql(Database):
    """A MySQL or MariaDB server. Sessions use UTC and refuse values that no column takes, as strict modes do."""

    jdbc_drivers = ("com.mysql.cj.jdbc.Driver", "com.mysql.jdbc.Driver", "org.mariadb.jdbc.Driver")

    def __init__(self, options: Connection) -> None:
        """Check the URL and the driver."""
        super().__init__(options)
        self._address = mysql_address(options)
        if importlib.util.find_spec("pymysql") is None:
            raise ExtraMissingError("jdbc:mysql: and jdbc:mariadb: URLs need PyMySQL; pip install 'scurry[mysql]'")

    @property
    def password(self) -> str | None:
        """The password, from the builder or the URL."""
        return self._address.arguments.get("password")

    @property
    def errors(self) -> type[Exception]:
        """The base class of PyMySQL's errors."""
        import pymysql

        kind: type[Exception] = pymysql.MySQLError
        return kind

    def open(self, autocommit: bool = False) -> Any:
        """Connect, in a session of UTC."""
        return MySqlConnection(self._connect(), autocommit)

    def _connect(self) -> Any:
        import pymysql
        from pymysql.constants import FIELD_TYPE
        from pymysql.converters import conversions, convert_time

        # A TIME is a time of the day, as it is for JDBC, and no span.
        converters = {**conversions, FIELD_TYPE.TIME: convert_time}
        address = self._address
        try:
            connection = pymysql.connect(
                **address.arguments, **address.tls_arguments(), conv=converters, local_infile=False
            )
        except RuntimeError as error:  # PyMySQL lacks what encrypts a password for a connection without TLS
            raise pymysql.OperationalError(1045, f"{error}; or connect with sslMode=REQUIRED") from None
        if address.encrypted and not connection._secure:
            connection.close()
            raise pymysql.OperationalError(2026, "SSL is required but the server doesn't support it")
        with connection.cursor() as cursor:
            cursor.execute("SET time_zone = '+00:00', sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')")
        return connection

    def alive(self, connection: Any) -> bool:
        """Return whether the connection is open."""
        return bool(connection.open)

    def fault(self, error: Exception) -> Fault:
        """Return the category by number, or without one by class."""
        import pymysql

        number = _number(error)
        for numbers, fault in (
            (LOST, Fault.CONNECTION),
            (_PASSING, Fault.PASSING),
            (REFUSED, Fault.ACCESS),
            (_REJECTED, Fault.RECORD),
        ):
            if number in numbers:
                return fault
        if isinstance(error, pymysql.InterfaceError):
            return Fault.CONNECTION
        if isinstance(error, pymysql.DataError | pymysql.IntegrityError):
            return Fault.RECORD
        if isinstance(error, pymysql.ProgrammingError):
            return Fault.STATEMENT if number else Fault.RECORD  # without a number it is PyMySQL's, of a value
        return Fault.STATEMENT if 1000 < number < 2000 else Fault.OTHER

    def lacks_table(self, error: Exception) -> bool:
        """Return whether it is ER_NO_SUCH_TABLE."""
        return _number(error) == _NO_TABLE

    def text(self, error: Exception) -> str:
        """Return the message of an error with its number."""
        number = _number(error)
        words = " ".join(str(error.args[1] if number and len(error.args) > 1 else error).split())
        return f"{words} (error {number})" if number else words

    def translate(self, sql: str) -> tuple[str, int]:
        """Replace placeholders by the character that statements of this module are filled in at."""
        return translate(sql, lambda _: _MARK, MYSQL)

    def row_type(self, connection: Any, query: str) -> RowTypeInfo:
        """Return the types that the server reports."""
        cursor = connection.execute(f"SELECT * FROM ({query}\n) AS scurry_query LIMIT 0")
        fields = cursor._result.fields
        return RowTypeInfo([_type_of(field) for field in fields], [field.name for field in fields])

    def stream(self, query: str, parameters: Sequence[Any], fetch_size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Read the result of one statement as it comes: one snapshot, and `fetch_size` rows in memory."""
        from pymysql.cursors import SSCursor

        with closing(self._connect()) as connection:
            cursor = connection.cursor(SSCursor)
            connection.query("SET net_write_timeout = 3600")  # the server ends a result that is not read
            cursor.execute(filled(connection, query, parameters))
            try:
                while rows := cursor.fetchmany(fetch_size):
                    yield list(rows)
            except GeneratorExit:
                cursor._result.unbuffered_active = False  # PyMySQL would read the rest
                raise

    def create_table(self, connection: Any, name: str, columns: str) -> None:
        """Create the table only if it is missing, so that users without the privilege can use an existing one."""
        try:
            connection.execute(f"SELECT 1 FROM {name} LIMIT 0")
        except self.errors as error:
            if not self.lacks_table(error):
                raise
            kept = columns.replace(" text ", " longtext ")  # TEXT ends after 64 KB
            connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({kept}) ENGINE=InnoDB CHARACTER SET ascii")

    def keeping(self, column: str) -> str:
        """Return the clause by which INSERT keeps a row that is there."""
        return f"ON DUPLICATE KEY UPDATE {column} = {column}"

    def locking(self, table: str) -> tuple[str, ...]:
        """Insert the row, or lock it, then read it."""
        return (
            f"INSERT INTO {table} (sink_id, batch_id) VALUES (?, -1) {self.keeping('sink_id')}",
            f"SELECT batch_id FROM {table} WHERE sink_id = ? FOR UPDATE",
        )

    def check_transactions(self, connection: Any, sql: str) -> None:
        """Fail if the statement writes a table whose engine has no transactions."""
        found = _TARGET.match(sql)
        if found is None:
            return
        schema, _, table = found["name"].replace("`", "").rpartition(".")
        engine = connection.execute(
            "SELECT t.ENGINE FROM information_schema.TABLES t JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE "
            f"WHERE t.TABLE_SCHEMA = COALESCE(NULLIF({_MARK}, ''), DATABASE()) AND t.TABLE_NAME = {_MARK} AND "
            "e.TRANSACTIONS <> 'YES'",
            [schema.strip(), table.strip()],
        ).fetchone()
        if engine is not None:
            raise UnsupportedError(
                f"the table {found['name']} of {self.options.shown_url} has ENGINE={engine[0]}, which has no "
                "transactions, so its rows cannot be written exactly once"
            ).with_hint(f"ALTER TABLE {found['name']} ENGINE=InnoDB, or write by a primary key")


class MySqlConnection:
    """PyMySQL's connection with `execute`, as those of other drivers have it."""

    def __init__(self, connection: Any, autocommit: bool) -> None:
        self._connection = connection
        connection.autocommit(autocommit)
        self.commit = connection.commit
        self.rollback = connection.rollback
        self.close = connection.close

    @property
    def open(self) -> bool:
        """True if it is connected."""
        return bool(self._connection.open)

    def cursor(self) -> MySqlConnection:
        """Return a cursor, which executes statements."""
        return self

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Execute a translated statement; return the cursor with its rows."""
        cursor = self._connection.cursor()
        cursor.execute(filled(self._connection, sql, parameters))
        return cursor

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a translated statement for each row; insertions together."""
        inserting = _INSERT.fullmatch(sql.rstrip().rstrip(";"))
        if inserting is None:
            for row in rows:
                self.execute(sql, row)
            return
        head, tail = inserting["head"], inserting["tail"]
        texts: list[str] = []
        size = 0
        for row in rows:
            text = filled(self._connection, inserting["row"], row)
            if texts and size + len(text) > INSERT_CHARACTERS:
                self._connection.query(head + ",".join(texts) + tail)
                texts, size = [], 0
            texts.append(text)
            size += len(text)
        if texts:
            self._connection.query(head + ",".join(texts) + tail)


def filled(connection: Any, sql: str, parameters: Sequence[Any]) -> str:
    """Return a translated statement with its parameters as literals."""
    parts = sql.split(_MARK)
    if len(parts) != len(parameters) + 1:
        import pymysql

        raise pymysql.ProgrammingError(f"{len(parameters)} values for {len(parts) - 1} parameters")
    literals = [connection.escape(value, connection.encoders) for value in parameters]
    return parts[0] + "".join(literal + part for literal, part in zip(literals, parts[1:], strict=True))


def quoted(name: str) -> str:
    """Return a name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def _number(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _type_of(field: Any) -> TypeInformation:
    from pymysql.constants import FIELD_TYPE, FLAG

    unsigned = bool(field.flags & FLAG.UNSIGNED)
    code = field.type_code
    if code == FIELD_TYPE.TINY and field.length == 1:
        return Types.BOOLEAN()
    whole = {
        FIELD_TYPE.TINY: (Types.BYTE(), Types.SHORT()),
        FIELD_TYPE.SHORT: (Types.SHORT(), Types.INT()),
        FIELD_TYPE.INT24: (Types.INT(), Types.INT()),
        FIELD_TYPE.LONG: (Types.INT(), Types.LONG()),
        FIELD_TYPE.LONGLONG: (Types.LONG(), Types.BIG_DEC()),
        FIELD_TYPE.YEAR: (Types.INT(), Types.INT()),
    }
    if code in whole:
        return whole[code][unsigned]
    others: dict[int, TypeInformation] = {
        FIELD_TYPE.DECIMAL: Types.BIG_DEC(),
        FIELD_TYPE.NEWDECIMAL: Types.BIG_DEC(),
        FIELD_TYPE.FLOAT: Types.FLOAT(),
        FIELD_TYPE.DOUBLE: Types.DOUBLE(),
        FIELD_TYPE.DATE: Types.SQL_DATE(),
        FIELD_TYPE.TIME: Types.SQL_TIME(),
        FIELD_TYPE.DATETIME: Types.SQL_TIMESTAMP(),
        FIELD_TYPE.TIMESTAMP: Types.SQL_TIMESTAMP(),
        FIELD_TYPE.BIT: PrimitiveArrayTypeInfo(Types.BYTE()),
        FIELD_TYPE.GEOMETRY: PrimitiveArrayTypeInfo(Types.BYTE()),
    }
    if code in others:
        return others[code]
    texts = (FIELD_TYPE.JSON, FIELD_TYPE.ENUM, FIELD_TYPE.SET)
    is_bytes = field.charsetnr == _BINARY and code not in texts
    return PrimitiveArrayTypeInfo(Types.BYTE()) if is_bytes else Types.STRING()


#: The character set of bytes.
_BINARY = 63
