"""The methods of a StreamTableEnvironment, which convert streams to tables and tables to streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.common._api import ApiObject
from scurry.common.typeinfo import TypeInformation
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scurry.table._definitions import definition_of_schema
from scurry.table.changelog_mode import ChangelogMode
from scurry.table.schema import Schema
from scurry.table.table import Table

if TYPE_CHECKING:
    from scurry.graph.nodes import OperatorNode
    from scurry.sql.statements.session import TableSession
    from scurry.sql.statements.streams.records import Conversion


class StreamConversions(ApiObject):
    """Conversions between the tables of an environment and streams."""

    _session: TableSession
    #: the StreamExecutionEnvironment, or None
    _streams: Any = None
    #: how many streams and tables were converted
    _conversions = 0

    # ------------------------------------------------------------------ streams to tables

    def from_data_stream(self, data_stream: Any, *fields_or_schema: Any) -> Table:
        """Return the table of a stream whose records are rows that are added.

        Without a schema the columns are those of the declared type of the stream: the fields of Rows, tuples (`f0`,
        `f1` ...) and dataclasses; any other record is the column `f0`.

        Args:
            data_stream: The stream.
            *fields_or_schema: A `Schema`: columns, computed columns, the metadata `rowtime` (the timestamps of the
                records) and a watermark, for which `SOURCE_WATERMARK()` means the watermarks of the stream. Or
                expressions: the fields by name or by position, with aliases.

        Raises:
            ValidationError: The declared type has no columns, or the schema does not fit it.
            ValueError: The other arguments are neither a schema nor expressions.
        """
        return self._from_stream(data_stream, fields_or_schema, ChangelogMode.insert_only())

    def from_changelog_stream(
        self, data_stream: Any, schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> Table:
        """Return the table of a stream of Rows whose kinds say how they change the table.

        Args:
            data_stream: The stream.
            schema: As for `from_data_stream`, also with a primary key; None for the columns of the declared type.
            changelog_mode: The kinds that the Rows have; None for all.

        Raises:
            ValidationError: The declared type has no columns, or the schema does not fit it.
        """
        mode = changelog_mode or ChangelogMode.all()
        return self._from_stream(data_stream, () if schema is None else (schema,), mode)

    def _from_stream(self, stream: Any, fields_or_schema: tuple[Any, ...], mode: ChangelogMode) -> Table:
        from scurry.sql.statements.streams.tables import table_of_stream

        if not hasattr(stream, "_node") or not hasattr(stream, "_env"):
            raise ArgumentTypeError(f"expected a DataStream, got {stream!r}")
        definition, fields = None, ()
        if len(fields_or_schema) == 1 and isinstance(fields_or_schema[0], Schema):
            definition = definition_of_schema(fields_or_schema[0])
        else:
            fields = self._checked_fields(fields_or_schema)
        self._conversions += 1
        name = f"*anonymous_datastream_source${self._conversions}*"
        node = stream._node
        if fields:
            from scurry.sql.statements.streams.fields import table_of_fields

            return Table(self._tables(), table_of_fields(self._session, node, node.output_type, fields, name))
        made = table_of_stream(self._session, node, node.output_type, definition, mode._kinds, name)
        table = Table(self._tables(), made.plan, made.schema)
        if made.unchanged:
            table._stream = stream
        return table

    def _checked_fields(self, fields: tuple[Any, ...]) -> tuple[Any, ...]:
        if not fields:
            return ()
        from scurry.table.expression import Expression

        if not all(isinstance(each, Expression) for each in fields):
            raise ArgumentError(f"Invalid arguments for 'fields': {fields[0] if len(fields) == 1 else fields!r}")
        return tuple((each._node, each._names) for each in fields)

    # ------------------------------------------------------------------ tables to streams

    def to_data_stream(self, table: Table) -> Any:
        """Return the rows of a table as a stream of Rows; watermarks are kept.

        The timestamps of the records are the table's rowtime column, if it has one.

        Args:
            table: The table, whose rows are only added.

        Raises:
            ValidationError: The table has other changes, or several rowtime columns.
        """
        from scurry.sql.statements.streams.records import records

        stream = self._table(table)._stream
        return stream if stream is not None else self._to_stream(table, records(table._plan))

    def to_changelog_stream(
        self, table: Table, target_schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> Any:
        """Return the changes of a table as a stream of Rows with kinds; watermarks are kept.

        Args:
            table: The table.
            target_schema: The columns of the Rows and their types, by position, and a primary key. A column of the
                metadata `rowtime` becomes the timestamps of the records. None for the table's columns.
            changelog_mode: The kinds that the Rows may have; None for all.

        Raises:
            ValidationError: The table has other changes than the mode, or the schema does not fit.
        """
        from scurry.sql.statements.streams.records import changelog

        definition = None if target_schema is None else definition_of_schema(target_schema)
        mode = changelog_mode or ChangelogMode.all()
        plan = self._table(table)._plan
        return self._to_stream(table, changelog(self._session, plan, definition, mode._changes))

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> Any:
        """Return the rows of a table as a stream of a type; `to_data_stream` is newer.

        Args:
            table: The table, whose rows are only added.
            type_info: The type of the records: of Rows, tuples, or of the only column.

        Raises:
            ValidationError: The table has other changes, or the type does not fit.
        """
        from scurry.sql.statements.streams.records import legacy

        return self._to_stream(table, legacy(type_info, retract=False))

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> Any:
        """Return the changes of a table as a stream of pairs; `to_changelog_stream` is newer.

        Args:
            table: The table.
            type_info: The type of the rows: of Rows, tuples, or of the only column.

        Returns:
            A stream of tuples: whether the row is added (True) or taken back (False), and the row.

        Raises:
            ValidationError: The type does not fit.
        """
        from scurry.sql.statements.streams.records import legacy

        return self._to_stream(table, legacy(type_info, retract=True))

    def _to_stream(self, table: Table, conversion: Conversion) -> Any:
        from scurry.sql.statements.streams.records import stream_of_table

        environment, checked = self._stream_environment(), self._table(table)
        prefix = self._next_conversion()
        name = f"*anonymous_datastream_sink${self._conversions}*"
        node = stream_of_table(checked._executing, checked._plan, conversion, name, prefix)
        return environment._stream(node)

    def _table(self, table: Any) -> Table:
        if not isinstance(table, Table):
            raise ArgumentTypeError(f"expected a Table, got {table!r}")
        return table

    def _next_conversion(self) -> str:
        self._conversions += 1
        return f"table-{self._conversions}-"

    def _stream_environment(self) -> Any:
        if self._streams is None:
            raise UnsupportedError(
                "tables become streams of a StreamExecutionEnvironment: give it to StreamTableEnvironment.create(env)"
            )
        return self._streams

    def _attach(self, nodes: list[OperatorNode]) -> None:
        for node in nodes:
            self._stream_environment()._register(node)

    def _tables(self) -> Any:
        return self
