"""Functions of arrays, maps and rows."""

from __future__ import annotations

from typing import Any, Self

from scurry.sql.syntax import nodes
from scurry.table._expression.base import ExpressionBase
from scurry.table._expression.syntax import here


class Collections(ExpressionBase):
    """Functions of arrays, maps and rows."""

    def __getitem__(self, index: Any) -> Self:
        """Return an element of an array, the first one by 1, or the value of a key of a map."""
        return self.at(index)

    def get(self, name_or_index: str | int) -> Self:
        """Return a field of a row.

        Args:
            name_or_index: Its name, or its place, from 0.
        """
        if isinstance(name_or_index, int):
            return self._call_of("FIELD", self, name_or_index)
        name = nodes.Identifier((name_or_index,), span=here())
        return self._made(nodes.FieldAccess(self._node, name, span=here()), [self])

    @property
    def flatten(self) -> Self:
        """Stand for all fields of a row, each as a column."""
        return self._made(nodes.FieldAccess(self._node, nodes.Star(), span=here()), [self])

    def object_update(self, *kv: Any) -> Self:
        """Return an object of `OBJECT_OF` with other values of some fields.

        Args:
            *kv: Names of fields, each followed by the value.
        """
        return self._call_of("OBJECT_UPDATE", self, *kv)

    def at(self, index: Any) -> Self:
        """Return an element of an array or map.

        Args:
            index: The place in the array, from 1, or the key of the map.
        """
        return self._call_of("ITEM", self, index)

    @property
    def cardinality(self) -> Self:
        """Return how many elements an array or map has."""
        return self._call("CARDINALITY")

    @property
    def element(self) -> Self:
        """Return the only element of an array; NULL if it is empty."""
        return self._call("ELEMENT")

    def array_append(self, addition: Any) -> Self:
        """Return the array with one more element.

        Args:
            addition: The last element.
        """
        return self._call_of("ARRAY_APPEND", self, addition)

    def array_contains(self, needle: Any) -> Self:
        """Return whether the array has an element.

        Args:
            needle: The element.
        """
        return self._call_of("ARRAY_CONTAINS", self, needle)

    def array_distinct(self) -> Self:
        """Return the array with one of each set of equal elements."""
        return self._call("ARRAY_DISTINCT")

    def array_position(self, needle: Any) -> Self:
        """Return where an element first is in the array, from 1; 0 if it is not.

        Args:
            needle: The element.
        """
        return self._call_of("ARRAY_POSITION", self, needle)

    def array_prepend(self, addition: Any) -> Self:
        """Return the array with one more element.

        Args:
            addition: The first element.
        """
        return self._call_of("ARRAY_PREPEND", self, addition)

    def array_remove(self, needle: Any) -> Self:
        """Return the array without some elements.

        Args:
            needle: What they are equal to.
        """
        return self._call_of("ARRAY_REMOVE", self, needle)

    def array_reverse(self) -> Self:
        """Return the array from its last element to its first."""
        return self._call("ARRAY_REVERSE")

    def array_slice(self, start_offset: Any, end_offset: Any = None) -> Self:
        """Return a part of the array.

        Args:
            start_offset: The place of its first element, from 1.
            end_offset: The place of its last element; None for that of the array.
        """
        return self._call("ARRAY_SLICE", start_offset, end_offset)

    def array_sort(self, ascending_order: Any = None, null_first: Any = None) -> Self:
        """Return the array in order.

        Args:
            ascending_order: Whether the smallest element is first, as it is if this is None.
            null_first: Whether NULL is first, as it is in ascending order if this is None.
        """
        return self._call("ARRAY_SORT", ascending_order, null_first)

    def array_union(self, array: Any) -> Self:
        """Return the elements of both arrays, one of each set of equal ones.

        Args:
            array: The other array.
        """
        return self._call_of("ARRAY_UNION", self, array)

    def array_concat(self, *arrays: Any) -> Self:
        """Return the array followed by others.

        Args:
            *arrays: The others.
        """
        return self._call_of("ARRAY_CONCAT", self, *arrays)

    def array_max(self) -> Self:
        """Return the greatest element."""
        return self._call("ARRAY_MAX")

    def array_join(self, delimiter: Any, null_replacement: Any = None) -> Self:
        """Return the elements as one text.

        Args:
            delimiter: What is between two of them.
            null_replacement: What stands for NULL; None to leave it out.
        """
        return self._call("ARRAY_JOIN", delimiter, null_replacement)

    def array_min(self) -> Self:
        """Return the smallest element."""
        return self._call("ARRAY_MIN")

    def array_except(self, array: Any) -> Self:
        """Return the elements that another array does not have, one of each set of equal ones.

        Args:
            array: The other array.
        """
        return self._call_of("ARRAY_EXCEPT", self, array)

    def array_intersect(self, array: Any) -> Self:
        """Return the elements that another array has, too, one of each set of equal ones.

        Args:
            array: The other array.
        """
        return self._call_of("ARRAY_INTERSECT", self, array)

    @property
    def map_keys(self) -> Self:
        """Return the keys of a map."""
        return self._call("MAP_KEYS")

    @property
    def map_values(self) -> Self:
        """Return the values of a map."""
        return self._call("MAP_VALUES")

    @property
    def map_entries(self) -> Self:
        """Return the keys and values of a map as rows."""
        return self._call("MAP_ENTRIES")

    def map_union(self, *maps: Any) -> Self:
        """Return the entries of several maps; of equal keys the last one stays.

        Args:
            *maps: The other maps.
        """
        return self._call_of("MAP_UNION", self, *maps)
