"""The session's catalogs, through the interface of the validator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import CatalogFunction, CatalogView, ContextResolvedTable, QueryView
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.manager import CatalogManager
from scurry.sql.catalog.schema import ComputedColumn, ResolvedSchema
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.models import PlannedModel
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.schema import Schema
from scurry.sql.plan.view_plans import ViewPlans
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse, parse_expression
from scurry.sql.types import DataType, LocalZonedTimestampType, TimestampType
from scurry.sql.validator import catalog as seen


class SessionCatalog:
    """Look up tables, views and functions of a session; a table or view is the same throughout a statement."""

    def __init__(
        self,
        catalogs: CatalogManager,
        is_streaming: bool,
        load: Callable[[CatalogFunction, str], UserFunction],
        view_plans: ViewPlans | None = None,
        module_functions: Mapping[str, UserFunction] = MappingProxyType({}),
    ) -> None:
        """Look up nothing yet.

        Args:
            is_streaming: Whether queries run in STREAMING.
            load: Returns the function that a catalog has under a name.
            view_plans: The plans of views, those of earlier statements among them; None to validate each view.
            module_functions: The functions of the modules in use by their names in lower case, without built-in ones.
        """
        self.catalogs = catalogs
        self.is_streaming = is_streaming
        self.load = load
        self.module_functions = module_functions
        self._view_plans = view_plans
        self._found: dict[ObjectIdentifier, ContextResolvedTable | None] = {}

    def find(self, names: tuple[str, ...]) -> seen.CatalogTable | seen.CatalogView | seen.CatalogPlan | None:
        """Return the table, view or plan of a name, or None if it does not exist."""
        if len(names) > 3:
            return None
        identifier = self.catalogs.qualify(names)
        found = self._resolved(identifier)
        self._note(("table", identifier), None if found is None else found.table)
        return None if found is None else self._seen(found)

    def _resolved(self, identifier: ObjectIdentifier) -> ContextResolvedTable | None:
        if identifier not in self._found:
            self._found[identifier] = self.catalogs.find_table(identifier)
        return self._found[identifier]

    def plan_of_view(self, view: seen.CatalogView, session: EvaluationContext, make: Callable[[], Plan]) -> Plan:
        """Return the plan of a view that was found; it may be that of an earlier statement."""
        if self._view_plans is None:
            return make()
        return self._view_plans.plan(("table", ObjectIdentifier(*view.path)), session, self._found_now, make)

    def _found_now(self, look_up: tuple[str, Any]) -> Any:
        kind, name = look_up
        if kind == "table":
            found = self._resolved(name)
            return None if found is None else found.table
        if kind == "model":
            resolved = self.catalogs.models.find(name)
            return None if resolved is None else resolved.model
        functions = self.catalogs.functions
        if kind == "system function":
            return functions.find_system(name) or self.module_functions.get(name.lower())
        return functions.find(name)

    def _note(self, look_up: tuple[str, Any], found: Any) -> None:
        if self._view_plans is not None:
            self._view_plans.found(look_up, found)

    def _seen(self, found: ContextResolvedTable) -> seen.CatalogTable | seen.CatalogView | seen.CatalogPlan:
        path = found.identifier.path
        if isinstance(found.table, QueryView):
            return seen.CatalogPlan(path, found.table.plan)
        if isinstance(found.table, CatalogView):
            query = parse(found.table.expanded_query)
            assert isinstance(query, nodes.Query)
            return seen.CatalogView(path, query, tuple(found.table.schema.get_column_names()))
        schema = found.table.schema
        key = schema.get_primary_key()
        return seen.CatalogTable(
            path, columns_of(schema, self.is_streaming), found, () if key is None else tuple(key.columns)
        )

    def find_system_function(self, name: str) -> UserFunction | None:
        """Return the temporary system function of a name, or that of a module."""
        registered = self.catalogs.functions.find_system(name)
        found = self.module_functions.get(name.lower()) if registered is None else None
        self._note(("system function", name), registered or found)
        return found or self._loaded(registered, name)

    def find_function(self, names: tuple[str, ...]) -> UserFunction | None:
        if len(names) > 3:
            return None
        found = self.catalogs.functions.find(names)
        self._note(("function", names), found)
        return self._loaded(found, ".".join(names))

    def find_model(self, names: tuple[str, ...]) -> PlannedModel | None:
        if len(names) > 3:
            return None
        identifier = self.catalogs.qualify(names)
        found = self.catalogs.models.find(identifier)
        self._note(("model", identifier), None if found is None else found.model)
        if found is None:
            return None
        model = found.model
        inputs, outputs = (
            Schema.of(each.get_column_names(), each.get_column_data_types())
            for each in (model.input_schema, model.output_schema)
        )
        return PlannedModel(identifier.path, inputs, outputs, tuple(sorted(model.options.items())))

    def similar_model(self, names: tuple[str, ...]) -> str:
        """Return a hint at the model that a name means which no model has."""
        return self.catalogs.models.similar(self.catalogs.qualify(names)) if len(names) <= 3 else ""

    def _loaded(self, registered: CatalogFunction | None, name: str) -> UserFunction | None:
        return None if registered is None else self.load(registered, name)

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        """Say why there is no such table, in Calcite's words."""
        catalogs = self.catalogs
        if len(names) == 3:
            catalog = catalogs.find_catalog(names[0])
            if catalog is None:
                return 1, f"Object '{names[0]}' not found"
            if not catalog.database_exists(names[1]):
                return 2, f"Object '{names[1]}' not found within '{names[0]}'"
            return 3, f"Object '{names[2]}' not found within '{names[0]}.{names[1]}'"
        if len(names) == 2:
            current = catalogs.catalog(catalogs.current_catalog)
            if not current.database_exists(names[0]):
                return 1, f"Object '{names[0]}' not found"
            return 2, f"Object '{names[1]}' not found within '{catalogs.current_catalog}.{names[0]}'"
        return 1, f"Object '{names[-1]}' not found"

    def similar(self, names: tuple[str, ...]) -> str:
        """Return a hint at the table that a name means which no table has."""
        catalogs = self.catalogs
        if len(names) == 2 and not catalogs.catalog(catalogs.current_catalog).database_exists(names[0]):
            return did_you_mean(names[0], catalogs.catalog(catalogs.current_catalog).list_databases())
        return catalogs.similar(catalogs.qualify(names).path) if len(names) <= 3 else ""


