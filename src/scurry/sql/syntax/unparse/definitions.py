"""The canonical text of CREATE, DROP and ALTER."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse.columns import block, distribution, keys, like_clause, partition, properties, schema
from scurry.sql.syntax.unparse.dispatch import identifier, names, string, write


def _if_not_exists(written: bool) -> str:
    return "IF NOT EXISTS " if written else ""


def _comment(text: str | None) -> list[str]:
    return [] if text is None else [f"COMMENT {string(text)}"]


def _with(items: tuple[nodes.Property, ...] | None) -> list[str]:
    return [f"WITH {properties(items)}"] if items else []


def _scope(
    node: nodes.CreateFunction
    | nodes.AlterFunction
    | nodes.DropFunction
    | nodes.CreateConnection
    | nodes.DropConnection,
) -> str:
    return ("TEMPORARY " if node.temporary else "") + ("SYSTEM " if node.system else "")


def _table_parts(
    node: nodes.CreateTable | nodes.CreateMaterializedTable,
    head: str,
    columns: nodes.TableSchema | None,
    spread: nodes.Distribution | None,
) -> list[str]:
    """Return the common part of tables and materialized tables, a line each."""
    parts = [head if columns is None else f"{head} {schema(columns)}"]
    parts += _comment(node.comment)
    if spread is not None:
        parts.append(f"DISTRIBUTED {distribution(spread)}")
    if node.partitioned_by:
        parts.append(f"PARTITIONED BY {names(node.partitioned_by)}")
    return parts + _with(node.properties)


def _create_table(node: nodes.CreateTable) -> str:
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


def _replace_table(node: nodes.CreateTable) -> str:
    """Return the text of REPLACE TABLE, where Flink leaves out columns, distribution and partitions."""
    head = f"{node.replace} TABLE {identifier(node.name)}"
    parts = [head, *_comment(node.comment), *_with(node.properties)]
    return "\n".join(parts if node.query is None else [*parts, "AS", write(node.query)])


def _create_materialized_table(node: nodes.CreateMaterializedTable) -> str:
    words = f"CREATE {'OR ALTER ' if node.or_alter else ''}MATERIALIZED TABLE"
    head = f"{words} {identifier(node.name)}"
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
    if isinstance(node, nodes.Identifier):
        return node.last.upper()
    text = write(node)
    return text.replace(identifier(node.name), node.name.last.upper(), 1) if hasattr(node, "name") else text


def _create_view(node: nodes.CreateView) -> str:
    words = f"CREATE {'TEMPORARY ' if node.temporary else ''}VIEW"
    head = f"{words} {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    columns = f" {names(node.columns)}" if node.columns else ""
    return "\n".join([head + columns, *_comment(node.comment), "AS", write(node.query)])


def _create_named(kind: str) -> Callable[[Any], str]:
    def write(node: nodes.CreateCatalog | nodes.CreateDatabase) -> str:
        head = f"CREATE {kind} {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
        return "\n".join([head, *_comment(node.comment), *_with(node.properties)])

    return write


def _create_connection(node: nodes.CreateConnection) -> str:
    head = f"CREATE {_scope(node)}CONNECTION {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    return "\n".join([head, *_comment(node.comment), *_with(node.properties)])


def _create_function(node: nodes.CreateFunction) -> str:
    text = f"CREATE {_scope(node)}FUNCTION {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    text += _function_body(node)
    return "\n".join([text, *_with(node.properties)])


def _function_body(node: nodes.CreateFunction | nodes.AlterFunction) -> str:
    text = f" AS {string(node.class_name.value)}"
    if node.language is not None:
        text += f" LANGUAGE {node.language}"
    if node.resources:
        text += " USING " + ", ".join([f"JAR {string(path)}" for path in node.resources])
    return text


def _create_model(node: nodes.CreateModel) -> str:
    words = f"CREATE {'TEMPORARY ' if node.temporary else ''}MODEL"
    head = f"{words} {_if_not_exists(node.if_not_exists)}{identifier(node.name)}"
    head += "" if node.input is None else f" INPUT {schema(node.input)}"
    head += "" if node.output is None else f" OUTPUT {schema(node.output)}"
    parts = [head, *_comment(node.comment), *_with(node.properties)]
    return "\n".join(parts if node.query is None else [*parts, "AS", write(node.query)])


def _drop(kind: str) -> Callable[[Any], str]:
    def write(node: nodes.Drop) -> str:
        words = f"DROP {'TEMPORARY ' if node.temporary else ''}{kind}"
        text = f"{words} {'IF EXISTS ' if node.if_exists else ''}{identifier(node.name)}"
        if isinstance(node, nodes.DropDatabase):
            text += " CASCADE" if node.cascade else " RESTRICT"
        return text

    return write


def _drop_scoped(kind: str) -> Callable[[Any], str]:
    def write(node: nodes.DropFunction | nodes.DropConnection) -> str:
        return f"DROP {_scope(node)}{kind} {'IF EXISTS ' if node.if_exists else ''}{identifier(node.name)}"

    return write


def _alter(kind: str) -> Callable[[Any], str]:
    def write(node: Any) -> str:
        exists = "IF EXISTS " if getattr(node, "if_exists", False) else ""
        action = _ACTIONS[type(node.action)](node.action)
        separator = (
            "\n" if isinstance(node.action, nodes.AddPartitions | nodes.DropPartitions | nodes.SetQuery) else " "
        )
        return f"ALTER {kind} {exists}{identifier(node.name)}{separator}{action}"

    return write


def _alter_function(node: nodes.AlterFunction) -> str:
    head = f"ALTER {_scope(node)}FUNCTION {'IF EXISTS ' if node.if_exists else ''}{identifier(node.name)}"
    return head + _function_body(node)


def _add_partitions(node: nodes.AddPartitions) -> str:
    parts = ["ADD IF NOT EXISTS" if node.if_not_exists else "ADD"]
    for each in node.partitions:
        text = partition(each.fields)
        if each.properties:
            pairs = [f"{string(item.key.value)} = {string(item.value.value)}" for item in each.properties]
            text += f" WITH ({', '.join(pairs)})"
        parts.append(text)
    return "\n".join(parts)


def _drop_partitions(node: nodes.DropPartitions) -> str:
    head = "DROP IF EXISTS" if node.if_exists else "DROP"
    return head + "\n" + ",\n".join(map(partition, node.partitions))


def _resume(node: nodes.Resume) -> str:
    return "\n".join(["RESUME", *_with(node.properties)])


_ACTIONS: Final[dict[type[nodes.AlterAction], Callable[[Any], str]]] = {
    nodes.RenameTo: lambda node: f"RENAME TO {identifier(node.name)}",
    nodes.RenameColumn: lambda node: f"RENAME {identifier(node.column)} TO {identifier(node.name)}",
    nodes.SetProperties: lambda node: f"SET {properties(node.properties)}",
    nodes.ResetProperties: lambda node: f"RESET {keys(node.keys)}",
    nodes.SetComment: lambda node: f"COMMENT {string(node.comment)}",
    nodes.AddSchema: lambda node: f"ADD {schema(node.schema)}",
    nodes.ModifySchema: lambda node: f"MODIFY {schema(node.schema)}",
    nodes.DropColumns: lambda node: f"DROP {block(map(identifier, node.columns))}",
    nodes.DropConstraint: lambda node: f"DROP CONSTRAINT {identifier(node.name)}",
    nodes.DropPrimaryKey: lambda node: "DROP PRIMARY KEY",
    nodes.DropWatermark: lambda node: "DROP WATERMARK",
    nodes.DropDistribution: lambda node: "DROP DISTRIBUTION",
    nodes.AddDistribution: lambda node: f"ADD DISTRIBUTION {distribution(node.distribution)}",
    nodes.ModifyDistribution: lambda node: f"MODIFY DISTRIBUTION {distribution(node.distribution)}",
    nodes.AddPartitions: _add_partitions,
    nodes.DropPartitions: _drop_partitions,
    nodes.Suspend: lambda node: "SUSPEND",
    nodes.Resume: _resume,
    nodes.Refresh: lambda node: f"REFRESH {partition(node.partition)}" if node.partition else "REFRESH",
    nodes.SetFreshness: lambda node: f"SET FRESHNESS = {write(node.freshness)}",
    nodes.SetRefreshMode: lambda node: f"SET REFRESH_MODE = {node.mode}",
    nodes.SetQuery: lambda node: f"AS\n{write(node.query)}",
}
DEFINITIONS: Final[dict[type[nodes.Node], Callable[[Any], str]]] = {
    nodes.CreateTable: _create_table,
    nodes.CreateMaterializedTable: _create_materialized_table,
    nodes.CreateView: _create_view,
    nodes.CreateCatalog: _create_named("CATALOG"),
    nodes.CreateDatabase: _create_named("DATABASE"),
    nodes.CreateConnection: _create_connection,
    nodes.CreateFunction: _create_function,
    nodes.CreateModel: _create_model,
    nodes.DropTable: _drop("TABLE"),
    nodes.DropView: _drop("VIEW"),
    nodes.DropMaterializedTable: _drop("MATERIALIZED TABLE"),
    nodes.DropCatalog: _drop("CATALOG"),
    nodes.DropDatabase: _drop("DATABASE"),
    nodes.DropModel: _drop("MODEL"),
    nodes.DropFunction: _drop_scoped("FUNCTION"),
    nodes.DropConnection: _drop_scoped("CONNECTION"),
    nodes.AlterTable: _alter("TABLE"),
    nodes.AlterMaterializedTable: _alter("MATERIALIZED TABLE"),
    nodes.AlterView: _alter("VIEW"),
    nodes.AlterDatabase: _alter("DATABASE"),
    nodes.AlterCatalog: _alter("CATALOG"),
    nodes.AlterModel: _alter("MODEL"),
    nodes.AlterConnection: _alter("CONNECTION"),
    nodes.AlterFunction: _alter_function,
}
