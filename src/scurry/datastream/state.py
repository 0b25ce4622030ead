"""Keyed and broadcast state as functions see it, and the descriptors that name it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Generic, Self

from scurry.common._api import ApiObject
from scurry.common._type_variables import ACC, IN, OUT, K, R, T, T_co, V
from scurry.common.state_migration import StateMigration, evolves, state_migration
from scurry.common.typeinfo import DataclassTypeInfo, RowTypeInfo, Types
from scurry.datastream._functions import DeclaredType
from scurry.datastream._type_info import state_type
from scurry.datastream.functions.transformations import AggregateFunction, CallableReduce, ReduceFunction
from scurry.datastream.state_ttl import StateTtlConfig
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "AggregatingState",
    "AggregatingStateDescriptor",
    "AppendingState",
    "BroadcastState",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "MergingState",
    "OperatorStateStore",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "State",
    "StateDescriptor",
    "StateTtlConfig",
    "ValueState",
    "ValueStateDescriptor",
    "evolves",
]


class OperatorStateStore(ABC):
    """Give access to state that belongs to an operator as a whole: broadcast state."""

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]:
        """Return the broadcast state of that descriptor."""


class State(ABC):
    """Base of all state that a function can have for the current key."""

    @abstractmethod
    def clear(self) -> None:
        """Remove the value of the current key."""


class ValueState(State, Generic[T]):
    """A single value."""

    @abstractmethod
    def value(self) -> T | None:
        """Return the value, None before the first update."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Set the value; None removes it."""


class AppendingState(State, Generic[IN, OUT]):
    """State that values are added to."""

    @abstractmethod
    def get(self) -> OUT | None:
        """Return the contents, in the form that the kind of state defines."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add a value."""


class MergingState(AppendingState[IN, OUT]):
    """Appending state that can be merged with another, as when session windows merge."""


class ReducingState(MergingState[T, T]):
    """One value into which every added one is reduced; `get` returns None before the first."""


class AggregatingState(MergingState[IN, OUT]):
    """An accumulator into which values are added; `get` returns its result, None before the first value."""


class ListState(MergingState[T, Iterable[T]]):
    """A list of values."""

    @abstractmethod
    def get(self) -> Iterable[T]:
        """Return the elements in the order in which they were added; none if nothing was."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Replace the elements; an empty list removes them."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Append several elements."""

    def __iter__(self) -> Iterator[T]:
        """Iterate over the elements."""
        return iter(self.get())


class _ReadableMap(State, Generic[K, V]):
    """The reading half of state that maps keys to values."""

    @abstractmethod
    def get(self, key: K) -> V | None:
        """Return the value under `key`, or None."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Return whether there is a value under `key`."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return all (key, value) pairs."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return all keys."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return all values."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Return whether there are no entries."""

    def __getitem__(self, key: K) -> V | None:
        """Return the value under `key`, or None."""
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        """Return whether there is a value under `key`."""
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys."""
        return iter(self.keys())


class _WritableMap(_ReadableMap[K, V]):
    """The writing half of state that maps keys to values."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value under `key`."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V] | Iterable[tuple[K, V]]) -> None:
        """Set several values, given as a dict or as pairs of key and value."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove the value under `key`, if there is one."""

    def __setitem__(self, key: K, value: V) -> None:
        """Set the value under `key`."""
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        """Remove the value under `key`, if there is one."""
        self.remove(key)


class MapState(_WritableMap[K, V]):
    """A map."""


class ReadOnlyBroadcastState(_ReadableMap[K, V]):
    """Broadcast state as the side that is not broadcast sees it; do not change the values it returns."""


class BroadcastState(_WritableMap[K, V], ReadOnlyBroadcastState[K, V]):
    """Broadcast state as the broadcast side sees it; every subtask must write the same."""


