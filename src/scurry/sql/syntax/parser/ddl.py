"""CREATE and DROP."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.lexer import IDENTIFIER_KEYS
from scurry.sql.syntax.parser.columns import ColumnParser
from scurry.sql.syntax.parser.contexts import Context


class DefinitionParser(ColumnParser):
    """Parses CREATE and DROP."""

    def create(self) -> nodes.Statement:
        """Parse CREATE, whose keyword is the next token."""
        start = self.position
        self.position += 1
        replace = or_alter = False
        if self.accept("OR"):
            if self.expect_any("REPLACE", "ALTER") == "ALTER":
                or_alter = True
            else:
                replace = True
        if or_alter:
            self.expect("MATERIALIZED")
            return self._create_materialized_table(start, or_alter=True)
        temporary = self.accept("TEMPORARY")
        key = self._kind()
        if key == "CATALOG":
            return self._create_catalog(start)
        if key == "DATABASE":
            return self._create_database(start)
        if key == "TABLE":
            return self.create_table(start, temporary, "CREATE OR REPLACE" if replace else None)
        if key == "VIEW":
            return self._create_view(start, temporary)
        if key == "MODEL":
            return self._create_model(start, temporary)
        if key == "MATERIALIZED":
            if temporary:
                raise self.error_at_last("CREATE TEMPORARY MATERIALIZED TABLE is not supported.")
            if replace:
                raise self.error_at_last("REPLACE MATERIALIZED TABLE is not supported.")
            return self._create_materialized_table(start, or_alter=False)
        system = key == "SYSTEM"
        if system:
            key = self._system_kind(temporary)
        if key == "FUNCTION":
            return self._create_function(start, temporary, system)
        if key == "CONNECTION":
            return self._create_connection(start, temporary, system)
        self.position -= 1
        self.fail()

    def _kind(self) -> str:
        """Go past the kind of object that is created or dropped: a function only if two tokens tell so."""
        key = self.keys[self.position]
        if key in ("FUNCTION", "CONNECTION") and self.keys[self.position + 1] not in IDENTIFIER_KEYS | {"IF"}:
            self.looked_ahead_at = self.position
            self.fail()
        self.position += 1
        return key

    def _system_kind(self, temporary: bool) -> str:
        """Go past the kind of object after SYSTEM, which only a temporary function or connection has."""
        if not temporary:
            message = (
                "CREATE SYSTEM FUNCTION is not supported, system functions can only be registered as temporary "
                "functions, you can use CREATE TEMPORARY SYSTEM FUNCTION instead."
            )
            raise self.error_at_last(message)
        return self.expect_any("FUNCTION", "CONNECTION")

    def _create_catalog(self, start: int) -> nodes.Statement:
        exists = self.if_not_exists()
        name = self.name()
        comment = self.literal_text() if self.accept("COMMENT") else None
        properties = self.with_properties()
        return nodes.CreateCatalog(name, properties, comment, exists, span=self.span_from(start))

    def _create_database(self, start: int) -> nodes.Statement:
        exists = self.if_not_exists()
        name = self.compound_name()
        comment = self.comment()
        properties = self.with_properties()
        return nodes.CreateDatabase(name, properties, comment, exists, span=self.span_from(start))

    def create_table(self, start: int, temporary: bool, replace: str | None) -> nodes.CreateTable:
        """Parse the rest of CREATE TABLE or REPLACE TABLE.

        Args:
            start: Where the statement begins.
            temporary: Whether it is TEMPORARY.
            replace: ``REPLACE`` or ``CREATE OR REPLACE``, if one of them was written.
        """
        exists = self.if_not_exists()
        name = self.compound_name()
        schema_start = self.position
        schema = self.table_schema() if self.at("(") else None
        schema_end = self.position
        comment = self.comment()
        distribution = self.distribution() if self.accept("DISTRIBUTED") else None
        partitioned = self._partitioned_by()
        properties = self.with_properties()
        like = query = None
        if replace != "REPLACE" and self.accept("LIKE"):
            like = self.table_like()
        elif replace == "REPLACE" or self.at("AS"):
            self.expect("AS")
            query = self.query()
        if query is None:
            self._check_columns(schema, schema_start, schema_end)
        return nodes.CreateTable(
            name,
            schema,
            comment,
            distribution,
            partitioned,
            properties,
            like,
            query,
            temporary,
            exists,
            replace,
            span=self.span_from(start),
        )

    def _partitioned_by(self) -> tuple[nodes.Identifier, ...]:
        if not self.accept("PARTITIONED"):
            return ()
        self.expect("BY")
        return self.names()

    def _check_columns(self, schema: nodes.TableSchema | None, start: int, end: int) -> None:
        """Refuse columns without types where no query gives them some."""
        if schema is not None and schema.columns and type(schema.columns[0]).__name__ == "NameOnlyColumn":
            message = "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only."
            raise self.error_at(message, self.span_of(start))

    def _create_view(self, start: int, temporary: bool) -> nodes.Statement:
        exists = self.if_not_exists()
        name = self.compound_name()
        columns = self.names() if self.at("(") else ()
        comment = self.comment()
        self.expect("AS")
        query = self.query()
        return nodes.CreateView(name, query, columns, comment, temporary, exists, span=self.span_from(start))

    def _create_function(self, start: int, temporary: bool, system: bool) -> nodes.Statement:
        exists = self.if_not_exists()
        name = self.name() if system else self.compound_name()
        self.expect("AS")
        class_name = self.string_node()
        language, resources = self.function_language()
        properties = self.with_properties()
        return nodes.CreateFunction(
            name, class_name, language, resources, properties, temporary, system, exists, span=self.span_from(start)
        )

    def function_language(self) -> tuple[str | None, tuple[str, ...]]:
        """Parse LANGUAGE and USING JAR of a function."""
        language = None
        language_at = self.position + 1
        if self.accept("LANGUAGE"):
            language = self.expect_any("JAVA", "SCALA", "SQL", "PYTHON")
        resources: tuple[str, ...] = ()
        if self.accept("USING"):
            if language in ("SQL", "PYTHON"):
                message = f"CREATE FUNCTION USING JAR/ARTIFACT syntax is not applicable to {language} language."
                raise self.error_at(message, self.span_of(language_at))
            resources = self.comma_list(self._jar)
        return language, resources

    def _jar(self) -> str:
        self.expect("JAR")
        return self.string()

    def _create_model(self, start: int, temporary: bool) -> nodes.Statement:
        exists = self.if_not_exists()
        name = self.compound_name()
        inputs = self.table_schema(names_allowed=False) if self.accept("INPUT") else None
        outputs = self.table_schema(names_allowed=False) if self.accept("OUTPUT") else None
        comment = self.comment()
        properties = self.with_properties()
        query = self.query() if self.accept("AS") else None
        return nodes.CreateModel(
            name, inputs, outputs, comment, properties, query, temporary, exists, span=self.span_from(start)
        )

    def _create_connection(self, start: int, temporary: bool, system: bool) -> nodes.Statement:
        exists = self.if_not_exists()
        name = self.name() if system else self.compound_name()
        comment = self.comment()
        self.expect("WITH")
        properties = self.properties()
        return nodes.CreateConnection(name, properties, comment, temporary, system, exists, span=self.span_from(start))

    def _create_materialized_table(self, start: int, or_alter: bool) -> nodes.Statement:
        self.expect("TABLE")
        exists = self.if_not_exists()
        name = self.compound_name()
        schema = self.table_schema() if self.at("(") else None
        comment = self.comment()
        distribution = self.distribution() if self.accept("DISTRIBUTED") else None
        partitioned = self._partitioned_by()
        properties = self.with_properties()
        start_mode = self._start_mode()
        freshness = self.freshness() if self.accept("FRESHNESS") else None
        mode = None
        if self.accept("REFRESH_MODE"):
            self.expect("=")
            mode = self.expect_any("FULL", "CONTINUOUS")
        self.expect("AS")
        query = self.query()
        return nodes.CreateMaterializedTable(
            name,
            query,
            schema,
            comment,
            distribution,
            partitioned,
            properties,
            start_mode,
            freshness,
            mode,
            exists,
            or_alter,
            span=self.span_from(start),
        )

    def _start_mode(self) -> nodes.Expression | None:
        if not self.accept("START_MODE"):
            return None
        self.expect("=")
        return self.expression(Context.NON_QUERY)

    def freshness(self) -> nodes.Expression:
        """Parse the interval after FRESHNESS."""
        self.expect("=")
        value = self.expression(Context.NON_QUERY)
        if not isinstance(value, nodes.IntervalLiteral):
            raise self.error_at_last(
                "MATERIALIZED TABLE only supports define interval type FRESHNESS, please refer to the "
                "materialized table document."
            )
        return value

    def drop(self) -> nodes.Statement:
        """Parse DROP, whose keyword is the next token."""
        start = self.position
        self.position += 1
        temporary = self.accept("TEMPORARY")
        key = self._kind()
        system = key == "SYSTEM"
        if system:
            key = self.expect_any("FUNCTION", "CONNECTION")
        if key == "MATERIALIZED":
            if temporary:
                raise self.error_at_last("DROP TEMPORARY MATERIALIZED TABLE is not supported.")
            self.expect("TABLE")
        elif key not in ("CATALOG", "TABLE", "VIEW", "DATABASE", "FUNCTION", "MODEL", "CONNECTION"):
            self.position -= 1
            self.fail()
        exists = self.if_exists()
        name = self.compound_name()
        if key == "DATABASE":
            cascade = self.accept_any("RESTRICT", "CASCADE") == "CASCADE"
            return nodes.DropDatabase(name, exists, temporary, cascade, span=self.span_from(start))
        span = self.span_from(start)
        if key == "FUNCTION":
            return nodes.DropFunction(name, exists, temporary, system, span=span)
        if key == "CONNECTION":
            return nodes.DropConnection(name, exists, temporary, system, span=span)
        plain = {
            "CATALOG": nodes.DropCatalog,
            "TABLE": nodes.DropTable,
            "VIEW": nodes.DropView,
            "MODEL": nodes.DropModel,
            "MATERIALIZED": nodes.DropMaterializedTable,
        }
        return plain[key](name, exists, temporary, span=span)
