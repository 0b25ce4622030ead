"""The settings of Flink's Table API and SQL: which have an effect, and which values are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scurry.common._config.option import parse_bytes, parse_duration
from scurry.common.configuration import Configuration
from scurry.errors import UnknownConfigError, UnsupportedError, ValidationError
from scurry.errors.suggestions import similar_name

__all__ = ["SETTING_KEYS", "TABLE_OPTIONS", "TableSetting", "check_setting", "check_table_options", "setting_keys"]


def _boolean(text: str) -> object:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError("expected true or false")
    return text.strip().lower() == "true"


def _text(text: str) -> object:
    return text


def _zone(text: str) -> object:
    from scurry.sql.functions.time_zones import check_session_zone

    try:
        if text != "default":
            check_session_zone(text)
        return text
    except ValueError as error:
        raise ValidationError(f"{error} It is '{text}' in 'table.local-time-zone'.") from None


def _whole_number(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        raise ValueError("expected a whole number") from None


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        raise ValueError("expected a number") from None


def _one_of(*values: str) -> Callable[[str], object]:
    def parse(text: str) -> object:
        for value in values:
            if value.upper() == text.strip().upper():
                return value
        raise ValueError(f"expected one of {', '.join(values)}")

    return parse


@dataclass(frozen=True)
class TableSetting:
    """A setting.

    Attributes:
        key: Its key.
        default: Its default as text; empty for none.
        parse: Reads a value, or raises ValueError that says what is expected.
    """

    key: str
    default: str
    parse: Callable[[str], object]

    @property
    def effect(self) -> str:
        """What it does, or why it is refused; empty if it has no effect."""
        return _EFFECTS.get(self.key, "") or ("Refused but for the default." if self.key in _REFUSED else "")


_PHASES = _one_of("AUTO", "ONE_PHASE", "TWO_PHASE")
_STRATEGY = _one_of("auto", "forced", "none")
_MODE = _one_of("ORDERED", "ALLOW_UNORDERED")
_RETRY = _one_of("NO_RETRY", "FIXED_DELAY")

#: Keys, defaults, and how values are read; in the order of Flink: of execution, of the optimizer, of tables, of when
#: windows of GROUP BY emit (which Flink does not document).
_OPTIONS: tuple[tuple[str, str, Callable[[str], object]], ...] = (
    ("table.exec.state.ttl", "0 ms", parse_duration),
    ("table.exec.source.idle-timeout", "0 ms", parse_duration),
    ("table.exec.source.cdc-events-duplicate", "false", _boolean),
    ("table.exec.sink.not-null-enforcer", "ERROR", _one_of("ERROR", "DROP")),
    ("table.exec.sink.type-length-enforcer", "IGNORE", _one_of("IGNORE", "TRIM_PAD", "ERROR")),
    ("table.exec.sink.nested-constraint-enforcer", "IGNORE", _one_of("IGNORE", "ROWS", "ROWS_AND_COLLECTIONS")),
    ("table.exec.sink.upsert-materialize", "AUTO", _one_of("NONE", "AUTO", "FORCE")),
    ("table.exec.sink.upsert-materialize-strategy.type", "LEGACY", _one_of("LEGACY", "VALUE", "MAP", "ADAPTIVE")),
    ("table.exec.sink.upsert-materialize-strategy.adaptive.threshold.low", "", _whole_number),
    ("table.exec.sink.upsert-materialize-strategy.adaptive.threshold.high", "", _whole_number),
    ("table.exec.sink.keyed-shuffle", "AUTO", _one_of("NONE", "AUTO", "FORCE")),
    ("table.exec.sink.rowtime-inserter", "ENABLED", _one_of("ENABLED", "DISABLED")),
    ("table.exec.sink.require-on-conflict", "true", _boolean),
    ("table.exec.sort.default-limit", "-1", _whole_number),
    ("table.exec.sort.max-num-file-handles", "128", _whole_number),
    ("table.exec.sort.async-merge-enabled", "true", _boolean),
    ("table.exec.spill-compression.enabled", "true", _boolean),
    ("table.exec.spill-compression.block-size", "64 kb", parse_bytes),
    ("table.exec.resource.default-parallelism", "-1", _whole_number),
    ("table.exec.resource.external-buffer-memory", "10 mb", parse_bytes),
    ("table.exec.resource.hash-agg.memory", "128 mb", parse_bytes),
    ("table.exec.resource.hash-join.memory", "128 mb", parse_bytes),
    ("table.exec.resource.sort.memory", "128 mb", parse_bytes),
    ("table.exec.window-agg.buffer-size-limit", "100000", _whole_number),
    ("table.exec.local-hash-agg.adaptive.enabled", "true", _boolean),
    ("table.exec.local-hash-agg.adaptive.sampling-threshold", "500000", _whole_number),
    ("table.exec.local-hash-agg.adaptive.distinct-value-rate-threshold", "0.5", _number),
    ("table.exec.async-lookup.key-ordered-enabled", "false", _boolean),
    ("table.exec.async-lookup.buffer-capacity", "100", _whole_number),
    ("table.exec.async-lookup.timeout", "3 min", parse_duration),
    ("table.exec.async-lookup.output-mode", "ORDERED", _MODE),
    ("table.exec.async-scalar.max-concurrent-operations", "10", _whole_number),
    ("table.exec.async-scalar.timeout", "3 min", parse_duration),
    ("table.exec.async-scalar.retry-strategy", "FIXED_DELAY", _RETRY),
    ("table.exec.async-scalar.retry-delay", "100 ms", parse_duration),
    ("table.exec.async-scalar.max-attempts", "3", _whole_number),
    ("table.exec.async-table.max-concurrent-operations", "10", _whole_number),
    ("table.exec.async-table.timeout", "3 min", parse_duration),
    ("table.exec.async-table.retry-strategy", "FIXED_DELAY", _RETRY),
    ("table.exec.async-table.retry-delay", "100 ms", parse_duration),
    ("table.exec.async-table.max-retries", "3", _whole_number),
    ("table.exec.async-ml-predict.max-concurrent-operations", "10", _whole_number),
    ("table.exec.async-ml-predict.timeout", "3 min", parse_duration),
    ("table.exec.async-ml-predict.output-mode", "ORDERED", _MODE),
    ("table.exec.async-vector-search.max-concurrent-operations", "10", _whole_number),
    ("table.exec.async-vector-search.timeout", "3 min", parse_duration),
    ("table.exec.async-vector-search.output-mode", "ORDERED", _MODE),
    ("table.exec.mini-batch.enabled", "false", _boolean),
    ("table.exec.mini-batch.allow-latency", "0 ms", parse_duration),
    ("table.exec.mini-batch.size", "-1", _whole_number),
    ("table.exec.disabled-operators", "", _text),
    ("table.exec.operator-fusion-codegen.enabled", "false", _boolean),
    ("table.exec.legacy-cast-behaviour", "DISABLED", _one_of("DISABLED", "ENABLED")),
    ("table.exec.rank.topn-cache-size", "10000", _whole_number),
    ("table.exec.simplify-operator-name-enabled", "true", _boolean),
    ("table.exec.deduplicate.insert-update-after-sensitive-enabled", "true", _boolean),
    ("table.exec.deduplicate.mini-batch.compact-changes-enabled", "false", _boolean),
    ("table.exec.unbounded-over.version", "2", _whole_number),
    ("table.exec.uid.generation", "PLAN_ONLY", _one_of("PLAN_ONLY", "ALWAYS", "DISABLED")),
    ("table.exec.uid.format", "<id>_<transformation>", _text),
    ("table.exec.interval-join.min-cleanup-interval", "0 ms", parse_duration),
    ("table.exec.async-state.enabled", "false", _boolean),
    ("table.exec.delta-join.cache-enabled", "true", _boolean),
    ("table.exec.delta-join.left.cache-size", "10000", _whole_number),
    ("table.exec.delta-join.right.cache-size", "10000", _whole_number),
    ("table.optimizer.agg-phase-strategy", "AUTO", _PHASES),
    ("table.optimizer.join.broadcast-threshold", "1048576", _whole_number),
    ("table.optimizer.distinct-agg.split.enabled", "false", _boolean),
    ("table.optimizer.distinct-agg.split.bucket-num", "1024", _whole_number),
    ("table.optimizer.reuse-sub-plan-enabled", "true", _boolean),
    ("table.optimizer.reuse-source-enabled", "true", _boolean),
    ("table.optimizer.reuse-sink-enabled", "true", _boolean),
    ("table.optimizer.source.report-statistics-enabled", "true", _boolean),
    ("table.optimizer.join-reorder-enabled", "false", _boolean),
    ("table.optimizer.bushy-join-reorder-threshold", "12", _whole_number),
    ("table.optimizer.multiple-input-enabled", "true", _boolean),
    ("table.optimizer.dynamic-filtering.enabled", "true", _boolean),
    ("table.optimizer.runtime-filter.enabled", "false", _boolean),
    ("table.optimizer.adaptive-broadcast-join.strategy", "auto", _one_of("auto", "runtime_only", "none")),
    ("table.optimizer.skewed-join-optimization.strategy", "auto", _STRATEGY),
    ("table.optimizer.skewed-join-optimization.skewed-factor", "4.0", _number),
    ("table.optimizer.skewed-join-optimization.skewed-threshold", "256 mb", parse_bytes),
    ("table.optimizer.runtime-filter.max-build-data-size", "150 mb", parse_bytes),
    ("table.optimizer.runtime-filter.min-probe-data-size", "10 gb", parse_bytes),
    ("table.optimizer.runtime-filter.min-filter-ratio", "0.5", _number),
    ("table.optimizer.non-deterministic-update.strategy", "IGNORE", _one_of("IGNORE", "TRY_RESOLVE")),
    ("table.optimizer.sql2rel.project-merge.enabled", "false", _boolean),
    ("table.optimizer.union-all-as-breakpoint-enabled", "true", _boolean),
    ("table.optimizer.reuse-optimize-block-with-digest-enabled", "false", _boolean),
    ("table.optimizer.multi-join.enabled", "false", _boolean),
    ("table.optimizer.incremental-agg-enabled", "true", _boolean),
    ("table.optimizer.ptf.max-tables", "20", _whole_number),
    ("table.optimizer.delta-join.strategy", "AUTO", _one_of("AUTO", "FORCE", "NONE")),
    ("table.builtin-catalog-name", "default_catalog", _text),
    ("table.builtin-database-name", "default_database", _text),
    ("table.catalog-modification.listeners", "", _text),
    ("table.dml-sync", "false", _boolean),
    ("table.dynamic-table-options.enabled", "true", _boolean),
    ("table.sql-dialect", "default", _text),
    ("table.local-time-zone", "default", _zone),
    ("table.display.max-column-width", "30", _whole_number),
    ("table.resources.download-dir", "/tmp", _text),
    ("table.rtas-ctas.atomicity-enabled", "false", _boolean),
    ("table.column-expansion-strategy", "[]", _text),
    ("table.legacy-nested-row-nullability", "false", _boolean),
    ("table.plan.compile.catalog-objects", "ALL", _one_of("ALL", "SCHEMA", "IDENTIFIER")),
    ("table.plan.restore.catalog-objects", "ALL", _one_of("ALL", "ALL_ENFORCED", "IDENTIFIER")),
    ("table.plan.force-recompile", "false", _boolean),
    ("table.generated-code.max-length", "4000", _whole_number),
    ("table.generated-code.max-members", "10000", _whole_number),
    ("table.exec.emit.early-fire.enabled", "false", _boolean),
    ("table.exec.emit.early-fire.delay", "", parse_duration),
    ("table.exec.emit.late-fire.enabled", "false", _boolean),
    ("table.exec.emit.late-fire.delay", "", parse_duration),
    ("table.exec.emit.allow-lateness", "", parse_duration),
)  # fmt: skip

#: What settings do that have an effect.
_EFFECTS = {
    "table.exec.state.ttl": "After which time state is forgotten that is not written.",
    "table.exec.source.idle-timeout": "After which time a reader without rows does not hold back the watermark.",
    "table.exec.source.cdc-events-duplicate": "Changes of tables with primary keys are made unique.",
    "table.exec.sink.not-null-enforcer": "What becomes of NULL in columns that are NOT NULL.",
    "table.exec.sink.upsert-materialize":
        "When changes by the key of a query become changes by that of the table.",
    "table.exec.sink.require-on-conflict":
        "Whether ON CONFLICT has to be said where the keys of query and table differ.",
    "table.exec.resource.default-parallelism":
        "The parallelism of queries in STREAMING; else `parallelism.default`.",
    "table.exec.async-scalar.max-concurrent-operations":
        "How many calls of an asynchronous function there are at once.",
    "table.exec.mini-batch.enabled":
        "Groups change once for the rows that are read together: the micro-batch is the bundle. "
        "Rows are aggregated where they are read, and then by key.",
    "table.optimizer.agg-phase-strategy":
        "With mini-batches: ONE_PHASE aggregates rows only where the state of their keys is.",
    "table.optimizer.delta-join.strategy": "FORCE is refused: tables are joined with state.",
    "table.builtin-catalog-name": "The catalog that a session begins with.",
    "table.builtin-database-name": "Its database.",
    "table.catalog-modification.listeners": "Refused: listeners are classes of Java.",
    "table.dml-sync": "Whether `execute_sql` waits for the end of an insertion.",
    "table.local-time-zone": "The session's time zone.",
    "table.plan.compile.catalog-objects": "What compiled plans keep of tables: all, the schema, or the name.",
    "table.plan.restore.catalog-objects": "What is read of that, and what is looked up in catalogs.",
    "table.plan.force-recompile": "Whether COMPILE PLAN replaces a file.",
    "table.display.max-column-width": "How wide `print()` shows columns in STREAMING.",
    "table.exec.async-scalar.timeout": "After which time a call has failed.",
    "table.exec.async-scalar.retry-strategy": "What is done after a call that failed.",
    "table.exec.async-scalar.retry-delay": "How long is waited before the next attempt.",
    "table.exec.async-scalar.max-attempts": "How many attempts there are.",
}  # fmt: skip

#: Settings of which only the default is accepted, and these values in lower case: results would be others.
_REFUSED: dict[str, tuple[str, ...]] = {
    "table.exec.sink.type-length-enforcer": (),
    "table.exec.sink.nested-constraint-enforcer": (),
    "table.exec.sort.default-limit": (),
    "table.exec.legacy-cast-behaviour": (),
    "table.optimizer.non-deterministic-update.strategy": (),
    "table.optimizer.delta-join.strategy": ("none",),
    "table.catalog-modification.listeners": (),
    "table.dynamic-table-options.enabled": (),
    "table.sql-dialect": (),
    "table.column-expansion-strategy": (),
    "table.legacy-nested-row-nullability": (),
    "table.exec.emit.early-fire.enabled": (),
    "table.exec.emit.late-fire.enabled": (),
    "table.exec.emit.allow-lateness": (),
}

TABLE_OPTIONS = tuple(TableSetting(*each) for each in _OPTIONS)
_BY_KEY = {option.key: option for option in TABLE_OPTIONS}

#: Settings of the SQL client, which every session has.
_CLIENT_SETTINGS = {
    "sql-client.display.max-column-width": _whole_number,
    "sql-client.display.print-time-cost": _boolean,
    "sql-client.execution.max-table-result.rows": _whole_number,
    "sql-client.execution.result-mode": _one_of("TABLE", "CHANGELOG", "TABLEAU"),
    "sql-client.verbose": _boolean,
}
SETTING_KEYS = (*_BY_KEY, *_CLIENT_SETTINGS)
"""The keys of the settings of tables and of the SQL client."""


def setting_keys() -> list[str]:
    """Return the keys of the settings that have an effect here."""
    return [key for key in _BY_KEY if key in _EFFECTS and key not in _REFUSED] + list(_CLIENT_SETTINGS)


def check_setting(key: str, value: str) -> None:
    """Check a setting of tables or of the SQL client when it is set; others are not looked at.

    Args:
        key: Its key.
        value: Its value.

    Raises:
        UnknownConfigError: There is no such setting, but a similar one.
        ValidationError: The value cannot be read.
        UnsupportedError: Results would be others with it, which scurry does not have.
    """
    if key in _BY_KEY:
        _check(_BY_KEY[key], value)
    elif key in _CLIENT_SETTINGS:
        _read(key, value, _CLIENT_SETTINGS[key])
    elif key.startswith(("table.", "sql-client.")) and (closest := similar_name(key, SETTING_KEYS, cutoff=0.8)):
        raise UnknownConfigError(f"configuration {key} is unknown: did you mean {closest}?")


def check_table_options(configuration: Configuration) -> None:
    """Check the settings of tables before a statement is planned.

    Raises:
        UnknownConfigError: A key is nearly one of these. Others that Flink does not have never stop a program.
        ValidationError: A value cannot be read.
        UnsupportedError: Results would be others with a setting, which scurry does not have.
    """
    for key, value in configuration.to_dict().items():
        if key in _BY_KEY:
            _check(_BY_KEY[key], value)
        elif key.startswith("table.") and (closest := similar_name(key, _BY_KEY, cutoff=0.95)):
            raise UnknownConfigError(f"configuration {key} is unknown: did you mean {closest}?")


def _read(key: str, value: str, parse: Callable[[str], object]) -> None:
    try:
        parse(value)
    except ValidationError:
        raise
    except ValueError as error:
        raise ValidationError(f"Could not parse value '{value}' for key '{key}'.").with_hint(str(error)) from error


def _check(option: TableSetting, value: str) -> None:
    _read(option.key, value, option.parse)
    accepted = _REFUSED.get(option.key)
    if accepted is not None and value.strip().lower() not in {option.default.lower(), *accepted}:
        shown = option.default or "nothing"
        raise UnsupportedError(f"'{option.key}' = '{value}' is not supported: only its default, {shown}")
