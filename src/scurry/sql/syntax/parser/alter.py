"""ALTER."""

from __future__ import annotations

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser.ddl import DefinitionParser


class AlterationParser(DefinitionParser):
    """Parses ALTER."""

    def alter(self) -> nodes.Statement:
        """Parse ALTER, whose keyword is the next token."""
        start = self.position
        self.position += 1
        key = self.keys[self.position]
        self.position += 1
        if key == "TABLE":
            exists, name = self.if_exists(), self.compound_name()
            action = self._table_action()
            return nodes.AlterTable(name, action, exists, span=self.span_from(start))
        if key == "MATERIALIZED":
            self.expect("TABLE")
            name = self.compound_name()
            action = self._materialized_table_action()
            return nodes.AlterMaterializedTable(name, action, span=self.span_from(start))
        if key == "VIEW":
            name = self.compound_name()
            action = self._view_action()
            return nodes.AlterView(name, action, span=self.span_from(start))
        if key == "DATABASE":
            name = self.compound_name()
            action = self._properties_action(("SET",))
            return nodes.AlterDatabase(name, action, span=self.span_from(start))
        if key == "CATALOG":
            name = self.name()
            action = self._properties_action(("SET", "RESET", "COMMENT"))
            return nodes.AlterCatalog(name, action, span=self.span_from(start))
        if key in ("MODEL", "CONNECTION"):
            exists, name = self.if_exists(), self.compound_name()
            action = self._properties_action(("RENAME", "SET", "RESET"))
            made = nodes.AlterModel if key == "MODEL" else nodes.AlterConnection
            return made(name, action, exists, span=self.span_from(start))
        if key in ("FUNCTION", "TEMPORARY"):
            return self._alter_function(start, key == "TEMPORARY")
        self.position -= 1
        self.fail()

    def _alter_function(self, start: int, temporary: bool) -> nodes.Statement:
        system = False
        if temporary:
            system = self.accept("SYSTEM")
            self.expect("FUNCTION")
        exists = self.if_exists()
        name = self.compound_name()
        self.expect("AS")
        class_name = self.string_node()
        language = None
        if self.accept("LANGUAGE"):
            language = self.expect_any("JAVA", "SCALA", "SQL", "PYTHON")
        return nodes.AlterFunction(
            name, class_name, language, (), temporary, system, exists, span=self.span_from(start)
        )

    def _properties_action(self, keys: tuple[str, ...]) -> nodes.AlterAction:
        """Parse RENAME TO, SET, RESET or COMMENT, whichever are among the keys."""
        start = self.position
        key = self.expect_any(*keys)
        if key == "RENAME":
            self.expect("TO")
            return nodes.RenameTo(self.compound_name(), span=self.span_from(start))
        if key == "SET":
            return nodes.SetProperties(self.properties(), span=self.span_from(start))
        if key == "RESET":
            return nodes.ResetProperties(self.property_keys(), span=self.span_from(start))
        return nodes.SetComment(self.literal_text(), span=self.span_from(start))

    def _view_action(self) -> nodes.AlterAction:
        start = self.position
        if self.expect_any("RENAME", "AS") == "RENAME":
            self.expect("TO")
            return nodes.RenameTo(self.compound_name(), span=self.span_from(start))
        return nodes.SetQuery(self.query(), span=self.span_from(start))

    def _table_action(self) -> nodes.AlterAction:
        start = self.position
        key = self.expect_any("RENAME", "RESET", "SET", "ADD", "MODIFY", "DROP")
        if key == "RENAME":
            return self._rename(start)
        if key == "RESET":
            return nodes.ResetProperties(self.property_keys(), span=self.span_from(start))
        if key == "SET":
            return nodes.SetProperties(self.properties(), span=self.span_from(start))
        if key == "DROP":
            if self.at("PARTITION") or self.at_all("IF", "EXISTS"):
                return self._drop_partitions(start)
            return self._drop(start)
        if key == "ADD" and (self.at("PARTITION") or self.at_all("IF", "NOT")):
            return self._add_partitions(start)
        return self._add_or_modify(key, start)

    def _rename(self, start: int) -> nodes.AlterAction:
        if self.accept("TO"):
            return nodes.RenameTo(self.compound_name(), span=self.span_from(start))
        column = self.compound_name()
        self.expect("TO")
        return nodes.RenameColumn(column, self.compound_name(), span=self.span_from(start))

    def _add_or_modify(self, key: str, start: int) -> nodes.AlterAction:
        if self.accept("DISTRIBUTION"):
            distribution = self.distribution()
            span = self.span_from(start)
            return (
                nodes.AddDistribution(distribution, span=span)
                if key == "ADD"
                else nodes.ModifyDistribution(distribution, span=span)
            )
        schema = self.altered_schema()
        span = self.span_from(start)
        return nodes.AddSchema(schema, span=span) if key == "ADD" else nodes.ModifySchema(schema, span=span)

    def _drop(self, start: int) -> nodes.AlterAction:
        if self.accept("PRIMARY"):
            self.expect("KEY")
            return nodes.DropPrimaryKey(span=self.span_from(start))
        if self.accept("CONSTRAINT"):
            return nodes.DropConstraint(self.name(), span=self.span_from(start))
        if self.accept("DISTRIBUTION"):
            return nodes.DropDistribution(span=self.span_from(start))
        if self.accept("WATERMARK"):
            return nodes.DropWatermark(span=self.span_from(start))
        columns = self.parenthesized_list(self.compound_name) if self.at("(") else (self.compound_name(),)
        return nodes.DropColumns(columns, span=self.span_from(start))

    def _add_partitions(self, start: int) -> nodes.AlterAction:
        exists = self.if_not_exists()
        partitions = [self._new_partition()]
        while self.at("PARTITION"):
            partitions.append(self._new_partition())
        return nodes.AddPartitions(tuple(partitions), exists, span=self.span_from(start))

    def _new_partition(self) -> nodes.NewPartition:
        start = self.position
        self.expect("PARTITION")
        fields = self.partition_fields()
        properties = self.with_properties() or ()
        return nodes.NewPartition(fields, properties, span=self.span_from(start))

    def _drop_partitions(self, start: int) -> nodes.AlterAction:
        exists = self.if_exists()
        partitions = self.comma_list(self._dropped_partition)
        return nodes.DropPartitions(partitions, exists, span=self.span_from(start))

    def _dropped_partition(self) -> tuple[nodes.PartitionField, ...]:
        self.expect("PARTITION")
        return self.partition_fields()

    def _materialized_table_action(self) -> nodes.AlterAction:
        start = self.position
        key = self.expect_any("SUSPEND", "RESUME", "REFRESH", "SET", "RESET", "AS", "ADD", "MODIFY", "DROP")
        if key == "SUSPEND":
            return nodes.Suspend(span=self.span_from(start))
        if key == "RESUME":
            return nodes.Resume(self.with_properties() or (), span=self.span_from(start))
        if key == "REFRESH":
            fields = self.partition_fields() if self.accept("PARTITION") else ()
            return nodes.Refresh(fields, span=self.span_from(start))
        if key == "SET":
            return self._set_of_materialized_table(start)
        if key == "RESET":
            return nodes.ResetProperties(self.property_keys(), span=self.span_from(start))
        if key == "AS":
            return nodes.SetQuery(self.query(), span=self.span_from(start))
        if key == "DROP":
            return self._drop(start)
        return self._add_or_modify(key, start)

    def _set_of_materialized_table(self, start: int) -> nodes.AlterAction:
        if self.accept("FRESHNESS"):
            return nodes.SetFreshness(self.freshness(), span=self.span_from(start))
        if self.accept("REFRESH_MODE"):
            self.expect("=")
            return nodes.SetRefreshMode(self.expect_any("FULL", "CONTINUOUS"), span=self.span_from(start))
        return nodes.SetProperties(self.properties(), span=self.span_from(start))
