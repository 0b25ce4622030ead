"""The source of a table whose rows are the records of a stream, as the lowering of plans sees it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from scurry.graph.nodes import Node
from scurry.graph.operators import RecordsToRows
from scurry.sql.connectors.contract import TableSource


class StreamSource(TableSource):
    """Rows that a part of the same job makes.

    Attributes:
        node: The stream; only where jobs are planned.
    """

    node: Node | None = None

    @abstractmethod
    def conversion(self, columns: Sequence[str]) -> RecordsToRows:
        """Return the operator that makes rows of records.

        Args:
            columns: Names of the columns that are read, in this order.
        """
