"""ALTER."""

from __future__ import annotations

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
    DropColumns,
    DropConstraint,
    DropDistribution,
    DropPartitions,
    DropPrimaryKey,
    DropWatermark,
    ModifyDistribution,
    ModifySchema,
    NewPartition,
    PartitionField,
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
    Statement,
    Suspend,
)
from scurry.sql.syntax.parser.ddl import DefinitionParser


class AlterationParser(DefinitionParser):
    """Parses ALTER."""

    def alter(self) -> Statement:
        """Parse ALTER, whose keyword is the next token."""
        start = self.position
        self.position += 1
        key = self.keys[self.position]
        self.position += 1
        if key == "TABLE":
            exists, name = self.if_exists(), self.compound_name()
            action = self._table_action()
            return AlterTable(name, action, exists, span=self.span_from(start))
        if key == "MATERIALIZED":
            self.expect("TABLE")
            name = self.compound_name()
            action = self._materialized_table_action()
            return AlterMaterializedTable(name, action, span=self.span_from(start))
        if key == "VIEW":
            name = self.compound_name()
            action = self._view_action()
            return AlterView(name, action, span=self.span_from(start))
        if key == "DATABASE":
            name = self.compound_name()
            action = self._properties_action(("SET",))
            return AlterDatabase(name, action, span=self.span_from(start))
        if key == "CATALOG":
            name = self.name()
            action = self._properties_action(("SET", "RESET", "COMMENT"))
            return AlterCatalog(name, action, span=self.span_from(start))
        if key in ("MODEL", "CONNECTION"):
            exists, name = self.if_exists(), self.compound_name()
            action = self._properties_action(("RENAME", "SET", "RESET"))
            made = AlterModel if key == "MODEL" else AlterConnection
            return made(name, action, exists, span=self.span_from(start))
        if key in ("FUNCTION", "TEMPORARY"):
            return self._alter_function(start, key == "TEMPORARY")
        self.position -= 1
        self.fail()

    def _alter_function(self, start: int, temporary: bool) -> Statement:
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
        return AlterFunction(name, class_name, language, (), temporary, system, exists, span=self.span_from(start))

    def _properties_action(self, keys: tuple[str, ...]) -> AlterAction:
        """Parse RENAME TO, SET, RESET or COMMENT, whichever are among the keys."""
        start = self.position
        key = self.expect_any(*keys)
        if key == "RENAME":
            self.expect("TO")
            return RenameTo(self.compound_name(), span=self.span_from(start))
        if key == "SET":
            return SetProperties(self.properties(), span=self.span_from(start))
        if key == "RESET":
            return ResetProperties(self.property_keys(), span=self.span_from(start))
        return SetComment(self.literal_text(), span=self.span_from(start))

    def _view_action(self) -> AlterAction:
        start = self.position
        if self.expect_any("RENAME", "AS") == "RENAME":
            self.expect("TO")
            return RenameTo(self.compound_name(), span=self.span_from(start))
        return SetQuery(self.query(), span=self.span_from(start))

    def _table_action(self) -> AlterAction:
        start = self.position
        key = self.expect_any("RENAME", "RESET", "SET", "ADD", "MODIFY", "DROP")
        if key == "RENAME":
            return self._rename(start)
        if key == "RESET":
            return ResetProperties(self.property_keys(), span=self.span_from(start))
        if key == "SET":
            return SetProperties(self.properties(), span=self.span_from(start))
        if key == "DROP":
            if self.at("PARTITION") or self.at_all("IF", "EXISTS"):
                return self._drop_partitions(start)
            return self._drop(start)
        if key == "ADD" and (self.at("PARTITION") or self.at_all("IF", "NOT")):
            return self._add_partitions(start)
        return self._add_or_modify(key, start)

    def _rename(self, start: int) -> AlterAction:
        if self.accept("TO"):
            return RenameTo(self.compound_name(), span=self.span_from(start))
        column = self.compound_name()
        self.expect("TO")
        return RenameColumn(column, self.compound_name(), span=self.span_from(start))

    def _add_or_modify(self, key: str, start: int) -> AlterAction:
        if self.accept("DISTRIBUTION"):
            distribution = self.distribution()
            span = self.span_from(start)
            return (
                AddDistribution(distribution, span=span)
                if key == "ADD"
                else ModifyDistribution(distribution, span=span)
            )
        schema = self.altered_schema()
        span = self.span_from(start)
        return AddSchema(schema, span=span) if key == "ADD" else ModifySchema(schema, span=span)

    def _drop(self, start: int) -> AlterAction:
        if self.accept("PRIMARY"):
            self.expect("KEY")
            return DropPrimaryKey(span=self.span_from(start))
        if self.accept("CONSTRAINT"):
            return DropConstraint(self.name(), span=self.span_from(start))
        if self.accept("DISTRIBUTION"):
            return DropDistribution(span=self.span_from(start))
        if self.accept("WATERMARK"):
            return DropWatermark(span=self.span_from(start))
        columns = self.parenthesized_list(self.compound_name) if self.at("(") else (self.compound_name(),)
        return DropColumns(columns, span=self.span_from(start))

    def _add_partitions(self, start: int) -> AlterAction:
        exists = self.if_not_exists()
        partitions = [self._new_partition()]
        while self.at("PARTITION"):
            partitions.append(self._new_partition())
        return AddPartitions(tuple(partitions), exists, span=self.span_from(start))

    def _new_partition(self) -> NewPartition:
        start = self.position
        self.expect("PARTITION")
        fields = self.partition_fields()
        properties = self.with_properties() or ()
        return NewPartition(fields, properties, span=self.span_from(start))

    def _drop_partitions(self, start: int) -> AlterAction:
        exists = self.if_exists()
        partitions = self.comma_list(self._dropped_partition)
        return DropPartitions(partitions, exists, span=self.span_from(start))

    def _dropped_partition(self) -> tuple[PartitionField, ...]:
        self.expect("PARTITION")
        return self.partition_fields()

    def _materialized_table_action(self) -> AlterAction:
        start = self.position
        key = self.expect_any("SUSPEND", "RESUME", "REFRESH", "SET", "RESET", "AS", "ADD", "MODIFY", "DROP")
        if key == "SUSPEND":
            return Suspend(span=self.span_from(start))
        if key == "RESUME":
            return Resume(self.with_properties() or (), span=self.span_from(start))
        if key == "REFRESH":
            fields = self.partition_fields() if self.accept("PARTITION") else ()
            return Refresh(fields, span=self.span_from(start))
        if key == "SET":
            return self._set_of_materialized_table(start)
        if key == "RESET":
            return ResetProperties(self.property_keys(), span=self.span_from(start))
        if key == "AS":
            return SetQuery(self.query(), span=self.span_from(start))
        if key == "DROP":
            return self._drop(start)
        return self._add_or_modify(key, start)

    def _set_of_materialized_table(self, start: int) -> AlterAction:
        if self.accept("FRESHNESS"):
            return SetFreshness(self.freshness(), span=self.span_from(start))
        if self.accept("REFRESH_MODE"):
            self.expect("=")
            return SetRefreshMode(self.expect_any("FULL", "CONTINUOUS"), span=self.span_from(start))
        return SetProperties(self.properties(), span=self.span_from(start))
