"""Columns of tables that read savepoints: whether their types fit the stored ones, and the values of states in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.errors import TypeMismatchError, ValidationError
from scurry.runtime.savepoint.contents import as_text
from scurry.runtime.state.types import TypeJson, declared_type
from scurry.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    LocalZonedTimestampType,
    MapType,
    RawType,
    RowType,
    StructuredType,
    TimestampType,
)
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.types.families import APPROXIMATE, CHARACTER
from scurry.sql.types.values import from_values
from scurry.sql.values.elements import internal_value
from scurry.sql.values.type_information import value_type

if TYPE_CHECKING:
    import pyarrow as pa

VALUE, LIST, MAP = "value", "list", "map"
#: The kinds of states that are not read as one value; joins keep lists.
_KINDS = {"list": LIST, "map": MAP, "join": LIST}
#: The value of a key that has nothing in a state.
_NOTHING: dict[str, Callable[[], Any]] = {LIST: list, MAP: dict}


@dataclass(frozen=True)
class StateColumn:
    """A column of a table that reads a savepoint.

    Attributes:
        state: The name of the state that it shows; None for the key.
        kind: `value`, `list` or `map`.
    """

    name: str
    type: DataType
    state: str | None = None
    kind: str = VALUE

    def value(self, key: Any, states: dict[str, Any]) -> Any:
        """Return the value that a row has: like Flink's states, absent lists and maps are empty."""
        if self.state is None:
            return key
        if self.state in states:
            return states[self.state]
        return _NOTHING[self.kind]() if self.kind in _NOTHING else None

    def array(self, values: Sequence[Any], uid: str) -> pa.Array:
        """Return the values of some rows as a column.

        Raises:
            TypeMismatchError: One is no value of the column's type.
        """
        convert = internal_value(self.type, as_text)
        try:
            return from_values(list(map(convert, values)), self.type)
        except TypeMismatchError as error:
            shown = "the key" if self.state is None else f"state {self.state!r}"
            where = f"{error.declared} of column '{self.name}', which shows {shown} of operator {uid!r}"
            raise TypeMismatchError(where, error.value, error.reason, field=error.field).with_hint(
                "a STRING column shows any value, as JSON"
            ) from None


def kind_of(schema: dict[str, Any] | None, declared: DataType) -> str:
    """Return how a state is read: by its stored schema, or without one by the type of its column."""
    if schema is not None:
        return _KINDS.get(schema["kind"], VALUE)
    if isinstance(declared, ArrayType):
        return LIST
    return MAP if isinstance(declared, MapType) else VALUE


def stored_type(described: TypeJson) -> DataType:
    """Return the SQL type of values of a stored type; RAW for values of undeclared types."""
    try:
        return value_type(declared_type(described))
    except ValidationError:
        return RawType("[B")


def fits(stored: DataType, declared: DataType) -> bool:
    """Return whether a column can show all values of a stored type; values of RAW are looked at one by one."""
    if isinstance(stored, RawType) or isinstance(declared, CHARACTER):
        return True
    if isinstance(stored, ArrayType):
        return isinstance(declared, ArrayType) and fits(stored.element_type, declared.element_type)
    if isinstance(stored, MapType):
        return (
            isinstance(declared, MapType)
            and fits(stored.key_type, declared.key_type)
            and fits(stored.value_type, declared.value_type)
        )
    if isinstance(stored, RowType):
        return isinstance(declared, RowType) and _fields_fit(stored, declared)
    if isinstance(stored, TimestampType | LocalZonedTimestampType):
        return isinstance(declared, TimestampType | LocalZonedTimestampType)
    if isinstance(stored, DecimalType):
        return isinstance(declared, DecimalType)
    if isinstance(stored, APPROXIMATE) and isinstance(declared, DecimalType):
        return False
    return supports_implicit_cast(stored.nullable(), declared.nullable())


def _fields_fit(stored: RowType, declared: RowType) -> bool:
    """Return whether fields fit: those of rows by their names, those of tuples by their places."""
    there = dict(zip(stored.names, stored.field_types(), strict=True))
    if not isinstance(stored, StructuredType) and set(declared.names) <= set(there):
        return all(fits(there[field.name], field.data_type) for field in declared.fields)
    pairs = list(zip(stored.field_types(), declared.field_types(), strict=False))
    same_number = len(pairs) == len(stored.names) == len(declared.names)
    return same_number and isinstance(stored, StructuredType) and all(fits(one, other) for one, other in pairs)
