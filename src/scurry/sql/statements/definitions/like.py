"""CREATE TABLE ... LIKE: merging a definition with that of another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scurry.errors import ValidationError
from scurry.sql.catalog.entries import CatalogTable, TableDistribution
from scurry.sql.statements.definitions.schemas import Definition, PendingColumn
from scurry.sql.syntax import nodes

_NEVER_OVERWRITTEN = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS")
_Merged = tuple[Definition, dict[str, str], tuple[str, ...], TableDistribution | None]


def merged(
    base: CatalogTable,
    own: Definition,
    options: Mapping[str, str],
    partition_keys: tuple[str, ...],
    distribution: TableDistribution | None,
    like: Sequence[nodes.TableLikeOption],
) -> _Merged:
    """Return the definition, options, partition columns and distribution of the new table.

    Args:
        base: The table that LIKE names.
        own: What the statement says itself.
        distribution: Its DISTRIBUTED.

    Raises:
        ValidationError: Both have something that LIKE does not say how to merge.
    """
    strategies = _strategies(like)
    inherited = Definition.of(base.schema)
    columns = _columns(inherited.columns, own.columns, strategies)
    watermark, watermark_span = own.watermark, own.watermark_span
    if inherited.watermark is not None and strategies["WATERMARKS"] != "EXCLUDING":
        if watermark is None:
            watermark = inherited.watermark
        elif strategies["WATERMARKS"] != "OVERWRITING":
            raise ValidationError(
                f"There already exists a watermark spec for column '{inherited.watermark[0]}' in the base table. You "
                "might want to specify EXCLUDING WATERMARKS or OVERWRITING WATERMARKS."
            )
    key = own.key
    if inherited.key is not None and strategies["CONSTRAINTS"] != "EXCLUDING":
        if key is not None:
            raise ValidationError(
                "The base table already has a primary key. You might want to specify EXCLUDING CONSTRAINTS."
            )
        key = inherited.key
    if base.partition_keys and partition_keys and strategies["PARTITIONS"] != "EXCLUDING":
        raise ValidationError(
            "The base table already has partitions defined. You might want to specify EXCLUDING PARTITIONS."
        )
    if base.distribution is not None and distribution is not None and strategies["DISTRIBUTION"] != "EXCLUDING":
        raise ValidationError(
            "The base table already has a distribution defined. You might want to specify EXCLUDING DISTRIBUTION."
        )
    definition = Definition(columns, watermark, key, watermark_span, own.key_spans)
    return (
        definition,
        _options(base.options, options, strategies["OPTIONS"]),
        partition_keys or base.partition_keys,
        distribution or base.distribution,
    )


def _strategies(like: Sequence[nodes.TableLikeOption]) -> dict[str, str]:
    """Return how each feature is merged: as ALL says, then as the feature's own option says."""
    if len({each.feature for each in like}) < len(like):
        raise ValidationError("Each like option feature can be declared only once.")
    for each in like:
        if each.strategy == "OVERWRITING" and each.feature in _NEVER_OVERWRITTEN:
            raise ValidationError(f"Illegal merging strategy 'OVERWRITING' for '{each.feature}' option.")
    everything = next((each.strategy for each in like if each.feature == "ALL"), "INCLUDING")
    found = dict.fromkeys(
        ("CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"), everything
    )
    if all(each.feature != "ALL" for each in like):
        found["OPTIONS"] = "OVERWRITING"
    for each in like:
        if each.feature != "ALL":
            found[each.feature] = each.strategy
    return found


def _columns(
    base: Sequence[PendingColumn], own: Sequence[PendingColumn], strategies: Mapping[str, str]
) -> list[PendingColumn]:
    features = {"generated": "GENERATED", "metadata": "METADATA"}
    found = {
        column.name: replace(column, inherited=True)
        for column in base
        if column.kind == "regular" or strategies[features[column.kind]] != "EXCLUDING"
    }
    for column in own:
        before = found.get(column.name)
        if before is not None:
            feature = features.get(column.kind)
            if feature is None or before.kind != column.kind:
                raise ValidationError(f"A column named '{column.name}' already exists in the base table.")
            if strategies[feature] != "OVERWRITING":
                raise ValidationError(
                    f"A {column.kind} column named '{column.name}' already exists in the base table. You might want to "
                    f"specify EXCLUDING {feature} or OVERWRITING {feature}."
                )
        found[column.name] = column
    return list(found.values())


def _options(base: Mapping[str, str], own: Mapping[str, str], strategy: str) -> dict[str, str]:
    found = {} if strategy == "EXCLUDING" else dict(base)
    for key, value in own.items():
        if key in found and strategy != "OVERWRITING":
            raise ValidationError(
                f"There already exists an option ['{key}' -> '{found[key]}']  in the base table. You might want to "
                "specify EXCLUDING OPTIONS or OVERWRITING OPTIONS."
            )
        found[key] = value
    return found
