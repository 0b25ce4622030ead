"""The canonical text of CREATE, DROP and ALTER."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.syntax.nodes import (
    AddDistribution,
    AddPartitions,
    AddSchema,
    AlterAction,
    AlterCatalog,
    AlterConnection,
    AlterDatabase,
    AlterFunction,
    AlterMaterializedTable,
    AlterModel,
    AlterTable,
    AlterView,
    CreateCatalog,
    CreateConnection,
    CreateDatabase,
    CreateFunction,
    CreateMaterializedTable,
    CreateModel,
    CreateTable,
    CreateView,
    Distribution,
    Drop,
    DropCatalog,
    DropColumns,
    DropConnection,
    DropConstraint,
    DropDatabase,
    DropDistribution,
    DropFunction,
    DropMaterializedTable,
    DropModel,
    DropPartitions,
    DropPrimaryKey,
    DropTable,
    DropView,
    DropWatermark,
    Identifier,
    ModifyDistribution,
    ModifySchema,
    Node,
    Property,
    Refresh,
    RenameColumn,
    RenameTo,
    ResetProperties,
    Resume,
    SetComment,
    SetFreshness,
    SetProperties,
    SetQuery,
    SetRefreshMode,
    Suspend,
    TableSchema,
)
from scurry.sql.syntax.unparse.columns import block, distribution, keys, like_clause, partition, properties, schema
from scurry.sql.syntax.unparse.dispatch import write
from scurry.sql.syntax.unparse.text import identifier, names, string


def _if_not_exists(written: bool) -> str:
    return "IF NOT EXISTS " if written else ""


def _comment(text: str | None) -> list[str]:
    return [] if text is None else [f"COMMENT {string(text)}"]


def _with(items: tuple[Property, ...] | None) -> list[str]:
    return [f"WITH {properties(items)}"] if items else []


def _scope(node: CreateFunction | AlterFunction | DropFunction | CreateConnection | DropConnection) -> str:
    return ("TEMPORARY " if node.temporary else "") + ("SYSTEM " if node.system else "")


def _table_parts(
    node: CreateTable | CreateMaterializedTable, head: str, columns: TableSchema | None, spread: Distribution | None
) -> list[str]:
    """Return the common part of tables and materialized tables, a line each."""
    parts = [head if columns is None else f"{head} {schema(columns)}"]
    parts += _comment(node.comment)
    if spread is not None:
        parts.append(f"DISTRIBUTED {distribution(spread)}")
    if node.partitioned_by:
        parts.append(f"PARTITIONED BY {names(node.partitioned_by)}")
    return parts + _with(node.properties)


def _create_table(node: CreateTable) -> str:
    if node.replace is not None:
        return _replace_table(node)
    words = f"CREATE {'TEMPORARY ' if node.temporary else ''}TABLE"
    head = f"{words} {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    parts = _table_parts(node, head, node.schema, node.distribution)
    if node.like is not None:
        parts.append(like_clause(node.like))
    if node.query is not None:
        parts += ["AS", write(node.query)]
    return "\n".join(parts)


def _replace_table(node: CreateTable) -> str:
    """Return the text of REPLACE TABLE, where Flink leaves out columns, distribution and partitions."""
    head = f"{node.replace} TABLE {identifier(node.name)}"
    parts = [head, *_comment(node.comment), *_with(node.properties)]
    return "\n".join(parts if node.query is None else [*parts, "AS", write(node.query)])


def _create_materialized_table(node: CreateMaterializedTable) -> str:
    words = f"CREATE {'OR ALTER ' if node.or_alter else ''}MATERIALIZED TABLE"
    head = f"{words} {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    parts = _table_parts(node, head, node.schema, node.distribution)
    if node.start_mode is not None:
        parts.append(f"START_MODE = {_start_mode(node.start_mode)}")
    if node.freshness is not None:
        parts.append(f"FRESHNESS = {write(node.freshness)}")
    if node.refresh_mode is not None:
        parts.append(f"REFRESH_MODE = {node.refresh_mode}")
    return "\n".join([*parts, "AS", write(node.query)])


def _start_mode(node: Any) -> str:
    """Return the text of a start mode, whose words are no names."""
    if isinstance(node, Identifier):
        return node.last.upper()
    text = write(node)
    return text.replace(identifier(node.name), node.name.last.upper(), 1) if hasattr(node, "name") else text


def _create_view(node: CreateView) -> str:
    words = f"CREATE {'TEMPORARY ' if node.temporary else ''}VIEW"
    head = f"{words} {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    columns = f" {names(node.columns)}" if node.columns else ""
    return "\n".join([head + columns, *_comment(node.comment), "AS", write(node.query)])


def _create_named(kind: str) -> Callable[[Any], str]:
    def write(node: CreateCatalog | CreateDatabase) -> str:
        head = f"CREATE {kind} {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
        return "\n".join([head, *_comment(node.comment), *_with(node.properties)])

    return write


def _create_connection(node: CreateConnection) -> str:
    head = f"CREATE {_scope(node)}CONNECTION {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    return "\n".join([head, *_comment(node.comment), *_with(node.properties)])


def _create_function(node: CreateFunction) -> str:
    text = f"CREATE {_scope(node)}FUNCTION {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    text += _function_body(node)
    return "\n".join([text, *_with(node.properties)])


def _function_body(node: CreateFunction | AlterFunction) -> str:
    text = f" AS {string(node.class_name.value)}"
    if node.language is not None:
        text += f" LANGUAGE {node.language}"
    if node.resources:
        text += " USING " + ", ".join([f"JAR {string(path)}" for path in node.resources])
    return text


def _create_model(node: CreateModel) -> str:
    words = f"CREATE {'TEMPORARY ' if node.temporary else ''}MODEL"
    head = f"{words} {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    head += "" if node.input is None else f" INPUT {schema(node.input)}"
    head += "" if node.output is None else f" OUTPUT {schema(node.output)}"
    parts = [head, *_comment(node.comment), *_with(node.properties)]
    return "\n".join(parts if node.query is None else [*parts, "AS", write(node.query)])


def _drop(kind: str) -> Callable[[Any], str]:
    def write(node: Drop) -> str:
        words = f"DROP {'TEMPORARY ' if node.temporary else ''}{kind}"
        text = f"{words} {'IF EXISTS ' if node.if_exists else ''}{identifier(node.name)}"
        if isinstance(node, DropDatabase):
            text += " CASCADE" if node.cascade else " RESTRICT"
        return text

    return write


def _drop_scoped(kind: str) -> Callable[[Any], str]:
    def write(node: DropFunction | DropConnection) -> str:
        return f"DROP {_scope(node)}{kind} {'IF EXISTS ' if node.if_exists else ''}{identifier(node.name)}"

    return write


def _alter(kind: str) -> Callable[[Any], str]:
    def write(node: Any) -> str:
        exists = "IF EXISTS " if getattr(node, "if_exists", False) else ""
        action = _ACTIONS[type(node.action)](node.action)
        separator = "\n" if isinstance(node.action, AddPartitions | DropPartitions | SetQuery) else " "
        return f"ALTER {kind} {exists}{identifier(node.name)}{separator}{action}"

    return write


def _alter_function(node: AlterFunction) -> str:
    head = f"ALTER {_scope(node)}FUNCTION {'IF EXISTS ' if node.if_exists else ''}{identifier(node.name)}"
    return head + _function_body(node)


def _add_partitions(node: AddPartitions) -> str:
    parts = ["ADD IF NOT EXISTS" if node.if_not_exists else "ADD"]
    for each in node.partitions:
        text = partition(each.fields)
        if each.properties:
            pairs = [f"{string(item.key.value)} = {string(item.value.value)}" for item in each.properties]
            text += f" WITH ({', '.join(pairs)})"
        parts.append(text)
    return "\n".join(parts)


def _drop_partitions(node: DropPartitions) -> str:
    head = "DROP IF EXISTS" if node.if_exists else "DROP"
    return head + "\n" + ",\n".join(map(partition, node.partitions))


def _resume(node: Resume) -> str:
    return "\n".join(["RESUME", *_with(node.properties)])


_ACTIONS: Final[dict[type[AlterAction], Callable[[Any], str]]] = {
    RenameTo: lambda node: f"RENAME TO {identifier(node.name)}",
    RenameColumn: lambda node: f"RENAME {identifier(node.column)} TO {identifier(node.name)}",
    SetProperties: lambda node: f"SET {properties(node.properties)}",
    ResetProperties: lambda node: f"RESET {keys(node.keys)}",
    SetComment: lambda node: f"COMMENT {string(node.comment)}",
    AddSchema: lambda node: f"ADD {schema(node.schema)}",
    ModifySchema: lambda node: f"MODIFY {schema(node.schema)}",
    DropColumns: lambda node: f"DROP {block(map(identifier, node.columns))}",
    DropConstraint: lambda node: f"DROP CONSTRAINT {identifier(node.name)}",
    DropPrimaryKey: lambda node: "DROP PRIMARY KEY",
    DropWatermark: lambda node: "DROP WATERMARK",
    DropDistribution: lambda node: "DROP DISTRIBUTION",
    AddDistribution: lambda node: f"ADD DISTRIBUTION {distribution(node.distribution)}",
    ModifyDistribution: lambda node: f"MODIFY DISTRIBUTION {distribution(node.distribution)}",
    AddPartitions: _add_partitions,
    DropPartitions: _drop_partitions,
    Suspend: lambda node: "SUSPEND",
    Resume: _resume,
    Refresh: lambda node: f"REFRESH {partition(node.partition)}" if node.partition else "REFRESH",
    SetFreshness: lambda node: f"SET FRESHNESS = {write(node.freshness)}",
    SetRefreshMode: lambda node: f"SET REFRESH_MODE = {node.mode}",
    SetQuery: lambda node: f"AS\n{write(node.query)}",
}
DEFINITIONS: Final[dict[type[Node], Callable[[Any], str]]] = {
    CreateTable: _create_table,
    CreateMaterializedTable: _create_materialized_table,
    CreateView: _create_view,
    CreateCatalog: _create_named("CATALOG"),
    CreateDatabase: _create_named("DATABASE"),
    CreateConnection: _create_connection,
    CreateFunction: _create_function,
    CreateModel: _create_model,
    DropTable: _drop("TABLE"),
    DropView: _drop("VIEW"),
    DropMaterializedTable: _drop("MATERIALIZED TABLE"),
    DropCatalog: _drop("CATALOG"),
    DropDatabase: _drop("DATABASE"),
    DropModel: _drop("MODEL"),
    DropFunction: _drop_scoped("FUNCTION"),
    DropConnection: _drop_scoped("CONNECTION"),
    AlterTable: _alter("TABLE"),
    AlterMaterializedTable: _alter("MATERIALIZED TABLE"),
    AlterView: _alter("VIEW"),
    AlterDatabase: _alter("DATABASE"),
    AlterCatalog: _alter("CATALOG"),
    AlterModel: _alter("MODEL"),
    AlterConnection: _alter("CONNECTION"),
    AlterFunction: _alter_function,
}
