"""DataType: the base of all SQL types."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from scurry.errors import MissingAttributeError

#: Methods that PyFlink's types have for its way to Java and back.
_FOR_JAVA = ("to_sql_type", "from_sql_type", "need_conversion")
_Self = TypeVar("_Self", bound="DataType")


class DataType:
    """A SQL type, nullable or not. Types with the same name, parameters and nullability are equal."""

    def __init__(self, nullable: bool = True) -> None:
        """Create a type.

        Args:
            nullable: Whether values may be None.
        """
        self._nullable = nullable

    def not_null(self: _Self) -> _Self:
        """Return the same type without null."""
        return self._with_nullable(False)

    def nullable(self: _Self) -> _Self:
        """Return the same type with null."""
        return self._with_nullable(True)

    def _with_nullable(self: _Self, nullable: bool) -> _Self:
        changed = copy(self)
        changed._nullable = nullable
        return changed

    def bridged_to(self: _Self, conversion_cls: str) -> _Self:
        """Store the name of the Java class that values have in Flink's tables; here they are always Python's.

        Returns:
            The type itself; as in PyFlink, it no longer equals one that is not bridged.
        """
        self._conversion_cls = conversion_cls
        return self

    if not TYPE_CHECKING:  # for type checkers, unknown attributes stay unknown

        def __getattr__(self, name: str) -> Any:
            reason = ": PyFlink converts values for Java with it" if name in _FOR_JAVA else ""
            message = f"{type(self).__name__!r} object has no attribute {name!r}{reason}"
            raise MissingAttributeError(message, name=name, obj=None)

    @property
    def is_nullable(self) -> bool:
        """Return whether values may be None."""
        return self._nullable

    def with_nullability(self: _Self, nullable: bool) -> _Self:
        """Return the same type with or without null."""
        return self if self._nullable == nullable else self._with_nullable(nullable)

    def as_summary_string(self) -> str:
        """Return the type as SQL writes it, e.g. `DECIMAL(10, 2) NOT NULL`."""
        return self._summary() + ("" if self._nullable else " NOT NULL")

    def _summary(self) -> str:
        parameters = self._parameters()
        return f"{self.type_name()}({', '.join(map(str, parameters))})" if parameters else self.type_name()

    @classmethod
    def type_name(cls) -> str:
        """Return the type's name, e.g. BIGINT."""
        return cls.__name__.removesuffix("Type").upper()

    def _parameters(self) -> tuple[Any, ...]:
        """Return the parameters of the type, without its nullability."""
        return ()

    def __repr__(self) -> str:
        """Return e.g. `VarCharType(10, true)`."""
        parameters = [*map(str, map(_shown, self._parameters())), str(self._nullable).lower()]
        return f"{type(self).__name__}({', '.join(parameters)})"

    def __str__(self) -> str:
        """Return the type's name."""
        return self.type_name()

    def __eq__(self, other: object) -> bool:
        """Compare class, parameters and nullability."""
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        """Hash the class."""
        return hash(type(self))


class AtomicType(DataType):
    """A type that is not composed of others."""


def _shown(parameter: Any) -> Any:
    return repr(parameter) if isinstance(parameter, DataType) else parameter
