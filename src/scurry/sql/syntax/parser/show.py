"""SHOW and DESCRIBE."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax.nodes import (
    DescribeCatalog,
    DescribeConnection,
    DescribeDatabase,
    DescribeFunction,
    DescribeJob,
    DescribeModel,
    DescribeTable,
    NameFilter,
    Scope,
    ShowCatalogs,
    ShowColumns,
    ShowConnections,
    ShowCreateCatalog,
    ShowCreateConnection,
    ShowCreateMaterializedTable,
    ShowCreateModel,
    ShowCreateTable,
    ShowCreateView,
    ShowCurrentCatalog,
    ShowCurrentDatabase,
    ShowDatabases,
    ShowFunctions,
    ShowJars,
    ShowJobs,
    ShowMaterializedTables,
    ShowModels,
    ShowModules,
    ShowPartitions,
    ShowProcedures,
    ShowTables,
    ShowViews,
    Statement,
)
from scurry.sql.syntax.parser.alter import AlterationParser

# For each object of SHOW: its node, the optional scope, and the operators that filter names.
_LISTS: Final = {
    "CATALOGS": (ShowCatalogs, False, ("LIKE", "ILIKE")),
    "DATABASES": (ShowDatabases, True, ("LIKE", "ILIKE")),
    "TABLES": (ShowTables, True, ("LIKE",)),
    "VIEWS": (ShowViews, True, ("LIKE",)),
    "PROCEDURES": (ShowProcedures, True, ("LIKE", "ILIKE")),
    "MODELS": (ShowModels, True, ("LIKE",)),
    "CONNECTIONS": (ShowConnections, True, ("LIKE",)),
}
_CREATED: Final = {
    "TABLE": ShowCreateTable,
    "VIEW": ShowCreateView,
    "MODEL": ShowCreateModel,
}
_DESCRIBED: Final = {
    "DATABASE": DescribeDatabase,
    "FUNCTION": DescribeFunction,
    "MODEL": DescribeModel,
    "CONNECTION": DescribeConnection,
}
# Words after SHOW.
SHOWN: Final = frozenset(_LISTS) | frozenset(
    "CREATE CURRENT USER FUNCTIONS FULL MODULES MATERIALIZED COLUMNS PARTITIONS JARS JOBS".split()
)


class ShowParser(AlterationParser):
    """Parses SHOW and DESCRIBE."""

    def show(self) -> Statement:
        """Parse SHOW, whose keyword is the next token."""
        start = self.position
        self.position += 1
        key = self.keys[self.position]
        self.position += 1
        if key in _LISTS:
            made, scoped, operators = _LISTS[key]
            scope = self._scope() if scoped else None
            if key == "DATABASES" and scope is not None and not scope.name.is_simple:
                message = f"Show databases from/in identifier [ {scope.name} ] format error"
                raise self.error_at(f"{message}, catalog must be a single part identifier.", scope.name.span)
            like = self._like_names(operators)
            return made(scope, like, span=self.span_from(start))
        if key == "CREATE":
            return self._show_create(start)
        if key == "CURRENT":
            current = self.expect_any("CATALOG", "DATABASE")
            span = self.span_from(start)
            return ShowCurrentCatalog(span=span) if current == "CATALOG" else ShowCurrentDatabase(span=span)
        if key in ("USER", "FUNCTIONS"):
            if key == "USER":
                self.expect("FUNCTIONS")
            scope, like = self._scope(), self._like_names(("LIKE", "ILIKE"))
            return ShowFunctions(scope, like, key == "USER", span=self.span_from(start))
        if key in ("FULL", "MODULES"):
            if key == "FULL":
                self.expect("MODULES")
            return ShowModules(key == "FULL", span=self.span_from(start))
        if key == "MATERIALIZED":
            self.expect("TABLES")
            scope, like = self._scope(), self._like_names(("LIKE",))
            return ShowMaterializedTables(scope, like, span=self.span_from(start))
        return self._show_other(key, start)

    def _show_other(self, key: str, start: int) -> Statement:
        if key == "COLUMNS":
            if not (self.at("FROM") or self.at("IN")):
                self.fail()
            scope, like = self._scope(), self._like_names(("LIKE",))
            return ShowColumns(scope, like, span=self.span_from(start))
        if key == "PARTITIONS":
            name = self.compound_name()
            fields = self.partition_fields() if self.accept("PARTITION") else ()
            return ShowPartitions(name, fields, span=self.span_from(start))
        span = self.span_from(start)
        return ShowJars(span=span) if key == "JARS" else ShowJobs(span=span)

    def _scope(self) -> Scope | None:
        start = self.position
        preposition = self.accept_any("FROM", "IN")
        if preposition is None:
            return None
        return Scope(preposition, self.compound_name(), span=self.span_from(start))

    def _like_names(self, operators: tuple[str, ...]) -> NameFilter | None:
        start = self.position
        negated = self.accept("NOT")
        operator = self.expect_any(*operators) if negated else self.accept_any(*operators)
        if operator is None:
            return None
        return NameFilter(operator, self.string(), negated, span=self.span_from(start))

    def _show_create(self, start: int) -> Statement:
        key = self.keys[self.position]
        self.position += 1
        if key in _CREATED:
            return _CREATED[key](self.compound_name(), span=self.span_from(start))
        if key == "CATALOG":
            return ShowCreateCatalog(self.name(), span=self.span_from(start))
        if key == "CONNECTION":
            return ShowCreateConnection(self.compound_name(), span=self.span_from(start))
        if key == "MATERIALIZED":
            self.expect("TABLE")
            return ShowCreateMaterializedTable(self.compound_name(), span=self.span_from(start))
        self.position -= 1
        self.fail()

    def describe(self) -> Statement:
        """Parse DESCRIBE or DESC, whose keyword is the next token."""
        start = self.position
        self.position += 1
        key = self.keys[self.position]
        following = self.keys[self.position + 1]
        if key == "JOB" and following != ".":
            self.position += 1
            return DescribeJob(self.string(), span=self.span_from(start))
        if key == "CATALOG" or (key in _DESCRIBED and following not in (".", "<EOF>", ";")):
            self.position += 1
            extended = self.accept("EXTENDED")
            if key == "CATALOG":
                return DescribeCatalog(self.name(), extended, span=self.span_from(start))
            return _DESCRIBED[key](self.compound_name(), extended, span=self.span_from(start))
        extended = self.accept("EXTENDED")
        return DescribeTable(self.compound_name(), extended, span=self.span_from(start))