class TableCatalog(SessionCatalog):
    def __init__(self, others: SessionCatalog, table: ContextResolvedTable) -> None:
        super().__init__(others.catalogs, others.is_streaming, others.load, None, others.module_functions)
        self._table = table

    def find(self, names: tuple[str, ...]) -> seen.CatalogTable | seen.CatalogView | seen.CatalogPlan | None:
        """Return the table, view or plan of a name, or None if it does not exist."""
        return self._seen(self._table) if names == self._table.identifier.path else super().find(names)


def is_source_watermark(text: str) -> bool:
    """Return whether the text of a watermark's expression means the watermarks of the source."""
    return text.replace("`", "").replace(" ", "").upper() == "SOURCE_WATERMARK()"


def columns_of(schema: ResolvedSchema, streaming: bool) -> tuple[seen.CatalogColumn, ...]:
    """Return the columns of a schema as the validator sees them: those with a watermark are rowtimes in STREAMING."""
    return tuple(
        seen.CatalogColumn(
            column.name,
            _type_of(column.data_type, streaming),
            parse_expression(column.expression.text) if isinstance(column, ComputedColumn) else None,
        )
        for column in schema.get_columns()
    )


def _type_of(kind: DataType, streaming: bool) -> DataType:
    if not isinstance(kind, TimestampType | LocalZonedTimestampType) or not kind.is_rowtime:
        return kind
    # Time attributes have milliseconds, whatever the column is declared as.
    if not streaming:
        return kind.as_time_attribute(None)
    return type(kind)(3, kind.is_nullable).as_time_attribute(kind.time_attribute)
