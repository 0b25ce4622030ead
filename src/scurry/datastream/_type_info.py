"""Convert declarations of types that API methods accept."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

from scurry.common.typeinfo import DataclassTypeInfo, RowTypeInfo, TypeInformation, Types, type_info_from_hint
from scurry.errors import ArgumentTypeError


def declared_type(declared: Any, what: str = "output_type") -> TypeInformation | None:
    """Return the declared type of a stream, None meaning pickled Python objects.

    Args:
        declared: TypeInformation, a list of them (a row, as in PyFlink), a type hint such as `tuple[int, str]`, or
            None.
        what: The parameter's name, for the error.

    Raises:
        ArgumentTypeError: `declared` is none of these.
    """
    if declared is None or isinstance(declared, TypeInformation):
        return declared
    if isinstance(declared, list):
        return RowTypeInfo(declared)
    if isinstance(declared, type) and is_dataclass(declared):
        return DataclassTypeInfo(declared)
    if isinstance(declared, type) or hasattr(declared, "__origin__"):
        return type_info_from_hint(declared)
    name = getattr(declared, "__qualname__", "")
    if name.startswith("Types."):
        raise ArgumentTypeError(f"{what} is the method {name}: call it, {name}()")
    raise ArgumentTypeError(
        f"{what} is {declared!r} (Python type {type(declared).__name__}); "
        "pass Types.STRING(), Types.TUPLE([...]), ..., a type hint such as int or tuple[int, str], or None"
    )


def state_type(declared: Any, what: str) -> TypeInformation:
    """Return the declared type of a state; pickled Python objects without a declaration."""
    return declared_type(declared, what) or Types.PICKLED_BYTE_ARRAY()


def same_but_for_names(left: TypeInformation, right: TypeInformation) -> bool:
    """Return whether types are equal, the names of a row's fields aside, as Java's comparison of types has it."""
    if isinstance(left, RowTypeInfo) and isinstance(right, RowTypeInfo):
        fields, others = left.get_field_types(), right.get_field_types()
        return len(fields) == len(others) and all(map(same_but_for_names, fields, others))
    return left == right
