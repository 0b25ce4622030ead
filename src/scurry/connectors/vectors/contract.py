"""The contract of searches, as VECTOR_SEARCH makes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

#: The scores that an index computes.
METRICS = ("cosine", "dot_product", "euclidean")


class WrongVectorError(ValueError):
    """A vector that cannot be compared with those of the table.

    Attributes:
        position: The position of the vector among those that are asked for.
    """

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


class Nearest(NamedTuple):
    """The rows that a search has found.

    Attributes:
        positions: For each row the position of the vector that it is near to, as int64, ascending.
        rows: The rows, with the columns that are read; those of a vector in the order of their scores, best first.
        scores: For each row how near it is, as float64; more is nearer.
    """

    positions: pa.Array
    rows: pa.RecordBatch
    scores: pa.Array


class VectorSearchSource(ABC):
    """Search the rows of a table whose vectors are nearest to others; picklable before `open`.

    A search returns what the table contains now, or contained when it was read: a repeated one may return other rows.

    Attributes:
        is_async: Whether `search_async` is called, for one vector after the other, in place of `search`.
    """

    is_async: bool = False

    @abstractmethod
    def open(self) -> None:
        """Prepare searches; called once in a task. Connections may also be made with the first search."""

    def search(self, vectors: pa.Array, top_k: int) -> Nearest:
        """Return the nearest rows of some vectors.

        Args:
            vectors: Lists of float32 or float64, of the type of the column that is searched; NULL is near to nothing.
            top_k: How many rows a vector gets at most.

        Raises:
            WrongVectorError: A vector cannot be compared with those of the table.
            ConnectorError: The table cannot be asked.
        """
        raise NotImplementedError

    async def search_async(self, vector: Sequence[float], top_k: int) -> Nearest:
        """Return the nearest rows of one vector, all at position 0."""
        raise NotImplementedError

    @abstractmethod
    def close(self) -> None:
        """Close connections, and drop the rows that were read."""
