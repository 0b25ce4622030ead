"""Scans of tables that have changes: which ones, and the newest row of each key where rows replace each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scurry.common._config.tables import SOURCE_CDC_EVENTS_DUPLICATE
from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.nodes import Plan, Project, Scan, TemporalJoin
from scurry.sql.plan.physical.changes import ChangelogNormalize
from scurry.sql.types.families import is_proctime


def scan_changes(plan: Plan, changes: Mapping[Any, str], session: EvaluationContext) -> Plan:
    """Return a plan whose scans say which changes their tables have.

    Args:
        changes: Key of a scan -> the changes of its table, as `Scan.changes` has them.

    Raises:
        ValidationError: A table whose rows replace each other has no primary key.
    """
    if isinstance(plan, Scan):
        return _scan(plan, changes[plan.key], session.get(SOURCE_CDC_EVENTS_DUPLICATE))
    if isinstance(plan, TemporalJoin):
        # Lookup tables have no changes; rows that replace each other by key are versions of them.
        right = plan.right if is_proctime(plan.period.type) else _versions(plan.right, changes, session)
        return plan.with_inputs((scan_changes(plan.left, changes, session), right))
    return plan.with_inputs(tuple(scan_changes(each, changes, session) for each in plan.inputs))


def _versions(plan: Plan, changes: Mapping[Any, str], session: EvaluationContext) -> Plan:
    """Return the right side of a temporal join by event time, with its changes as the source has them."""
    if isinstance(plan, Project) and isinstance(plan.input, Scan):
        return plan.with_inputs((_versions(plan.input, changes, session),))
    if isinstance(plan, Scan) and plan.primary_key and set(plan.primary_key) <= set(plan.columns):
        return replace(plan, changes=changes[plan.key])
    return scan_changes(plan, changes, session)


def _scan(plan: Scan, changes: str, duplicates: bool) -> Plan:
    if changes == "INSERT":
        return plan
    upserts = changes == "UPSERT"
    if not upserts and not duplicates:
        return replace(plan, changes=changes)
    if not plan.primary_key and not upserts:
        raise ValidationError(
            "Configuration 'table.exec.source.cdc-events-duplicate' is enabled which requires the changelog sources to "
            f"define a PRIMARY KEY. However, table '{'.'.join(plan.path)}' doesn't have a primary key."
        )
    if not plan.primary_key:
        raise ValidationError(
            f"Table '{'.'.join(plan.path)}' produces a changelog stream that contains UPDATE_AFTER but no "
            "UPDATE_BEFORE. This requires defining a primary key constraint on the table."
        )
    columns = (*plan.columns, *(each for each in plan.primary_key if each not in plan.columns))
    read = replace(plan, columns=columns, changes=changes)
    rows = ChangelogNormalize(read, tuple(columns.index(each) for each in plan.primary_key))
    return builders.project(
        rows, [builders.column(rows, place) for place in range(len(plan.columns))], plan.schema.names
    )
