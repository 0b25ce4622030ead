"""The settings of Flink's Table API and SQL: which have an effect, and which values are refused."""

from __future__ import annotations

from typing import Any

from scurry.common._config.tables import CLIENT_SETTINGS, LOCAL_TIME_ZONE, TABLE_SETTINGS, TableSetting
from scurry.common.configuration import Configuration
from scurry.errors import UnknownConfigError, UnsupportedError, ValidationError
from scurry.errors.suggestions import similar_name

#: Effects of settings.
_EFFECTS = {
    "table.exec.state.ttl": "Time after its last write at which state expires.",
    "table.exec.source.idle-timeout": "Time after which a reader without rows no longer holds back the watermark.",
    "table.exec.source.cdc-events-duplicate": "Deduplicate the changes of tables with primary keys.",
    "table.exec.sink.not-null-enforcer": "Treatment of NULL in columns that are NOT NULL.",
    "table.exec.sink.upsert-materialize": "Condition for converting a query's changes to the key of the table.",
    "table.exec.sink.require-on-conflict": "Require ON CONFLICT if the keys of query and table differ.",
    "table.exec.resource.default-parallelism": "The parallelism of queries in STREAMING; else `parallelism.default`.",
    "table.exec.async-scalar.max-concurrent-operations": "Maximum concurrent calls of an asynchronous function.",
    "table.exec.async-ml-predict.max-concurrent-operations": "Maximum concurrent calls of a model.",
    "table.exec.async-ml-predict.timeout": "Time after which a call of a model fails, with all its attempts.",
    "table.exec.async-ml-predict.output-mode": "ALLOW_UNORDERED: rows in the order of their answers.",
    "table.exec.async-vector-search.max-concurrent-operations": "Maximum concurrent searches of VECTOR_SEARCH.",
    "table.exec.async-vector-search.timeout": "Time after which a search of VECTOR_SEARCH fails.",
    "table.exec.async-vector-search.output-mode": "ALLOW_UNORDERED: rows in the order of their answers.",
    "table.exec.mini-batch.enabled": (
        "Change groups once for the rows that are read together: the micro-batch is the bundle. Rows are aggregated "
        "where they are read, and then by key."
    ),
    "table.optimizer.agg-phase-strategy": (
        "With mini-batches: ONE_PHASE aggregates rows only where the state of their keys is."
    ),
    "table.optimizer.delta-join.strategy": "FORCE is refused: tables are joined with state.",
    "table.builtin-catalog-name": "The catalog that a session begins with.",
    "table.builtin-database-name": "Its database.",
    "table.catalog-modification.listeners": "Refused: listeners are classes of Java.",
    "table.dml-sync": "Let `execute_sql` wait for the end of an insertion.",
    "table.local-time-zone": "The session's time zone.",
    "table.plan.compile.catalog-objects": "Parts of tables in compiled plans: all, the schema, or the name.",
    "table.plan.restore.catalog-objects": "Parts of tables read from compiled plans; the rest comes from catalogs.",
    "table.plan.force-recompile": "Let COMPILE PLAN replace a file.",
    "table.display.max-column-width": "Maximum width of a column in `print()` in STREAMING.",
    "table.exec.async-scalar.timeout": "Time after which a call fails.",
    "table.exec.async-scalar.retry-strategy": "Treatment of a failed call.",
    "table.exec.async-scalar.retry-delay": "Delay before the next attempt.",
    "table.exec.async-scalar.max-attempts": "Maximum number of attempts.",
    "materialized-table.refresh-mode.freshness-threshold": (
        "Materialized tables with a shorter freshness are refreshed in CONTINUOUS mode, others in FULL mode."
    ),
    "materialized-table.default-freshness.continuous": "The freshness of CONTINUOUS mode without FRESHNESS.",
    "materialized-table.default-freshness.full": "The freshness of FULL mode without FRESHNESS.",
    "workflow-scheduler.type": "What refreshes materialized tables in FULL mode: only `embedded`.",
}

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

_BY_KEY = {setting.key: setting for setting in TABLE_SETTINGS}
_OF_CLIENT = {setting.key: setting for setting in CLIENT_SETTINGS}

SETTING_KEYS = (*_BY_KEY, *_OF_CLIENT)
"""The keys of the settings of tables and of the SQL client."""


def setting_keys() -> list[str]:
    """Return the keys of the settings that have an effect here."""
    return [key for key in _BY_KEY if key in _EFFECTS and key not in _REFUSED] + list(_OF_CLIENT)


def check_setting(key: str, value: str) -> None:
    """Check a setting of tables or of the SQL client when it is set; others are not looked at.

    Raises:
        UnknownConfigError: There is no such setting, but a similar one.
        ValidationError: The value cannot be read.
        UnsupportedError: Results would be others with it, which scurry does not have.
    """
    if key in _BY_KEY:
        _check(_BY_KEY[key], value)
    elif key in _OF_CLIENT:
        _OF_CLIENT[key].read(value)
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


def effect_of(setting: TableSetting[Any]) -> str:
    """Return the effect of a setting, or why it is refused; empty without effect."""
    return _EFFECTS.get(setting.key, "") or ("Refused but for the default." if setting.key in _REFUSED else "")


def _check(setting: TableSetting[Any], value: str) -> None:
    setting.read(value)
    if setting is LOCAL_TIME_ZONE and value != LOCAL_TIME_ZONE.default:
        _check_zone(value)
    accepted = _REFUSED.get(setting.key)
    if accepted is not None and value.strip().lower() not in {setting.default.lower(), *accepted}:
        shown = setting.default or "nothing"
        raise UnsupportedError(f"'{setting.key}' = '{value}' is not supported: only its default, {shown}")


def _check_zone(text: str) -> None:
    from scurry.sql.functions.time_zones import check_session_zone

    try:
        check_session_zone(text)
    except ValueError as error:
        raise ValidationError(f"{error} It is '{text}' in '{LOCAL_TIME_ZONE.key}'.") from None
