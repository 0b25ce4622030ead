"""VectorIndex: vectors as a matrix, which is multiplied with those that are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scurry.connectors.vectors.contract import WrongVectorError

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows beyond those that are asked for, which are compared exactly: products of blocks are rounded differently.
_MORE_ROWS = 16
#: Neighbouring rows whose best product is looked for first.
_WIDTH = 64
#: Products of vectors, and elements of vectors that are compared exactly, which are held at once.
_PRODUCTS_AT_ONCE = 8 << 20


class VectorIndex:
    """The vectors of a table.

    Equal scores are in the order of the rows. All products of a block of vectors are one product of matrices; the best
    are computed again in double precision, and all that could be among them, so that neither rows nor scores depend on
    the other vectors of their block.
    """

    def __init__(self, column: pa.Array, metric: str) -> None:
        """Make a matrix of the vectors of a column.

        Args:
            column: Lists of float32 or float64; rows whose list is NULL are never found.
            metric: One of `METRICS`.

        Raises:
            WrongVectorError: The vectors have different lengths, or elements that are NULL.
        """
        self._metric = metric
        self._places, self._vectors = _matrix(column, None, "the table")
        exact = self._vectors.astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            self._squares = np.zeros(0)
            if metric == "cosine":
                self._compared = _normed(self._vectors)
            elif metric == "euclidean":
                # the middle of the vectors is far from none of them: less is rounded off
                self._middle = exact.mean(axis=0) if len(exact) else np.zeros(exact.shape[1])
                self._compared = exact - self._middle
                self._squares = np.einsum("ij,ij->i", self._compared, self._compared) / 2
            else:
                self._compared = self._vectors
            longest = np.einsum("ij,ij->i", self._compared, self._compared, dtype=np.float64).max(initial=0)
            self._longest = float(np.sqrt(longest))
            self._compared = _padded(self._compared)
            self._squares = _padded(self._squares)

    @property
    def dimension(self) -> int | None:
        """The length of the vectors; None for a table without vectors."""
        return self._vectors.shape[1] if len(self._vectors) else None

    @property
    def nbytes(self) -> int:
        """The memory of the matrices."""
        return int(self._vectors.nbytes + self._compared.nbytes + self._squares.nbytes)

    def nearest(self, column: pa.Array, top_k: int) -> tuple[Any, Any, Any]:
        """Return the nearest vectors of others.

        Args:
            column: Lists of float32 or float64; those that are NULL have no nearest ones.
            top_k: How many each gets at most.

        Returns:
            Of each pair the position of the vector, ascending, that of the row, and the score, the best first.

        Raises:
            WrongVectorError: A vector has another length than those of the table, or an element that is NULL.
        """
        none = np.zeros(0, np.int64)
        if not len(self._vectors):
            return none, none, np.zeros(0)
        asked, vectors = _matrix(column, self.dimension, "the query")
        exact = min(top_k + _MORE_ROWS, len(self._vectors)) * self._vectors.shape[1]
        step = max(_PRODUCTS_AT_ONCE // max(len(self._vectors), exact), 1)
        with np.errstate(all="ignore"):
            blocks = [self._block(vectors[first : first + step], top_k) for first in range(0, len(vectors), step)]
        if not blocks:
            return none, none, np.zeros(0)
        places, scores = (np.concatenate(each) for each in zip(*blocks, strict=True))
        return np.repeat(asked, places.shape[1]), self._places[places.ravel()], scores.ravel()

    def _block(self, vectors: Any, top_k: int) -> tuple[Any, Any]:
        """Return for each vector the places and the scores of the nearest."""
        count, kept = len(self._vectors), min(top_k, len(self._vectors))
        if self._metric == "euclidean":
            vectors = vectors.astype(np.float64) - self._middle
            products = vectors @ self._compared.T - self._squares
        else:
            products = vectors.astype(self._compared.dtype, copy=False) @ self._compared.T
        exact = vectors.astype(np.float64, copy=False)
        more = min(kept + _MORE_ROWS, count)
        if more == count:
            return self._best(exact, np.broadcast_to(np.arange(count), (len(vectors), count)), kept)
        products[:, count:] = -np.inf
        maxima = products.reshape(len(vectors), -1, _WIDTH).max(axis=2)
        if np.isnan(maxima).any():
            products = np.where(np.isnan(products), -np.inf, products)
            maxima = products.reshape(len(vectors), -1, _WIDTH).max(axis=2)
        # The largest products are in the parts with the largest maxima.
        parts = _largest(maxima, more)
        places = (parts[:, :, None] * _WIDTH + np.arange(_WIDTH)).reshape(len(vectors), -1)
        values = np.take_along_axis(products, places, 1)
        found = _largest(values, more)
        last = np.partition(np.take_along_axis(values, found, 1), more - kept, axis=1)[:, more - kept]
        chosen, scores = self._best(exact, np.sort(np.take_along_axis(places, found, 1), axis=1), kept)
        # Products may be in another order than scores, and many may be equal: all that are so near are compared.
        least = (last - self._rounded_off(exact))[:, None]
        near = ((maxima >= least).sum(axis=1) > parts.shape[1]) | ((values >= least).sum(axis=1) > more)
        for row in np.flatnonzero(near):
            all_near = np.flatnonzero(products[row, :count] >= least[row])
            chosen[row], scores[row] = (each[0] for each in self._best(exact[row : row + 1], all_near[None, :], kept))
        return chosen, scores

    def _rounded_off(self, vectors: Any) -> Any:
        """Return by how much the difference of two products of each vector may be wrong."""
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        others = lengths + self._longest if self._metric == "euclidean" else lengths
        return (vectors.shape[1] + 8) * np.finfo(self._compared.dtype).eps * others * self._longest

    def _best(self, vectors: Any, found: Any, kept: int) -> tuple[Any, Any]:
        """Return the nearest among some places, which are ascending for each vector."""
        scores = self._scores(vectors, found)
        order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), axis=1, kind="stable")[:, :kept]
        return np.take_along_axis(found, order, 1), np.take_along_axis(scores, order, 1)

    def _scores(self, vectors: Any, found: Any) -> Any:
        if self._metric == "euclidean":
            apart = self._compared[found] - vectors[:, None, :]
            return 1 / (1 + np.sqrt(np.einsum("ijk,ijk->ij", apart, apart)))
        others = self._vectors[found].astype(np.float64, copy=False)
        products = np.einsum("ijk,ik->ij", others, vectors)
        if self._metric == "dot_product":
            return products
        lengths = np.sqrt(np.einsum("ijk,ijk->ij", others, others) * np.einsum("ij,ij->i", vectors, vectors)[:, None])
        return np.where(lengths == 0, 0.0, products / lengths)


def _largest(values: Any, count: int) -> Any:
    """Return the positions of the largest values of each row, in no order."""
    width = values.shape[1]
    if width <= count:
        return np.broadcast_to(np.arange(width), values.shape)
    return np.argpartition(values, width - count, axis=1)[:, width - count :]


def _padded(rows: Any) -> Any:
    """Return rows with zeros behind them, so that they are a multiple of those that are looked at together."""
    return np.concatenate([rows, np.zeros((-len(rows) % _WIDTH, *rows.shape[1:]), rows.dtype)])


def _normed(vectors: Any) -> Any:
    """Return vectors of the length 1; those of the length 0 as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    lengths[lengths == 0] = 1
    return (vectors / lengths[:, None]).astype(vectors.dtype, copy=False)


def _matrix(column: pa.Array, dimension: int | None, where: str) -> tuple[Any, Any]:
    """Return the positions of the vectors that are not NULL, and these as a matrix."""
    places = np.flatnonzero(np.asarray(column.is_valid()))
    lists = column.drop_null() if column.null_count else column
    lengths = np.asarray(lists.value_lengths())
    wanted = dimension if dimension is not None else int(lengths[0]) if len(lengths) else 0
    wrong = np.flatnonzero(lengths != wanted)
    if len(wrong):
        others = "those of the table have" if dimension is not None else "others of the table have"
        raise WrongVectorError(
            int(places[wrong[0]]), f"a vector of {where} has {lengths[wrong[0]]} elements, {others} {wanted}"
        )
    elements = lists.flatten()
    if elements.null_count:
        missing = int(np.flatnonzero(np.asarray(elements.is_null()))[0])
        raise WrongVectorError(int(places[missing // wanted]), f"a vector of {where} has an element that is NULL")
    return places, np.asarray(elements).reshape(len(places), wanted)
