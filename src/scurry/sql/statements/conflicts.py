"""ON CONFLICT: sinks whose primary key differs from the keys of the query."""

from __future__ import annotations

from scurry.common._config.tables import SINK_REQUIRE_ON_CONFLICT, SINK_UPSERT_MATERIALIZE
from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Scan, Sink, walk
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.planner.unique_keys import flinks_upsert_keys
from scurry.sql.types.families import is_rowtime


def check_conflicts(changelogs: Changelogs, sink: Sink, session: EvaluationContext) -> None:
    """Require ON CONFLICT if a query may have several rows of the same primary key.

    Raises:
        ValidationError: It does not say so, or says it where it means nothing.
    """
    if sink.on_conflict is None:
        is_required = session.get(SINK_REQUIRE_ON_CONFLICT)
        is_automatic = session.get(SINK_UPSERT_MATERIALIZE) == "AUTO"
        is_covered = any(key <= set(sink.key) for key in flinks_upsert_keys(sink.input))
        if is_required and is_automatic and sink.upsert_materialize and not is_covered:
            raise ValidationError(_without_clause(sink))
        return
    if sink.on_conflict != "DEDUPLICATE":
        _check_watermarks(sink)
    if changelogs.is_insert_only(sink.input):
        raise ValidationError(
            f"ON CONFLICT clause is only allowed for upsert sinks. The sink '{'.'.join(sink.path)}' is not an upsert "
            "sink because it only accepts INSERT (append-only) changes."
        )


def _check_watermarks(sink: Sink) -> None:
    scans = [each for each in walk(sink) if isinstance(each, Scan)]
    missing = dict.fromkeys(".".join(each.path) for each in scans if not any(map(is_rowtime, each.table_schema.types)))
    if missing:
        raise ValidationError(
            f"ON CONFLICT DO {sink.on_conflict} requires all source tables to define watermarks, but the following "
            f"source(s) do not: {', '.join(missing)}. Please add a WATERMARK declaration to these tables."
        )


def _without_clause(sink: Sink) -> str:
    names = sink.input.schema.names
    keys = sorted(map(sorted, flinks_upsert_keys(sink.input)), key=len)
    upsert_key = f"[{', '.join(names[column] for column in keys[0])}]" if keys else ""
    return (
        f"The query has an upsert key that differs from the primary key of the sink table '{'.'.join(sink.path)}'. "
        f"Primary key: [{', '.join(names[column] for column in sink.key)}], upsert key: {upsert_key}. This can lead to "
        "non-deterministic results when multiple records with different upsert keys map to the same primary key. "
        "Please specify an ON CONFLICT clause to define how conflicts should be handled: ON CONFLICT DO DEDUPLICATE "
        "(update to the latest record, state intensive, since we need to keep the entire history), or ON CONFLICT DO "
        "ERROR (fail on conflict), or ON CONFLICT DO NOTHING (keep first record)."
    )
