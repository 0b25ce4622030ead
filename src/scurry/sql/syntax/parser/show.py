"""SHOW and DESCRIBE."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser.alter import AlterationParser

# For each object of SHOW: its node, the optional scope, and the operators that filter names.
_LISTS: Final = {
    "CATALOGS": (nodes.ShowCatalogs, False, ("LIKE", "ILIKE")),
    "DATABASES": (nodes.ShowDatabases, True, ("LIKE", "ILIKE")),
    "TABLES": (nodes.ShowTables, True, ("LIKE",)),
    "VIEWS": (nodes.ShowViews, True, ("LIKE",)),
    "PROCEDURES": (nodes.ShowProcedures, True, ("LIKE", "ILIKE")),
    "MODELS": (nodes.ShowModels, True, ("LIKE",)),
    "CONNECTIONS": (nodes.ShowConnections, True, ("LIKE",)),
}
_CREATED: Final = {
    "TABLE": nodes.ShowCreateTable,
    "VIEW": nodes.ShowCreateView,
    "MODEL": nodes.ShowCreateModel,
}
_DESCRIBED: Final = {
    "DATABASE": nodes.DescribeDatabase,
    "FUNCTION": nodes.DescribeFunction,
    "MODEL": nodes.DescribeModel,
    "CONNECTION": nodes.DescribeConnection,
}
# Words after SHOW.
SHOWN: Final = frozenset(_LISTS) | frozenset(
    "CREATE CURRENT USER FUNCTIONS FULL MODULES MATERIALIZED COLUMNS PARTITIONS JARS JOBS".split()
)


class ShowParser(AlterationParser):
    """Parses SHOW and DESCRIBE."""

    def show(self) -> nodes.Statement:
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
            return nodes.ShowCurrentCatalog(span=span) if current == "CATALOG" else nodes.ShowCurrentDatabase(span=span)
        if key in ("USER", "FUNCTIONS"):
            if key == "USER":
                self.expect("FUNCTIONS")
            scope, like = self._scope(), self._like_names(("LIKE", "ILIKE"))
            return nodes.ShowFunctions(scope, like, key == "USER", span=self.span_from(start))
        if key in ("FULL", "MODULES"):
            if key == "FULL":
                self.expect("MODULES")
            return nodes.ShowModules(key == "FULL", span=self.span_from(start))
        if key == "MATERIALIZED":
            self.expect("TABLES")
            scope, like = self._scope(), self._like_names(("LIKE",))
            return nodes.ShowMaterializedTables(scope, like, span=self.span_from(start))
        return self._show_other(key, start)

    def _show_other(self, key: str, start: int) -> nodes.Statement:
        if key == "COLUMNS":
            if not (self.at("FROM") or self.at("IN")):
                self.fail()
            scope, like = self._scope(), self._like_names(("LIKE",))
            return nodes.ShowColumns(scope, like, span=self.span_from(start))
        if key == "PARTITIONS":
            name = self.compound_name()
            fields = self.partition_fields() if self.accept("PARTITION") else ()
            return nodes.ShowPartitions(name, fields, span=self.span_from(start))
        span = self.span_from(start)
        return nodes.ShowJars(span=span) if key == "JARS" else nodes.ShowJobs(span=span)

    def _scope(self) -> nodes.Scope | None:
        start = self.position
        preposition = self.accept_any("FROM", "IN")
        if preposition is None:
            return None
        return nodes.Scope(preposition, self.compound_name(), span=self.span_from(start))

    def _like_names(self, operators: tuple[str, ...]) -> nodes.NameFilter | None:
        start = self.position
        negated = self.accept("NOT")
        operator = self.expect_any(*operators) if negated else self.accept_any(*operators)
        if operator is None:
            return None
        return nodes.NameFilter(operator, self.string(), negated, span=self.span_from(start))

    def _show_create(self, start: int) -> nodes.Statement:
        key = self.keys[self.position]
        self.position += 1
        if key in _CREATED:
            return _CREATED[key](self.compound_name(), span=self.span_from(start))
        if key == "CATALOG":
            return nodes.ShowCreateCatalog(self.name(), span=self.span_from(start))
        if key == "CONNECTION":
            return nodes.ShowCreateConnection(self.compound_name(), span=self.span_from(start))
        if key == "MATERIALIZED":
            self.expect("TABLE")
            return nodes.ShowCreateMaterializedTable(self.compound_name(), span=self.span_from(start))
        self.position -= 1
        self.fail()

    def describe(self) -> nodes.Statement:
        """Parse DESCRIBE or DESC, whose keyword is the next token."""
        start = self.position
        self.position += 1
        key = self.keys[self.position]
        following = self.keys[self.position + 1]
        if key == "JOB" and following != ".":
            self.position += 1
            return nodes.DescribeJob(self.string(), span=self.span_from(start))
        if key == "CATALOG" or (key in _DESCRIBED and following not in (".", "<EOF>", ";")):
            self.position += 1
            extended = self.accept("EXTENDED")
            if key == "CATALOG":
                return nodes.DescribeCatalog(self.name(), extended, span=self.span_from(start))
            return _DESCRIBED[key](self.compound_name(), extended, span=self.span_from(start))
        extended = self.accept("EXTENDED")
        return nodes.DescribeTable(self.compound_name(), extended, span=self.span_from(start))
