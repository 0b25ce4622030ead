"""OBJECT_OF and OBJECT_UPDATE: objects of a class with named attributes."""

from __future__ import annotations

from typing import Any

from scurry.sql.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import value_kernel
from scurry.sql.types import DataType, RowField, StructuredType
from scurry.sql.types.families import CHARACTER


def _names(site: CallSite) -> list[str]:
    """Return the names of the attributes, every second argument from the second on."""
    names: list[str] = []
    for place in range(1, len(site.arguments), 2):
        argument = site.arguments[place]
        if not isinstance(argument.type, CHARACTER) or not argument.is_literal or argument.value is None:
            raise SignatureError(
                f"The field name at position {place + 1} must be a non-nullable character string literal."
            )
        if argument.value in names:
            raise SignatureError(f"The field name '{argument.value}' at position {place + 1} is repeated.")
        names.append(str(argument.value))
    return names


def _infer_object(site: CallSite) -> Signature:
    if len(site.arguments) % 2 != 1 or not site.arguments[0].is_literal:
        raise SignatureError("Invalid input arguments.")
    fields = [RowField(name, each) for name, each in zip(_names(site), site.types[2::2], strict=True)]
    return Signature(site.types, StructuredType(str(site.arguments[0].value), fields))


def _bind_object(site: CallSite, result_type: DataType) -> Kernel:
    return value_kernel(lambda _, *parts: tuple(parts[1::2]), result_type, nulls=True)


def _infer_update(site: CallSite) -> Signature:
    if len(site.arguments) % 2 != 1 or len(site.arguments) < 3 or not isinstance(site.types[0], StructuredType):
        raise SignatureError("Invalid input arguments.")
    given = site.types[0]
    types = {field.name: field.data_type for field in given.fields}
    for name, changed in zip(_names(site), site.types[2::2], strict=True):
        if name not in types:
            raise SignatureError(f"The field name '{name}' is not part of the structured type attributes.")
        types[name] = changed
    fields = [RowField(name, each) for name, each in types.items()]
    return Signature(site.types, StructuredType(given.class_name, fields, given.is_nullable))


def _bind_update(site: CallSite, result_type: DataType) -> Kernel:
    assert isinstance(result_type, StructuredType)
    names = [field.name for field in result_type.fields]
    places = [names.index(name) for name in _names(site)]

    def update(values: tuple[Any, ...] | None, *parts: Any) -> tuple[Any, ...] | None:
        if values is None:
            return None
        changed = list(values)
        for place, value in zip(places, parts[1::2], strict=True):
            changed[place] = value
        return tuple(changed)

    return value_kernel(update, result_type, nulls=True)


FUNCTIONS = (
    ScalarFunction("OBJECT_OF", _infer_object, _bind_object),
    ScalarFunction("OBJECT_UPDATE", _infer_update, _bind_update),
)
