"""CREATE MODEL, ALTER MODEL, DROP MODEL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.models import CatalogModel
from scurry.sql.catalog.schema import PhysicalColumn, ResolvedSchema
from scurry.sql.statements.definitions.schemas import Definition, resolve_schema
from scurry.sql.statements.names import options_of, qualified
from scurry.sql.statements.results import StatementResult, ok
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse.columns import column as column_text
from scurry.sql.validator import data_type


def create_model(session: TableSession, statement: nodes.CreateModel) -> StatementResult:
    _check(statement)
    identifier = qualified(session, statement.name)
    model = CatalogModel(
        _schema(statement.input, "input"),
        _schema(statement.output, "output"),
        statement.comment,
        options_of(statement.properties),
    )
    create = session.catalogs.models.create_temporary if statement.temporary else session.catalogs.models.create
    create(model, identifier, statement.if_not_exists)
    return ok()


def _check(statement: nodes.CreateModel) -> None:
    if statement.query is not None:
        for given, side in ((statement.input, "input"), (statement.output, "output")):
            if given is not None:
                raise ValidationError(
                    f"CREATE MODEL AS SELECT syntax does not support to specify explicit {side} columns."
                )
        raise UnsupportedError(
            "Unsupported query: CREATE MODEL ... AS trains a model, which Flink 2.3 parses and does not do"
        ).with_hint("train it in Python, and name it: WITH ('provider' = 'sklearn', 'path' = '...')")
    if statement.input is not None and statement.output is None:
        raise ValidationError("Output column list can not be empty with non-empty input column list.")
    if statement.output is not None and statement.input is None:
        raise ValidationError("Input column list can not be empty with non-empty output column list.")
    if not statement.properties:
        raise ValidationError("Model property list can not be empty.").with_hint("add WITH ('provider' = '...')")


def _schema(schema: nodes.TableSchema | None, side: str) -> ResolvedSchema:
    """Return the columns of INPUT or OUTPUT; Flink ignores keys and watermarks there."""
    found: dict[str, PhysicalColumn] = {}
    for column in () if schema is None else schema.columns:
        if not isinstance(column, nodes.PhysicalColumn):
            raise ValidationError(f"Column {column_text(column)} can only be a physical column.")
        name = column.name.last
        if name in found:
            raise ValidationError(f"Duplicate {side} column name: '{name}'.")
        found[name] = PhysicalColumn(name, data_type(column.type), column.comment)
    return ResolvedSchema(list(found.values()))


def model_of(
    session: TableSession, inputs: Definition, outputs: Definition, options: Mapping[str, str], comment: str | None
) -> CatalogModel:
    """Return a model that a program describes.

    Raises:
        ValidationError: A column is not a physical one, or two have one name.
    """
    schemas = [resolve_schema(session, Definition(each.columns)) for each in (inputs, outputs)]
    for column in (column for each in schemas for column in each.get_columns()):
        if not column.is_physical():
            raise ValidationError(f"Column {column} can only be a physical column.")
    return CatalogModel(schemas[0], schemas[1], comment, dict(options))


def alter_model(session: TableSession, statement: nodes.AlterModel) -> StatementResult:
    """Rename a permanent model, or change its options."""
    models, identifier = session.catalogs.models, qualified(session, statement.name)
    found = models.permanent(identifier, statement.if_exists)
    action = statement.action
    if found is None:
        return ok()
    if isinstance(action, nodes.RenameTo):
        models.rename(identifier, action.name.last)
    elif isinstance(action, nodes.SetProperties):
        _refuse_nothing(action.properties, "SET", "option")
        models.alter(identifier, replace(found, options={**found.options, **options_of(action.properties)}))
    elif isinstance(action, nodes.ResetProperties):
        _refuse_nothing(action.keys, "RESET", "key")
        keys = {each.value for each in action.keys}
        models.alter(identifier, replace(found, options={k: v for k, v in found.options.items() if k not in keys}))
    return ok()


def _refuse_nothing(given: Sequence[object], action: str, what: str) -> None:
    if not given:
        raise ValidationError(f"ALTER MODEL {action} does not support empty {what}.")


def drop_model(session: TableSession, statement: nodes.DropModel) -> StatementResult:
    models = session.catalogs.models
    drop = models.drop_temporary if statement.temporary else models.drop
    drop(qualified(session, statement.name), statement.if_exists)
    return ok()
