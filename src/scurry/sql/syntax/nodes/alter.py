"""ALTER."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Node, Query, Statement
from scurry.sql.syntax.nodes.columns import Distribution, PartitionField, Property, TableSchema
from scurry.sql.syntax.nodes.expressions import Identifier
from scurry.sql.syntax.nodes.literals import StringLiteral


class AlterAction(Node):
    """The change of an ALTER statement."""


class RenameTo(AlterAction):
    """``RENAME TO name``."""

    name: Identifier


class RenameColumn(AlterAction):
    """``RENAME column TO name``."""

    column: Identifier
    name: Identifier


class SetProperties(AlterAction):
    """``SET (properties)``."""

    properties: tuple[Property, ...]


class ResetProperties(AlterAction):
    """``RESET (keys)``."""

    keys: tuple[StringLiteral, ...]


class SetComment(AlterAction):
    """``COMMENT 'comment'``."""

    comment: str


class AddSchema(AlterAction):
    """``ADD (columns, constraints, watermark)``, or ``ADD`` with one of them."""

    schema: TableSchema


class ModifySchema(AlterAction):
    """``MODIFY (columns, constraints, watermark)``, or ``MODIFY`` with one of them."""

    schema: TableSchema


class DropColumns(AlterAction):
    """``DROP (columns)`` or ``DROP column``."""

    columns: tuple[Identifier, ...]


class DropConstraint(AlterAction):
    """``DROP CONSTRAINT name``."""

    name: Identifier


class DropPrimaryKey(AlterAction):
    """``DROP PRIMARY KEY``."""


class DropWatermark(AlterAction):
    """``DROP WATERMARK``."""


class DropDistribution(AlterAction):
    """``DROP DISTRIBUTION``."""


class AddDistribution(AlterAction):
    """``ADD DISTRIBUTION BY ...``."""

    distribution: Distribution


class ModifyDistribution(AlterAction):
    """``MODIFY DISTRIBUTION BY ...``."""

    distribution: Distribution


class NewPartition(Node):
    """``PARTITION (fields) WITH (properties)``."""

    fields: tuple[PartitionField, ...]
    properties: tuple[Property, ...] = ()


class AddPartitions(AlterAction):
    """``ADD IF NOT EXISTS PARTITION (...) ...``."""

    partitions: tuple[NewPartition, ...]
    if_not_exists: bool = False


class DropPartitions(AlterAction):
    """``DROP IF EXISTS PARTITION (...), ...``; each partition is a tuple of fields."""

    partitions: tuple[tuple[PartitionField, ...], ...]
    if_exists: bool = False


class Suspend(AlterAction):
    """``SUSPEND``."""


class Resume(AlterAction):
    """``RESUME WITH (properties)``."""

    properties: tuple[Property, ...] = ()


class Refresh(AlterAction):
    """``REFRESH PARTITION (fields)``."""

    partition: tuple[PartitionField, ...] = ()


class SetFreshness(AlterAction):
    """``SET FRESHNESS = interval``."""

    freshness: Expression


class SetRefreshMode(AlterAction):
    """``SET REFRESH_MODE = FULL`` or ``CONTINUOUS``."""

    mode: str


class SetQuery(AlterAction):
    """``AS query``."""

    query: Query


class AlterTable(Statement):
    """``ALTER TABLE IF EXISTS name action``."""

    name: Identifier
    action: AlterAction
    if_exists: bool = False


class AlterMaterializedTable(Statement):
    """``ALTER MATERIALIZED TABLE name action``."""

    name: Identifier
    action: AlterAction


class AlterView(Statement):
    """``ALTER VIEW name action``: ``RenameTo`` or ``SetQuery``."""

    name: Identifier
    action: AlterAction


class AlterDatabase(Statement):
    """``ALTER DATABASE name action``: ``SetProperties``."""

    name: Identifier
    action: AlterAction


class AlterCatalog(Statement):
    """``ALTER CATALOG name action``: ``SetProperties``, ``ResetProperties`` or ``SetComment``."""

    name: Identifier
    action: AlterAction


class AlterModel(Statement):
    """``ALTER MODEL name action``: ``RenameTo``, ``SetProperties`` or ``ResetProperties``."""

    name: Identifier
    action: AlterAction
    if_exists: bool = False


class AlterConnection(Statement):
    """``ALTER CONNECTION name action``: ``RenameTo``, ``SetProperties`` or ``ResetProperties``."""

    name: Identifier
    action: AlterAction
    if_exists: bool = False


class AlterFunction(Statement):
    """``ALTER FUNCTION name AS 'class' LANGUAGE language``; attributes as of ``CreateFunction``."""

    name: Identifier
    class_name: StringLiteral
    language: str | None = None
    resources: tuple[str, ...] = ()
    temporary: bool = False
    system: bool = False
    if_exists: bool = False
