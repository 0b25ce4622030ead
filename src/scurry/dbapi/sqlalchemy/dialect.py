"""ScurryDialect: connects, and looks into catalogs by SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from sqlalchemy import exc, pool, schema
from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultDialect, DefaultExecutionContext

from scurry import dbapi as module
from scurry.dbapi.sqlalchemy.compiler import ScurryCompiler, ScurryDDLCompiler, ScurryIdentifierPreparer
from scurry.dbapi.sqlalchemy.types import COLSPECS, ScurryTypeCompiler, type_of
from scurry.sql.syntax.unparse.dispatch import quoted

__all__ = ["ScurryDialect"]

_KEY = re.compile(r"PRI\((.*)\)", re.DOTALL)
_COMMENT = re.compile(r"^COMMENT '((?:[^']|'')*)'$", re.MULTILINE)
_VIEW = re.compile(r"^(?:CREATE .*?\)\s*)?AS ", re.DOTALL)
_LOST = ("no SQL gateway answers", "does not exist.", "the connection is closed")


_Answer = TypeVar("_Answer")


def _remembered(method: Callable[..., _Answer]) -> Callable[..., _Answer]:
    """Let an inspector remember answers; the decorator of SQLAlchemy 1.4 does not understand annotations."""

    @wraps(method)
    def answer(self: ScurryDialect, connection: Any, *names: str | None, **kw: Any) -> _Answer:
        known: dict[Any, Any] | None = kw.get("info_cache")
        if known is None:
            return method(self, connection, *names, **kw)
        asked = (method.__name__, *names, *sorted((key, each) for key, each in kw.items() if isinstance(each, str)))
        if asked not in known:
            known[asked] = method(self, connection, *names, **kw)
        found: _Answer = known[asked]
        return found

    return answer


class ScurryExecutionContext(DefaultExecutionContext):
    """Gives cursors the time limit of the execution option `timeout`, in seconds."""

    def create_default_cursor(self) -> Any:
        """Return a new cursor."""
        cursor: Any = super().create_default_cursor()
        if "timeout" in self.execution_options:
            cursor.timeout = self.execution_options["timeout"]
        return cursor


class ScurryDialect(DefaultDialect):
    """SQL in this process (`scurry://`), in one session for the whole engine, or in a gateway (`scurry://HOST:PORT`).

    Schemas are databases of the current catalog, or `catalog.database`. There are no transactions: COMMIT and ROLLBACK
    do nothing.
    """

    name = "scurry"
    driver = "dbapi"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_alter = False
    supports_comments = True
    inline_comments = True
    supports_default_values = False
    supports_empty_insert = False
    supports_multivalues_insert = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    postfetch_lastrowid = False
    max_identifier_length = 255
    div_is_floordiv = True
    statement_compiler = ScurryCompiler
    ddl_compiler = ScurryDDLCompiler
    type_compiler_cls = ScurryTypeCompiler
    type_compiler: Any = ScurryTypeCompiler  # the name of SQLAlchemy 1.4
    preparer: Any = ScurryIdentifierPreparer
    execution_ctx_cls = ScurryExecutionContext
    colspecs = COLSPECS
    construct_arguments = [(schema.Table, {"with": None, "partitioned_by": None})]

    def __init__(self, table_options: Mapping[str, str] | None = None, **kw: Any) -> None:
        """Make the dialect; `create_engine` does.

        Args:
            table_options: Options of tables that are created, beside those of `Table(..., scurry_with={...})`.
            kw: Arguments of all dialects.
        """
        super().__init__(**kw)
        self.table_options = table_options

    @classmethod
    def import_dbapi(cls) -> Any:
        """Return the module of PEP 249."""
        return module

    @classmethod
    def dbapi(cls) -> Any:  # type: ignore[override]
        """Return the module of PEP 249, by the name of SQLAlchemy 1.4."""
        return cls.import_dbapi()

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        """Return a pool: this process has one session, whose tables all connections of the engine see."""
        return pool.QueuePool if url.host else pool.StaticPool

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of `scurry.dbapi.connect`."""
        names = [name for name in (url.database or "").split("/") if name]
        if len(names) > 2:
            raise exc.ArgumentError("the path of the URL is /CATALOG or /CATALOG/DATABASE")
        where = URL.create("scurry", host=url.host, port=url.port, query=url.query)
        given = dict(zip(("catalog", "database"), names, strict=False))
        password = None if url.password is None else str(url.password)
        return [where.render_as_string()], {**given, **({"token": password} if password else {})}

    # ------------------------------------------------------------------ transactions, and lost connections

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Do nothing: there are no transactions."""

    def do_commit(self, dbapi_connection: Any) -> None:
        """Do nothing: there are no transactions."""
        dbapi_connection.commit()

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Ask the session for its database."""
        cursor = dbapi_connection.cursor()
        cursor.execute("SHOW CURRENT DATABASE")
        cursor.close()
        return True

    def is_disconnect(self, e: Exception, connection: Any, cursor: Any) -> bool:
        """Return whether the session has gone."""
        return isinstance(e, module.OperationalError | module.InterfaceError) and any(each in str(e) for each in _LOST)

    def get_isolation_level_values(self, dbapi_conn: Any) -> list[Any]:
        """Return AUTOCOMMIT alone."""
        return ["AUTOCOMMIT"]

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        """Return AUTOCOMMIT."""
        return "AUTOCOMMIT"

    def get_default_isolation_level(self, dbapi_conn: Any) -> Any:
        """Return AUTOCOMMIT."""
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        """Do nothing: there is one level."""

    # ------------------------------------------------------------------ catalogs

    def _get_default_schema_name(self, connection: Any) -> str:
        return str(_names(connection, "SHOW CURRENT DATABASE")[0])

    @_remembered
    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        """Return the databases: of the current catalog by name, of others as `catalog.database`."""
        current = _names(connection, "SHOW CURRENT CATALOG")[0]
        found = _names(connection, "SHOW DATABASES")
        for catalog in _names(connection, "SHOW CATALOGS"):
            if catalog != current:
                found += [f"{catalog}.{each}" for each in _names(connection, f"SHOW DATABASES IN {quoted(catalog)}")]
        return found

    def has_schema(self, connection: Any, schema_name: str, **kw: Any) -> bool:
        """Return whether there is a database."""
        return schema_name in self.get_schema_names(connection, **kw)

    @_remembered
    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        """Return whether there is a table or view."""
        if schema is not None and not self.has_schema(connection, schema):
            return False
        return table_name in _names(connection, self._shown("TABLES", schema))

    @_remembered
    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        """Return the tables of a database, materialized and temporary ones among them, without views."""
        views = set(_names(connection, self._shown("VIEWS", schema)))
        return [name for name in _names(connection, self._shown("TABLES", schema)) if name not in views]

    @_remembered
    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        """Return the views of a database."""
        return _names(connection, self._shown("VIEWS", schema))

    @_remembered
    def get_view_definition(self, connection: Any, view_name: str, schema: str | None = None, **kw: Any) -> str:
        """Return the query of a view."""
        if view_name not in self.get_view_names(connection, schema):
            raise exc.NoSuchTableError(view_name)
        text = _names(connection, f"SHOW CREATE VIEW {self._named(view_name, schema)}")[0]
        return _VIEW.sub("", text, count=1)

    @_remembered
    def get_columns(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        """Return name, type, whether NULL may be, comment and expression of each column."""
        found = []
        for row in self._described(connection, table_name, schema):
            column = {
                "name": row["name"],
                "type": type_of(row["type"]),
                "nullable": row["null"],
                "default": None,
                "comment": row.get("comment") or None,
            }
            if (row["extras"] or "").startswith("AS "):
                column["computed"] = {"sqltext": row["extras"].removeprefix("AS "), "persisted": False}
            found.append(column)
        return found

    @_remembered
    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """Return the columns of the primary key."""
        keys = {row["name"]: row["key"] for row in self._described(connection, table_name, schema) if row["key"]}
        columns = list(keys)
        for text in keys.values():
            listed = _KEY.fullmatch(text)
            names = listed[1].split(", ") if listed else []
            if sorted(names) == sorted(keys):  # not of names with commas
                columns = names
            break
        return {"constrained_columns": columns, "name": None}

    @_remembered
    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        """Return nothing: there are no foreign keys."""
        return self._nothing(connection, table_name, schema)

    @_remembered
    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        """Return nothing: there are no indexes."""
        return self._nothing(connection, table_name, schema)

    @_remembered
    def get_unique_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        """Return nothing: there are no unique constraints."""
        return self._nothing(connection, table_name, schema)

    @_remembered
    def get_check_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        """Return nothing: there are no check constraints."""
        return self._nothing(connection, table_name, schema)

    @_remembered
    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """Return the comment of a table."""
        self._nothing(connection, table_name, schema)
        if table_name in self.get_view_names(connection, schema):
            return {"text": None}
        text = _names(connection, f"SHOW CREATE TABLE {self._named(table_name, schema)}")[0]
        found = _COMMENT.search(text)
        return {"text": found[1].replace("''", "'") if found else None}

    def _nothing(self, connection: Any, table_name: str, schema: str | None) -> list[Any]:
        if not self.has_table(connection, table_name, schema):
            raise exc.NoSuchTableError(table_name if schema is None else f"{schema}.{table_name}")
        return []

    def _described(self, connection: Any, table_name: str, schema: str | None) -> list[dict[str, Any]]:
        self._nothing(connection, table_name, schema)
        result = connection.exec_driver_sql(f"DESCRIBE {self._named(table_name, schema)}")
        return [dict(row) for row in result.mappings()]

    def _named(self, name: str, schema: str | None) -> str:
        return quoted(name) if schema is None else f"{self._schema(schema)}.{quoted(name)}"

    def _shown(self, what: str, schema: str | None) -> str:
        return f"SHOW {what}" + ("" if schema is None else f" IN {self._schema(schema)}")

    def _schema(self, schema: str) -> str:
        return ".".join(map(quoted, schema.split(".", 1)))


def _names(connection: Any, statement: str) -> list[str]:
    return [str(row[0]) for row in connection.exec_driver_sql(statement)]
