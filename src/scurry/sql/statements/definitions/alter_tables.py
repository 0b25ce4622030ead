"""ALTER TABLE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier, escape_identifier
from scurry.sql.catalog.materialized import CatalogMaterializedTable
from scurry.sql.catalog.schema import UniqueConstraint
from scurry.sql.catalog.table_options import explained
from scurry.sql.statements.definitions.partitions import alter_partitions
from scurry.sql.statements.definitions.schemas import Definition, PendingColumn, pending_columns, resolve_schema
from scurry.sql.statements.definitions.tables import constraints_of, distribution_of
from scurry.sql.statements.listing.show_create import distribution_text
from scurry.sql.statements.names import options_of, qualified
from scurry.sql.statements.results import StatementResult, ok
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes

_Action = Callable[[TableSession, ObjectIdentifier, CatalogTable, Any], CatalogTable]


def alter_table(session: TableSession, statement: nodes.AlterTable) -> StatementResult:
    """Change a table.

    Raises:
        ValidationError: There is no such table, or the change does not fit it.
    """
    identifier = qualified(session, statement.name)
    found = session.catalogs.find_table(identifier)
    if found is None or found.temporary:
        if statement.if_exists:
            return ok()
        raise ValidationError(f"Table {identifier} doesn't exist or is a temporary table.").with_hint(
            "" if found else session.catalogs.similar(identifier.path)
        )
    if not isinstance(found.table, CatalogTable):
        raise ValidationError("ALTER TABLE for a view is not allowed")
    if isinstance(found.table, CatalogMaterializedTable):
        raise ValidationError("ALTER TABLE for a materialized table is not allowed")
    action = statement.action
    if isinstance(action, nodes.RenameTo):
        session.catalogs.rename_table(identifier, action.name.last)
        return ok()
    if isinstance(action, nodes.AddPartitions | nodes.DropPartitions):
        alter_partitions(session, identifier, action)
        return ok()
    session.catalogs.alter_table(changed_table(session, identifier, found.table, action), identifier)
    return ok()


def changed_table(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: nodes.AlterAction
) -> CatalogTable:
    """Return a table as an action of ALTER TABLE changes it.

    Raises:
        ValidationError: The change does not fit the table.
    """
    change = _ACTIONS.get(type(action))
    if change is None:
        raise ValidationError(f"ALTER TABLE with {type(action).__name__} is not supported")
    return change(session, identifier, table, action)


def _failed(message: str, missing: str = "", known: Sequence[str] = ()) -> ValidationError:
    error = ValidationError(f"Failed to execute ALTER TABLE statement.\n{message}")
    error.about = missing
    return error.with_hint(did_you_mean(missing, known))


def _set(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: nodes.SetProperties
) -> CatalogTable:
    return replace(table, options={**table.options, **options_of(action.properties)})


def _reset(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: nodes.ResetProperties
) -> CatalogTable:
    keys = [key.value for key in action.keys]
    if not keys:
        raise ValidationError("ALTER TABLE RESET does not support empty key")
    if "connector" in keys:
        raise ValidationError("ALTER TABLE RESET does not support changing 'connector'")
    return replace(table, options={key: value for key, value in table.options.items() if key not in keys})


def _changed(session: TableSession, table: CatalogTable, definition: Definition) -> CatalogTable:
    try:
        return replace(table, schema=resolve_schema(session, definition))
    except ValidationError as error:
        raise explained(error, str(_failed(str(error)))) from None


def _add(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: nodes.AddSchema
) -> CatalogTable:
    definition = Definition.of(table.schema)
    columns = list(definition.columns)
    for column, pending in zip(action.schema.columns, _columns_of(action), strict=True):
        if pending.name in [each.name for each in columns]:
            raise _failed(f"Column {escape_identifier(pending.name)} already exists in the table.")
        columns.insert(_position(columns, column.position, len(columns)), pending)
    definition = replace(definition, columns=columns)
    key, spans = constraints_of(action.schema)
    if key is not None:
        if definition.key is not None:
            listed = ", ".join(map(escape_identifier, definition.key.columns))
            raise _failed(
                f"The current table has already defined the primary key constraint [{listed}]. You might want to drop "
                "it before adding a new one."
            )
        _check_key(columns, key)
        definition = replace(definition, key=key, key_spans=spans)
    if action.schema.watermark is not None:
        specs = table.schema.get_watermark_specs()
        if specs:
            raise _failed(
                f"The current table has already defined the watermark strategy "
                f"{escape_identifier(specs[0].rowtime_attribute)} AS {specs[0].watermark_expression.text}. You might "
                "want to drop it before adding a new one."
            )
        definition = _with_watermark(definition, action.schema.watermark)
    return _changed(session, table, definition)


def _columns_of(action: nodes.AddSchema | nodes.ModifySchema) -> list[PendingColumn]:
    names = [column.name.last for column in action.schema.columns]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise _failed(f"Encounter duplicate column {escape_identifier(name)}.")
    return pending_columns(action.schema.columns)


def _check_key(columns: Sequence[PendingColumn], key: UniqueConstraint) -> None:
    names = [column.name for column in columns]
    for name in key.columns:
        if name not in names:
            raise _failed(f"Invalid primary key '{key.name}'. Column '{name}' does not exist.", name, names)


def _with_watermark(definition: Definition, watermark: nodes.Watermark) -> Definition:
    return replace(
        definition, watermark=(watermark.column.last, watermark.expression), watermark_span=watermark.column.span
    )


def _position(columns: Sequence[PendingColumn], position: nodes.ColumnPosition | None, default: int) -> int:
    if position is None:
        return default
    if position.after is None:
        return 0
    names = [column.name for column in columns]
    if position.after.last not in names:
        after = position.after.last
        text = f"Referenced column {escape_identifier(after)} by 'AFTER' does not exist in the table."
        raise _failed(text, after, names)
    return names.index(position.after.last) + 1


def _modify(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: nodes.ModifySchema
) -> CatalogTable:
    definition = Definition.of(table.schema)
    columns = list(definition.columns)
    for column, pending in zip(action.schema.columns, _columns_of(action), strict=True):
        names = [each.name for each in columns]
        if pending.name not in names:
            text = f"Column {escape_identifier(pending.name)} does not exist in the table."
            raise _failed(text, pending.name, names)
        place = names.index(pending.name)
        target = _position(columns, column.position, place)
        before = columns.pop(place)
        pending = pending if pending.comment is not None else replace(pending, comment=before.comment)
        columns.insert(target - (target > place), pending)
    definition = replace(definition, columns=columns)
    key, spans = constraints_of(action.schema)
    if key is not None:
        if definition.key is None:
            raise _failed(
                "The current table does not define any primary key constraint. You might want to add a new one."
            )
        _check_key(columns, key)
        definition = replace(definition, key=key, key_spans=spans)
    if action.schema.watermark is not None:
        if definition.watermark is None:
            raise _failed("The current table does not define any watermark. You might want to add a new one.")
        definition = _with_watermark(definition, action.schema.watermark)
    return _changed(session, table, definition)


def _rename(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: nodes.RenameColumn
) -> CatalogTable:
    definition = Definition.of(table.schema)
    old, new = action.column.last, action.name.last
    names = [column.name for column in definition.columns]
    if old not in names:
        raise _failed(f"The column {escape_identifier(old)} does not exist in the base table.", old, names)
    if new in names:
        raise _failed(f"The column {escape_identifier(new)} already existed in table schema.")
    _refuse_referenced(definition, old, set())
    _refuse_keys_of_files(table, old)
    columns = [replace(c, name=new) if c.name == old else c for c in definition.columns]
    watermark, key = definition.watermark, definition.key
    if watermark is not None and _mentions(watermark[1], old):
        raise _failed(f"The column {escape_identifier(old)} is referenced by watermark expression.")
    if key is not None:
        key = replace(key, columns=tuple(new if name == old else name for name in key.columns))
    return _changed(session, table, replace(definition, columns=columns, key=key))


def _drop_columns(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: nodes.DropColumns
) -> CatalogTable:
    definition = Definition.of(table.schema)
    names = [column.name for column in definition.columns]
    dropped: set[str] = set()
    for column in action.columns:
        name = column.last
        if name not in names:
            raise _failed(f"The column {escape_identifier(name)} does not exist in the base table.", name, names)
        if name in dropped:
            raise _failed(f"Duplicate column {escape_identifier(name)}.")
        dropped.add(name)
    for column in action.columns:
        name = column.last
        _refuse_referenced(definition, name, dropped)
        _refuse_keys_of_files(table, name)
        if definition.key is not None and name in definition.key.columns:
            raise _failed(f"The column {escape_identifier(name)} is used as the primary key.")
        watermark = definition.watermark
        if watermark is not None and (watermark[0] == name or _mentions(watermark[1], name)):
            raise _failed(f"The column {escape_identifier(name)} is referenced by watermark expression.")
    columns = [column for column in definition.columns if column.name not in dropped]
    return _changed(session, table, replace(definition, columns=columns))


def _refuse_referenced(definition: Definition, name: str, dropped: set[str]) -> None:
    referring = [
        escape_identifier(column.name)
        for column in definition.columns
        if column.expression is not None and column.name not in dropped and _mentions(column.expression, name)
    ]
    if referring:
        raise _failed(f"The column {escape_identifier(name)} is referenced by computed column {', '.join(referring)}.")


def _refuse_keys_of_files(table: CatalogTable, name: str) -> None:
    if name in table.partition_keys:
        raise _failed(f"The column {escape_identifier(name)} is used as the partition keys.")
    if table.distribution is not None and name in table.distribution.columns:
        raise _failed(f"The column {escape_identifier(name)} is used as a distribution key.")


def _mentions(expression: nodes.Expression, name: str) -> bool:
    return any(isinstance(node, nodes.Identifier) and name in node.names for node in nodes.walk(expression))


def _drop_watermark(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: nodes.DropWatermark
) -> CatalogTable:
    definition = Definition.of(table.schema)
    if definition.watermark is None:
        raise _failed("The current table does not define any watermark strategy.")
    return _changed(session, table, replace(definition, watermark=None))


def _drop_key(session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: Any) -> CatalogTable:
    definition = Definition.of(table.schema)
    if definition.key is None:
        raise _failed("The current table does not define any primary key.")
    if isinstance(action, nodes.DropConstraint) and action.name.last != definition.key.name:
        raise _failed(
            f"The current table does not define a primary key constraint named '{action.name.last}'. Available "
            f"constraint name: ['{definition.key.name}']."
        )
    return _changed(session, table, replace(definition, key=None))


def _distribute(session: TableSession, identifier: ObjectIdentifier, table: CatalogTable, action: Any) -> CatalogTable:
    if isinstance(action, nodes.AddDistribution) and table.distribution is not None:
        defined = distribution_text(table.distribution)
        raise _failed(
            f"The current table has already defined the distribution `{defined}`. You can modify it or drop it before "
            "adding a new one."
        )
    if not isinstance(action, nodes.AddDistribution) and table.distribution is None:
        if isinstance(action, nodes.DropDistribution):
            raise _failed(f"Table {identifier} does not have a distribution to drop.")
        raise _failed("The base table does not define any distribution. You might want to add a new one.")
    if isinstance(action, nodes.DropDistribution):
        return replace(table, distribution=None)
    return replace(table, distribution=distribution_of(action.distribution))


_ACTIONS: dict[type[nodes.AlterAction], _Action] = {
    nodes.AddDistribution: _distribute,
    nodes.AddSchema: _add,
    nodes.DropColumns: _drop_columns,
    nodes.DropConstraint: _drop_key,
    nodes.DropDistribution: _distribute,
    nodes.DropPrimaryKey: _drop_key,
    nodes.DropWatermark: _drop_watermark,
    nodes.ModifyDistribution: _distribute,
    nodes.ModifySchema: _modify,
    nodes.RenameColumn: _rename,
    nodes.ResetProperties: _reset,
    nodes.SetProperties: _set,
}
