"""ScurryRelation: a table or view, `catalog`.`database`.`name`."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import Policy, RelationType


@dataclass(frozen=True, eq=False, repr=False)
class ScurryRelation(BaseRelation):
    """A table, view or materialized table."""

    quote_character: str = "`"
    include_policy: Policy = field(default_factory=Policy)
    quote_policy: Policy = field(default_factory=Policy)
    require_alias: bool = True
    renameable_relations: frozenset[RelationType] = frozenset({RelationType.Table, RelationType.View})
    replaceable_relations: frozenset[RelationType] = frozenset()
