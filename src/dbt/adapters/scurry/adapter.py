"""ScurryAdapter: dbt's questions to a database."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.impl import ConstraintSupport, available
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.adapters.sql import SQLAdapter
from dbt_common.contracts.constraints import ConstraintType
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.scurry.columns import ScurryColumn, type_of
from dbt.adapters.scurry.connections import ScurryConnectionManager
from dbt.adapters.scurry.credentials import FILES, texts
from dbt.adapters.scurry.jobs import StreamingJobs
from dbt.adapters.scurry.relation import ScurryRelation

if TYPE_CHECKING:
    import agate

_CATALOG = (
    "table_database", "table_schema", "table_name", "table_type", "table_comment", "table_owner",
    "column_name", "column_index", "column_type", "column_comment",
)  # fmt: skip
#: Connectors whose tables with a primary key are written by key.
UPSERTED = frozenset(
    {
        "cassandra", "clickhouse", "elasticsearch-6", "elasticsearch-7", "elasticsearch-8", "jdbc", "mongodb",
        "opensearch", "redis", "upsert-kafka", "upsert-log",
    }
)  # fmt: skip
_OPTION = re.compile(r"^  '((?:[^']|'')*)' = '((?:[^']|'')*)',?$", re.MULTILINE)
_COMMENT = re.compile(r"^COMMENT '((?:[^']|'')*)'$", re.MULTILINE)


class ScurryAdapter(SQLAdapter):
    """Statements of Flink's SQL; catalogs are looked into by SHOW and DESCRIBE."""

    ConnectionManager = ScurryConnectionManager
    Relation = ScurryRelation
    Column = ScurryColumn
    CONSTRAINT_SUPPORT = {
        ConstraintType.check: ConstraintSupport.NOT_SUPPORTED,
        ConstraintType.not_null: ConstraintSupport.ENFORCED,
        ConstraintType.unique: ConstraintSupport.NOT_SUPPORTED,
        ConstraintType.primary_key: ConstraintSupport.NOT_ENFORCED,
        ConstraintType.foreign_key: ConstraintSupport.NOT_SUPPORTED,
    }
    _capabilities = CapabilityDict({Capability.SchemaMetadataByRelations: CapabilitySupport(support=Support.Full)})

    # ------------------------------------------------------------------ types and names

    @classmethod
    def date_function(cls) -> str:
        """Return the current time."""
        return "CURRENT_TIMESTAMP"

    @classmethod
    def quote(cls, identifier: str) -> str:
        """Return a name in backticks."""
        return "`" + identifier.replace("`", "``") + "`"

    @classmethod
    def convert_text_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Return the type of texts of a seed."""
        return "STRING"

    @classmethod
    def convert_number_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Return the type of numbers of a seed."""
        import agate

        return "DOUBLE" if agate_table.aggregate(agate.MaxPrecision(col_idx)) else "BIGINT"

    @classmethod
    def convert_integer_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Return the type of whole numbers of a seed."""
        return "BIGINT"

    @classmethod
    def convert_boolean_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Return the type of truth values of a seed."""
        return "BOOLEAN"

    @classmethod
    def convert_datetime_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Return the type of times of a seed."""
        return "TIMESTAMP(6)"

    @classmethod
    def convert_date_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Return the type of dates of a seed."""
        return "DATE"

    @classmethod
    def convert_time_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Return the type of times of day of a seed, which stay texts: tables of files have none."""
        return "STRING"

    # ------------------------------------------------------------------ looking into catalogs

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        _, cursor = self.connections.add_query(statement, auto_begin=False)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def list_schemas(self, database: str) -> list[str]:
        """Return the databases of a catalog, whose name dbt may have quoted already."""
        catalog = database if database.startswith("`") else self.quote(database)
        return [row[0] for row in self._rows(f"SHOW DATABASES IN {catalog}")]

    def check_schema_exists(self, database: str, schema: str) -> bool:
        """Return whether a catalog has a database."""
        return schema in self.list_schemas(database)

    def list_relations_without_caching(self, schema_relation: Any) -> list[Any]:
        """Return the tables and views of a database, none if it does not exist."""
        database, schema = schema_relation.database, schema_relation.schema
        if schema is None or not self.check_schema_exists(database, schema):
            return []
        place = f"{self.quote(database)}.{self.quote(schema)}"
        views = {row[0] for row in self._rows(f"SHOW VIEWS IN {place}")}
        materialized = {row[0] for row in self._rows(f"SHOW MATERIALIZED TABLES IN {place}")}
        return [
            self.Relation.create(
                database=database,
                schema=schema,
                identifier=name,
                quote_policy={"database": True, "schema": True, "identifier": True},
                type="view" if name in views else "materialized_view" if name in materialized else "table",
            )
            for (name,) in self._rows(f"SHOW TABLES IN {place}")
        ]

    def get_columns_in_relation(self, relation: Any) -> list[Any]:
        """Return the columns of a table or view."""
        try:
            rows = self._rows(f"DESCRIBE {relation.render()}")
        except DbtDatabaseError as error:
            if "doesn't exist" in str(error):
                return []
            raise
        return [self.Column(row[0], type_of(row[1])) for row in rows]

    @available.parse(lambda *a, **k: [])
    def get_column_schema_from_query(self, sql: str) -> list[Any]:
        """Return the columns of a query."""
        _, cursor = self.connections.add_select_query(sql)
        return [self.Column(each[0], type_of(each[1])) for each in cursor.description]

    def _get_one_catalog(self, information_schema: Any, schemas: set[str], used_schemas: Any) -> agate.Table:
        return self._catalog_of(self._found(information_schema.database, sorted(schemas)))

    def _get_one_catalog_by_relations(
        self, information_schema: Any, relations: list[Any], used_schemas: Any
    ) -> agate.Table:
        wanted = {(each.schema, each.identifier) for each in relations}
        found = self._found(information_schema.database, sorted({each.schema for each in relations if each.schema}))
        kept = [each for each in found if {(each.schema, each.identifier), (each.schema, None)} & wanted]
        return self._catalog_of(kept)

    def _found(self, database: str, schemas: Iterable[str]) -> list[Any]:
        return [
            relation
            for schema in schemas
            for relation in self.list_relations_without_caching(self.Relation.create(database=database, schema=schema))
        ]

    def _catalog_of(self, relations: Iterable[Any]) -> agate.Table:
        from dbt_common.clients.agate_helper import table_from_data_flat

        rows = []
        for relation in relations:
            comment = None if relation.is_view else self._comment(relation)
            place = (relation.database, relation.schema, relation.identifier, str(relation.type), comment, None)
            for index, row in enumerate(self._rows(f"DESCRIBE {relation.render()}"), 1):
                note = row[6] if len(row) > 6 else None
                rows.append(dict(zip(_CATALOG, (*place, row[0], index, type_of(row[1]), note), strict=True)))
        return table_from_data_flat(rows, list(_CATALOG))

    def _definition(self, relation: Any) -> str:
        kind = "MATERIALIZED TABLE" if relation.type == "materialized_view" else "TABLE"
        return str(self._rows(f"SHOW CREATE {kind} {relation.render()}")[0][0])

    def _comment(self, relation: Any) -> str | None:
        found = _COMMENT.search(self._definition(relation))
        return found[1].replace("''", "'") if found else None

    # ------------------------------------------------------------------ for macros

    @available
    def table_options(self, model_options: dict[str, Any] | None) -> dict[str, str]:
        """Return the options of a new table: those of the model, which names a connector of its own, or all."""
        given = texts(model_options or {})
        defaults: dict[str, str] = self.config.credentials.options_of_tables
        return given if "connector" in given else {**defaults, **given}

    @available.parse(lambda *a, **k: {})
    def options_of(self, relation: Any) -> dict[str, str]:
        """Return the options with which a table was created."""
        found = _OPTION.findall(self._definition(relation))
        return {key.replace("''", "'"): value.replace("''", "'") for key, value in found}

    @available.parse(lambda *a, **k: True)
    def can_overwrite(self, relation: Any) -> bool:
        """Return whether one statement replaces all rows of a table, as INSERT OVERWRITE does with files."""
        return self.options_of(relation).get("connector", "filesystem") in ("filesystem", "spark")

    @available.parse(lambda *a, **k: False)
    def is_upserted(self, relation: Any) -> bool:
        """Return whether inserted rows of a table replace those with their primary key."""
        options = self.options_of(relation)
        connector = options.get("connector", "")
        upserts = connector in UPSERTED or options.get("write.upsert.enabled") == "true"
        return upserts and "PRIMARY KEY (" in self._definition(relation)

    @available
    def staging_options(self) -> dict[str, str]:
        """Return the options of a table that holds rows between two statements of a model."""
        credentials = self.config.credentials
        return dict(FILES) if credentials.keeps_files else credentials.options_of_tables

    @available.parse(lambda *a, **k: False)
    def is_view(self, relation: Any) -> bool:
        """Return whether a name is that of a view, whatever dbt takes it for."""
        place = f"{self.quote(relation.database)}.{self.quote(relation.schema)}"
        return (relation.identifier,) in self._rows(f"SHOW VIEWS IN {place}")

    @classmethod
    def timestamp_add_sql(cls, add_to: str, number: int = 1, interval: str = "hour") -> str:
        """Return a later time."""
        return f"timestampadd({interval}, {number}, {add_to})"

    # ------------------------------------------------------------------ streaming jobs

    def _jobs(self) -> StreamingJobs:
        credentials = self.config.credentials
        if credentials.endpoint is None:
            raise DbtRuntimeError(
                "a streaming job would end with dbt's process: name a gateway by `url` or `host` in the profile"
            )
        directory = credentials.job_path or (f"{credentials.path.rstrip('/')}/_jobs" if credentials.path else None)
        if directory is None:
            raise DbtRuntimeError("`job_path` of the profile names the directory of the jobs' checkpoints")
        return StreamingJobs(self._answer, directory)

    def _answer(self, statement: str) -> list[tuple[Any, ...]]:
        _, cursor = self.connections.add_query(statement, auto_begin=False)
        return cursor.fetchall() if cursor.description is not None else []

    def _job_names(self, relation: Any) -> tuple[str, str]:
        """Return the name of a model's job and the view with its record."""
        view = relation.incorporate(path={"identifier": f"{relation.identifier}__dbt_job"})
        return f"{relation.database}.{relation.schema}.{relation.identifier}", view.render()

    @available.parse(lambda *a, **k: "")
    def run_streaming_job(self, relation: Any, statement: str, settings: dict[str, Any] | None = None) -> str:
        """Let the job of a model run a statement: an unchanged one goes on, a changed one from a savepoint."""
        return self._jobs().run(*self._job_names(relation), statement, texts(settings or {}))

    @available.parse(lambda *a, **k: "")
    def stop_streaming_job(self, relation: Any) -> str:
        """Stop the job of a model with a savepoint, from which the next run goes on."""
        return self._jobs().stop(*self._job_names(relation))

    @available.parse(lambda *a, **k: None)
    def cancel_streaming_job(self, relation: Any) -> None:
        """Stop the job of a model and forget its state."""
        self._jobs().cancel(*self._job_names(relation))

    @available.parse(lambda *a, **k: [])
    def streaming_jobs(self) -> list[dict[str, str]]:
        """Return the jobs of models in the gateway."""
        return [
            {"id": job.id, "model": job.model, "status": job.status, "started": str(job.started)}
            for job in self._jobs().listed()
        ]

    @available
    def literal(self, value: Any) -> str:
        """Return a text as a literal of SQL."""
        return "'" + str(value).replace("'", "''") + "'"

    def valid_incremental_strategies(self) -> list[str]:
        """Return the strategies of incremental models."""
        return ["append", "merge", "delete+insert", "insert_overwrite", "microbatch"]

    def debug_query(self) -> None:
        """Execute a query for `dbt debug`."""
        self.execute("SELECT 1 AS id")

    def drop_schema(self, relation: Any) -> None:
        """Drop a database with all that is in it, unless it does not exist."""
        if self.check_schema_exists(relation.database, relation.schema):
            super().drop_schema(relation)