class StateDescriptor(ApiObject, ABC, Generic[T_co]):
    """The name of a state, which is a `T_co`, and the declared type of its values.

    Attributes:
        name: Identifies the state within its operator, also across restarts.
        type_info: Declared type of the values.
        ttl_config: The time to live, None if the state does not expire.
        kind: "value", "list", "map", "reducing" or "aggregating".
        function: The ReduceFunction or AggregateFunction of the last two kinds, else None.
        migration: The declaration of `with_migration`, else None.
    """

    kind: ClassVar[str]

    def __init__(self, name: str, type_info: DeclaredType[Any] | None) -> None:
        """Describe a state.

        Args:
            name: Identifies the state within its operator.
            type_info: TypeInformation, a type hint, or None for pickled Python objects.

        Raises:
            ArgumentError: The name is empty.
        """
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"a state needs a name to be found again by; got {name!r}")
        self.name = name
        self.type_info = state_type(type_info, f"type of state {name!r}")
        self.ttl_config: StateTtlConfig | None = None
        self.function: Any = None
        self.migration: StateMigration | None = None

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let the state expire as configured."""
        self.ttl_config = ttl_config if ttl_config.is_enabled() else None

    def with_migration(
        self,
        *,
        renamed: Mapping[str, str] | None = None,
        defaults: Mapping[str, Any] | None = None,
        renamed_from: str | None = None,
        convert: Callable[[Any], Any] | None = None,
        version: int = 0,
    ) -> Self:
        """Declare how values written by an earlier version of the program become values of this one.

        It is needed only for changes that comparing the types does not reveal. Fields that were added (with None or the
        dataclass's default), removed or reordered and numbers that widened need no declaration. It applies to the
        values: elements of a list, values of a map, the accumulator of an aggregation. It is applied once, when state
        is restored; the program may keep a declaration that was applied.

        Args:
            renamed: Old field name -> new field name, if the values are rows or a dataclass.
            defaults: Values of added fields, by name.
            renamed_from: Earlier name of the dataclass, as `module.Class`.
            convert: Takes an old value and returns a new one, or None to drop it; instances of a dataclass that has
                changed have their old fields as attributes. It runs if the declared type of the values has changed,
                or as `version` says.
            version: For values of undeclared type, and for a `convert` after the first one: 1, 2, ... `convert` runs
                over state that was written under a lower version; state without a version has 0.

        Returns:
            This descriptor.

        Raises:
            ArgumentError: Fields are named although the values are declared as neither rows nor a dataclass, or a
                field is named twice.
            ArgumentTypeError: `convert` is not a function.
        """
        declared = self._value_type()
        if (renamed or defaults or renamed_from) and not isinstance(declared, (RowTypeInfo, DataclassTypeInfo)):
            raise ArgumentError(
                f"the migration of state {self.name!r} is about fields, and its values are declared as {declared}: "
                "declare Types.ROW_NAMED(...) or a dataclass, or put @evolves on the dataclass"
            )
        self.migration = state_migration(renamed, defaults, renamed_from, convert, version)
        return self

    def _value_type(self) -> Any:
        return self.type_info


class ValueStateDescriptor(StateDescriptor[ValueState[T]], Generic[T]):
    """Descriptor of a `ValueState`."""

    kind = "value"

    def __init__(self, name: str, value_type_info: DeclaredType[T] | None = None) -> None:
        """Describe a value of type `value_type_info`."""
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor[ListState[T]], Generic[T]):
    """Descriptor of a `ListState`."""

    kind = "list"

    def __init__(self, name: str, elem_type_info: DeclaredType[T] | None = None) -> None:
        """Describe a list of elements of type `elem_type_info`."""
        super().__init__(name, Types.LIST(state_type(elem_type_info, f"element type of state {name!r}")))

    def _value_type(self) -> Any:
        return self.type_info.elem_type  # type: ignore[attr-defined]


class MapStateDescriptor(StateDescriptor[MapState[K, V]], Generic[K, V]):
    """Descriptor of a `MapState` or broadcast state."""

    kind = "map"

    def __init__(
        self,
        name: str,
        key_type_info: DeclaredType[K] | None = None,
        value_type_info: DeclaredType[V] | None = None,
    ) -> None:
        """Describe a map from `key_type_info` to `value_type_info`."""
        key = state_type(key_type_info, f"key type of state {name!r}")
        super().__init__(name, Types.MAP(key, state_type(value_type_info, f"value type of state {name!r}")))

    def _value_type(self) -> Any:
        return self.type_info.value_type  # type: ignore[attr-defined]


class ReducingStateDescriptor(StateDescriptor[ReducingState[T]], Generic[T]):
    """Descriptor of a `ReducingState`."""

    kind = "reducing"

    def __init__(
        self,
        name: str,
        reduce_function: ReduceFunction[T] | Callable[[T, T], T],
        type_info: DeclaredType[T] | None = None,
    ) -> None:
        """Describe a value reduced by `reduce_function`, a ReduceFunction or callable.

        Raises:
            ArgumentTypeError: `reduce_function` is neither.
        """
        super().__init__(name, type_info)
        if not isinstance(reduce_function, ReduceFunction):
            if not callable(reduce_function):
                raise ArgumentTypeError(
                    f"The input must be a ReduceFunction or a callable function: {reduce_function!r}"
                )
            reduce_function = CallableReduce(reduce_function)
        self.function = reduce_function

    def get_reduce_function(self) -> ReduceFunction[T]:
        """Return the ReduceFunction; a callable is wrapped in one."""
        return self.function  # type: ignore[no-any-return]


class AggregatingStateDescriptor(StateDescriptor[AggregatingState[T, R]], Generic[T, ACC, R]):
    """Descriptor of an `AggregatingState`."""

    kind = "aggregating"

    def __init__(
        self,
        name: str,
        agg_function: AggregateFunction[T, ACC, R],
        state_type_info: DeclaredType[ACC] | None = None,
    ) -> None:
        """Describe an accumulator of type `state_type_info` that `agg_function` adds to.

        Raises:
            ArgumentTypeError: `agg_function` is not an AggregateFunction.
        """
        super().__init__(name, state_type_info)
        if not isinstance(agg_function, AggregateFunction):
            raise ArgumentTypeError(f"The input must be an AggregateFunction, got {agg_function!r}")
        self.function = agg_function

    def get_agg_function(self) -> AggregateFunction[T, ACC, R]:
        """Return the AggregateFunction."""
        return self.function  # type: ignore[no-any-return]
