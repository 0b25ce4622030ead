"""The settings of Flink's Table API and SQL: their keys, types and defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from scurry._dataclasses import dataclass
from scurry.common._config.option import parse_boolean, parse_bytes, parse_duration
from scurry.errors import ValidationError

T = TypeVar("T")


@dataclass(frozen=True)
class TableSetting(Generic[T]):
    """A setting.

    Attributes:
        default: Its default as text; empty for none.
        parse: Reads a value, or raises ValueError that says what is expected.
    """

    key: str
    default: str
    parse: Callable[[str], T]

    def read(self, text: str) -> T:
        """Return a value.

        Raises:
            ValidationError: The text is no value.
        """
        try:
            return self.parse(text)
        except ValueError as error:
            message = f"Could not parse value '{text}' for key '{self.key}'."
            raise ValidationError(message).with_hint(str(error)) from error

    def of(self, settings: Mapping[str, str]) -> T:
        """Return the value in some settings; the default if they do not set it.

        Raises:
            ValidationError: The text is no value.
        """
        return self.read(settings.get(self.key, self.default))


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("expected a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("expected a number") from None


def _boolean(text: str) -> bool:
    return parse_boolean(text.strip())


def _one_of(*values: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        for value in values:
            if value.upper() == text.strip().upper():
                return value
        raise ValueError(f"expected one of {', '.join(values)}")

    return parse


_PHASES = _one_of("AUTO", "ONE_PHASE", "TWO_PHASE")
_STRATEGY = _one_of("auto", "forced", "none")
_MODE = _one_of("ORDERED", "ALLOW_UNORDERED")
_NESTED = _one_of("IGNORE", "ROWS", "ROWS_AND_COLLECTIONS")
_MATERIALIZATION = _one_of("LEGACY", "VALUE", "MAP", "ADAPTIVE")
_RETRY = _one_of("NO_RETRY", "FIXED_DELAY")

STATE_TTL = TableSetting("table.exec.state.ttl", "0 ms", parse_duration)
SOURCE_IDLE_TIMEOUT = TableSetting("table.exec.source.idle-timeout", "0 ms", parse_duration)
SOURCE_CDC_EVENTS_DUPLICATE = TableSetting("table.exec.source.cdc-events-duplicate", "false", _boolean)
SINK_NOT_NULL_ENFORCER = TableSetting("table.exec.sink.not-null-enforcer", "ERROR", _one_of("ERROR", "DROP"))
SINK_UPSERT_MATERIALIZE = TableSetting("table.exec.sink.upsert-materialize", "AUTO", _one_of("NONE", "AUTO", "FORCE"))
SINK_REQUIRE_ON_CONFLICT = TableSetting("table.exec.sink.require-on-conflict", "true", _boolean)
DEFAULT_PARALLELISM = TableSetting("table.exec.resource.default-parallelism", "-1", _whole_number)
ASYNC_SCALAR_MAX_CONCURRENT_OPERATIONS = TableSetting(
    "table.exec.async-scalar.max-concurrent-operations", "10", _whole_number
)
ASYNC_SCALAR_TIMEOUT = TableSetting("table.exec.async-scalar.timeout", "3 min", parse_duration)
ASYNC_SCALAR_RETRY_STRATEGY = TableSetting("table.exec.async-scalar.retry-strategy", "FIXED_DELAY", _RETRY)
ASYNC_SCALAR_RETRY_DELAY = TableSetting("table.exec.async-scalar.retry-delay", "100 ms", parse_duration)
ASYNC_SCALAR_MAX_ATTEMPTS = TableSetting("table.exec.async-scalar.max-attempts", "3", _whole_number)
ML_PREDICT_MAX_CONCURRENT_OPERATIONS = TableSetting(
    "table.exec.async-ml-predict.max-concurrent-operations", "10", _whole_number
)
ML_PREDICT_TIMEOUT = TableSetting("table.exec.async-ml-predict.timeout", "3 min", parse_duration)
ML_PREDICT_OUTPUT_MODE = TableSetting("table.exec.async-ml-predict.output-mode", "ORDERED", _MODE)
VECTOR_SEARCH_MAX_CONCURRENT_OPERATIONS = TableSetting(
    "table.exec.async-vector-search.max-concurrent-operations", "10", _whole_number
)
VECTOR_SEARCH_TIMEOUT = TableSetting("table.exec.async-vector-search.timeout", "3 min", parse_duration)
VECTOR_SEARCH_OUTPUT_MODE = TableSetting("table.exec.async-vector-search.output-mode", "ORDERED", _MODE)
MINI_BATCH_ENABLED = TableSetting("table.exec.mini-batch.enabled", "false", _boolean)
AGG_PHASE_STRATEGY = TableSetting("table.optimizer.agg-phase-strategy", "AUTO", _PHASES)
BUILTIN_CATALOG_NAME = TableSetting("table.builtin-catalog-name", "default_catalog", str)
BUILTIN_DATABASE_NAME = TableSetting("table.builtin-database-name", "default_database", str)
EXCLUDED_RULES = TableSetting("scurry.optimizer.excluded-rules", "", str)
CATALOG_STORE_KIND = TableSetting("table.catalog-store.kind", "generic_in_memory", str)
CATALOG_STORE_PATH = TableSetting("table.catalog-store.file.path", "", str)
DML_SYNC = TableSetting("table.dml-sync", "false", _boolean)
LOCAL_TIME_ZONE = TableSetting("table.local-time-zone", "default", str)
DISPLAY_MAX_COLUMN_WIDTH = TableSetting("table.display.max-column-width", "30", _whole_number)
PLAN_COMPILE_CATALOG_OBJECTS = TableSetting(
    "table.plan.compile.catalog-objects", "ALL", _one_of("ALL", "SCHEMA", "IDENTIFIER")
)
PLAN_RESTORE_CATALOG_OBJECTS = TableSetting(
    "table.plan.restore.catalog-objects", "ALL", _one_of("ALL", "ALL_ENFORCED", "IDENTIFIER")
)
PLAN_FORCE_RECOMPILE = TableSetting("table.plan.force-recompile", "false", _boolean)

#: All settings, in the order of Flink: of execution, of the optimizer, of tables, of when windows of GROUP BY emit,
#: which Flink does not document.
FRESHNESS_THRESHOLD = TableSetting("materialized-table.refresh-mode.freshness-threshold", "30 min", parse_duration)
DEFAULT_FRESHNESS_CONTINUOUS = TableSetting("materialized-table.default-freshness.continuous", "3 min", parse_duration)
DEFAULT_FRESHNESS_FULL = TableSetting("materialized-table.default-freshness.full", "1 h", parse_duration)
WORKFLOW_SCHEDULER = TableSetting("workflow-scheduler.type", "embedded", _one_of("embedded"))
REFRESHING_SESSION = TableSetting("scurry.materialized-table.session", "", str)

TABLE_SETTINGS: tuple[TableSetting[Any], ...] = (
    STATE_TTL,
    SOURCE_IDLE_TIMEOUT,
    SOURCE_CDC_EVENTS_DUPLICATE,
    SINK_NOT_NULL_ENFORCER,
    TableSetting("table.exec.sink.type-length-enforcer", "IGNORE", _one_of("IGNORE", "TRIM_PAD", "ERROR")),
    TableSetting("table.exec.sink.nested-constraint-enforcer", "IGNORE", _NESTED),
    SINK_UPSERT_MATERIALIZE,
    TableSetting("table.exec.sink.upsert-materialize-strategy.type", "LEGACY", _MATERIALIZATION),
    TableSetting("table.exec.sink.upsert-materialize-strategy.adaptive.threshold.low", "", _whole_number),
    TableSetting("table.exec.sink.upsert-materialize-strategy.adaptive.threshold.high", "", _whole_number),
    TableSetting("table.exec.sink.keyed-shuffle", "AUTO", _one_of("NONE", "AUTO", "FORCE")),
    TableSetting("table.exec.sink.rowtime-inserter", "ENABLED", _one_of("ENABLED", "DISABLED")),
    SINK_REQUIRE_ON_CONFLICT,
    TableSetting("table.exec.sort.default-limit", "-1", _whole_number),
    TableSetting("table.exec.sort.max-num-file-handles", "128", _whole_number),
    TableSetting("table.exec.sort.async-merge-enabled", "true", _boolean),
    TableSetting("table.exec.spill-compression.enabled", "true", _boolean),
    TableSetting("table.exec.spill-compression.block-size", "64 kb", parse_bytes),
    DEFAULT_PARALLELISM,
    TableSetting("table.exec.resource.external-buffer-memory", "10 mb", parse_bytes),
    TableSetting("table.exec.resource.hash-agg.memory", "128 mb", parse_bytes),
    TableSetting("table.exec.resource.hash-join.memory", "128 mb", parse_bytes),
    TableSetting("table.exec.resource.sort.memory", "128 mb", parse_bytes),
    TableSetting("table.exec.window-agg.buffer-size-limit", "100000", _whole_number),
    TableSetting("table.exec.local-hash-agg.adaptive.enabled", "true", _boolean),
    TableSetting("table.exec.local-hash-agg.adaptive.sampling-threshold", "500000", _whole_number),
    TableSetting("table.exec.local-hash-agg.adaptive.distinct-value-rate-threshold", "0.5", _number),
    TableSetting("table.exec.async-lookup.key-ordered-enabled", "false", _boolean),
    TableSetting("table.exec.async-lookup.buffer-capacity", "100", _whole_number),
    TableSetting("table.exec.async-lookup.timeout", "3 min", parse_duration),
    TableSetting("table.exec.async-lookup.output-mode", "ORDERED", _MODE),
    ASYNC_SCALAR_MAX_CONCURRENT_OPERATIONS,
    ASYNC_SCALAR_TIMEOUT,
    ASYNC_SCALAR_RETRY_STRATEGY,
    ASYNC_SCALAR_RETRY_DELAY,
    ASYNC_SCALAR_MAX_ATTEMPTS,
    TableSetting("table.exec.async-table.max-concurrent-operations", "10", _whole_number),
    TableSetting("table.exec.async-table.timeout", "3 min", parse_duration),
    TableSetting("table.exec.async-table.retry-strategy", "FIXED_DELAY", _RETRY),
    TableSetting("table.exec.async-table.retry-delay", "100 ms", parse_duration),
    TableSetting("table.exec.async-table.max-retries", "3", _whole_number),
    ML_PREDICT_MAX_CONCURRENT_OPERATIONS,
    ML_PREDICT_TIMEOUT,
    ML_PREDICT_OUTPUT_MODE,
    VECTOR_SEARCH_MAX_CONCURRENT_OPERATIONS,
    VECTOR_SEARCH_TIMEOUT,
    VECTOR_SEARCH_OUTPUT_MODE,
    MINI_BATCH_ENABLED,
    TableSetting("table.exec.mini-batch.allow-latency", "0 ms", parse_duration),
    TableSetting("table.exec.mini-batch.size", "-1", _whole_number),
    TableSetting("table.exec.disabled-operators", "", str),
    TableSetting("table.exec.operator-fusion-codegen.enabled", "false", _boolean),
    TableSetting("table.exec.legacy-cast-behaviour", "DISABLED", _one_of("DISABLED", "ENABLED")),
    TableSetting("table.exec.rank.topn-cache-size", "10000", _whole_number),
    TableSetting("table.exec.simplify-operator-name-enabled", "true", _boolean),
    TableSetting("table.exec.deduplicate.insert-update-after-sensitive-enabled", "true", _boolean),
    TableSetting("table.exec.deduplicate.mini-batch.compact-changes-enabled", "false", _boolean),
    TableSetting("table.exec.unbounded-over.version", "2", _whole_number),
    TableSetting("table.exec.uid.generation", "PLAN_ONLY", _one_of("PLAN_ONLY", "ALWAYS", "DISABLED")),
    TableSetting("table.exec.uid.format", "<id>_<transformation>", str),
    TableSetting("table.exec.interval-join.min-cleanup-interval", "0 ms", parse_duration),
    TableSetting("table.exec.async-state.enabled", "false", _boolean),
    TableSetting("table.exec.delta-join.cache-enabled", "true", _boolean),
    TableSetting("table.exec.delta-join.left.cache-size", "10000", _whole_number),
    TableSetting("table.exec.delta-join.right.cache-size", "10000", _whole_number),
    AGG_PHASE_STRATEGY,
    TableSetting("table.optimizer.join.broadcast-threshold", "1048576", _whole_number),
    TableSetting("table.optimizer.distinct-agg.split.enabled", "false", _boolean),
    TableSetting("table.optimizer.distinct-agg.split.bucket-num", "1024", _whole_number),
    TableSetting("table.optimizer.reuse-sub-plan-enabled", "true", _boolean),
    TableSetting("table.optimizer.reuse-source-enabled", "true", _boolean),
    TableSetting("table.optimizer.reuse-sink-enabled", "true", _boolean),
    TableSetting("table.optimizer.source.report-statistics-enabled", "true", _boolean),
    TableSetting("table.optimizer.join-reorder-enabled", "false", _boolean),
    TableSetting("table.optimizer.bushy-join-reorder-threshold", "12", _whole_number),
    TableSetting("table.optimizer.multiple-input-enabled", "true", _boolean),
    TableSetting("table.optimizer.dynamic-filtering.enabled", "true", _boolean),
    TableSetting("table.optimizer.runtime-filter.enabled", "false", _boolean),
    TableSetting("table.optimizer.adaptive-broadcast-join.strategy", "auto", _one_of("auto", "runtime_only", "none")),
    TableSetting("table.optimizer.skewed-join-optimization.strategy", "auto", _STRATEGY),
    TableSetting("table.optimizer.skewed-join-optimization.skewed-factor", "4.0", _number),
    TableSetting("table.optimizer.skewed-join-optimization.skewed-threshold", "256 mb", parse_bytes),
    TableSetting("table.optimizer.runtime-filter.max-build-data-size", "150 mb", parse_bytes),
    TableSetting("table.optimizer.runtime-filter.min-probe-data-size", "10 gb", parse_bytes),
    TableSetting("table.optimizer.runtime-filter.min-filter-ratio", "0.5", _number),
    TableSetting("table.optimizer.non-deterministic-update.strategy", "IGNORE", _one_of("IGNORE", "TRY_RESOLVE")),
    TableSetting("table.optimizer.sql2rel.project-merge.enabled", "false", _boolean),
    TableSetting("table.optimizer.union-all-as-breakpoint-enabled", "true", _boolean),
    TableSetting("table.optimizer.reuse-optimize-block-with-digest-enabled", "false", _boolean),
    TableSetting("table.optimizer.multi-join.enabled", "false", _boolean),
    TableSetting("table.optimizer.incremental-agg-enabled", "true", _boolean),
    TableSetting("table.optimizer.ptf.max-tables", "20", _whole_number),
    TableSetting("table.optimizer.delta-join.strategy", "AUTO", _one_of("AUTO", "FORCE", "NONE")),
    FRESHNESS_THRESHOLD,
    DEFAULT_FRESHNESS_CONTINUOUS,
    DEFAULT_FRESHNESS_FULL,
    WORKFLOW_SCHEDULER,
    BUILTIN_CATALOG_NAME,
    BUILTIN_DATABASE_NAME,
    TableSetting("table.catalog-modification.listeners", "", str),
    DML_SYNC,
    TableSetting("table.dynamic-table-options.enabled", "true", _boolean),
    TableSetting("table.sql-dialect", "default", str),
    LOCAL_TIME_ZONE,
    DISPLAY_MAX_COLUMN_WIDTH,
    TableSetting("table.resources.download-dir", "/tmp", str),
    TableSetting("table.rtas-ctas.atomicity-enabled", "false", _boolean),
    TableSetting("table.column-expansion-strategy", "[]", str),
    TableSetting("table.legacy-nested-row-nullability", "false", _boolean),
    PLAN_COMPILE_CATALOG_OBJECTS,
    PLAN_RESTORE_CATALOG_OBJECTS,
    PLAN_FORCE_RECOMPILE,
    TableSetting("table.generated-code.max-length", "4000", _whole_number),
    TableSetting("table.generated-code.max-members", "10000", _whole_number),
    TableSetting("table.exec.emit.early-fire.enabled", "false", _boolean),
    TableSetting("table.exec.emit.early-fire.delay", "", parse_duration),
    TableSetting("table.exec.emit.late-fire.enabled", "false", _boolean),
    TableSetting("table.exec.emit.late-fire.delay", "", parse_duration),
    TableSetting("table.exec.emit.allow-lateness", "", parse_duration),
)

#: Settings of the SQL client, which every session has.
CLIENT_SETTINGS: tuple[TableSetting[Any], ...] = (
    TableSetting("sql-client.display.max-column-width", "", _whole_number),
    TableSetting("sql-client.display.print-time-cost", "", _boolean),
    TableSetting("sql-client.execution.max-table-result.rows", "", _whole_number),
    TableSetting("sql-client.execution.result-mode", "", _one_of("TABLE", "CHANGELOG", "TABLEAU")),
    TableSetting("sql-client.verbose", "", _boolean),
)
