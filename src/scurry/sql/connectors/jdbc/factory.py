"""JdbcFactory: tables of databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.exactly_once import JdbcExactlyOnceSink
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.jdbc.sink import WRITING
from scurry.connectors.sink import Sink
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.connectors.contract import RowChanges, SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.jdbc import options as keys
from scurry.sql.connectors.jdbc.columns import TableColumns
from scurry.sql.connectors.jdbc.sink import WITHOUT_KEY, AppendSink, UpsertSink
from scurry.sql.connectors.jdbc.source import JdbcTableSource
from scurry.sql.connectors.jdbc.statements import dialect_of
from scurry.sql.connectors.jdbc.values import column_values
from scurry.sql.connectors.lookups import LOOKUP_RETRIES
from scurry.sql.connectors.partitions import numeric_ranges
from scurry.sql.connectors.reducing import ReducingSink
from scurry.sql.formats.contract import names_and_types


class JdbcFactory(TableFactory):
    """Make sources and sinks of tables in databases."""

    identifier = "jdbc"
    with_watermark_options = True
    row_changes = RowChanges.BY_KEY

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return keys.OPTIONS

    def check(self, context: TableContext) -> Options:
        """Return the options after checking them."""
        options = super().check(context)
        keys.check_values(options)
        return options

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of the rows of a table."""
        options = self.check(context)
        columns = _columns(context, options)
        return JdbcTableSource(
            keys.connection_of(options),
            options.get(keys.TABLE_NAME),
            columns,
            numeric_ranges(options),
            options.get(keys.FETCH_SIZE),
            options.get(LOOKUP_RETRIES),
            keys.lookup_cache(options),
        )

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept changes by the primary key; without one, inserted rows."""
        if context.schema.get_primary_key() is not None:
            return SinkChanges("UPSERT")
        return SinkChanges("INSERT", WITHOUT_KEY)

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink that inserts rows, by the primary key if the table has one."""
        options = self.check(context)
        columns, table = _columns(context, options), options.get(keys.TABLE_NAME)
        dialect = columns.dialect
        key = context.schema.get_primary_key()
        creation = dialect.create(table, columns.names, columns.types, () if key is None else key.columns)
        connection, execution = replace(keys.connection_of(options), creation=creation), keys.execution_of(options)
        if target.change is not None:
            assert key is not None, "rows change by their key"
            changed, by = target.change.columns, tuple(key.columns)
            changing = dialect.update(table, changed, by) if changed else dialect.delete(table, by)
            columns = columns.select((*changed, *by))
            return AppendSink(JdbcExactlyOnceSink(changing, columns.row_type(), connection, execution), columns)
        if key is not None:
            by_key = UpsertSink(table, tuple(key.columns), columns, connection, execution.get_max_retries())
            places = tuple(map(columns.names.index, key.columns))
            return ReducingSink(by_key, places, execution.get_batch_size(), execution.get_batch_interval_ms())
        inserting = dialect.insert(table, columns.names)
        return AppendSink(JdbcExactlyOnceSink(inserting, columns.row_type(), connection, execution), columns)

    def truncate(self, context: TableContext) -> None:
        """Remove all rows, in one transaction."""
        options = self.check(context)
        session = JdbcSession(database_of(keys.connection_of(options)), keys.execution_of(options).get_max_retries())
        removing = dialect_of(options.get(keys.URL)).delete_all(options.get(keys.TABLE_NAME))
        try:
            session.transact(lambda connection: connection.execute(removing), WRITING)
        finally:
            session.close()


def _columns(context: TableContext, options: Options) -> TableColumns:
    dialect = dialect_of(options.get(keys.URL))
    names, types = names_and_types(context.physical_columns)
    for name, kind in zip(names, types, strict=True):
        column_values(kind, dialect, name)
    return TableColumns(tuple(names), tuple(types), dialect)
