"""Convert messages of Protocol Buffers to rows, and rows to messages."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from scurry.common.typeinfo import MapTypeInfo, ObjectArrayTypeInfo, RowTypeInfo, TypeInformation, Types
from scurry.common.types import Row
from scurry.connectors.protobuf import is_map, is_repeated
from scurry.errors import TypeMismatchError, UnsupportedError
from scurry.errors.suggestions import similar_name

_TYPES: dict[int, TypeInformation] = {
    FieldDescriptor.CPPTYPE_INT32: Types.INT(),
    FieldDescriptor.CPPTYPE_INT64: Types.LONG(),
    FieldDescriptor.CPPTYPE_UINT32: Types.LONG(),
    FieldDescriptor.CPPTYPE_UINT64: Types.BIG_INT(),
    FieldDescriptor.CPPTYPE_DOUBLE: Types.DOUBLE(),
    FieldDescriptor.CPPTYPE_FLOAT: Types.FLOAT(),
    FieldDescriptor.CPPTYPE_BOOL: Types.BOOLEAN(),
    FieldDescriptor.CPPTYPE_ENUM: Types.STRING(),
}


def row_type_of(descriptor: Descriptor, within: tuple[str, ...] = ()) -> RowTypeInfo:
    """Return the declared type of rows with the fields of a message, as Flink's protobuf format maps them.

    Raises:
        UnsupportedError: The message contains itself.
    """
    if descriptor.full_name in within:
        raise UnsupportedError(
            f"the message {descriptor.full_name} contains itself, which no type of rows can; read messages with "
            "ProtobufDeserializationSchema"
        )
    below = (*within, descriptor.full_name)
    types = [_field_type(field, below) for field in descriptor.fields]
    return Types.ROW_NAMED([field.name for field in descriptor.fields], types)


def _field_type(field: FieldDescriptor, within: tuple[str, ...]) -> TypeInformation:
    if is_map(field):
        key, value = field.message_type.fields_by_number[1], field.message_type.fields_by_number[2]
        return MapTypeInfo(_field_type(key, within), _field_type(value, within))
    if field.message_type is not None:
        single: TypeInformation = row_type_of(field.message_type, within)
    elif field.type == FieldDescriptor.TYPE_BYTES:
        single = Types.PRIMITIVE_ARRAY(Types.BYTE())
    else:
        single = _TYPES.get(field.cpp_type, Types.STRING())
    return ObjectArrayTypeInfo(single) if is_repeated(field) else single


# --- reading


def row_reader(descriptor: Descriptor, read_default_values: bool) -> Callable[[Any], Row]:
    """Return the function that makes a row of a message.

    Args:
        descriptor: The message's descriptor.
        read_default_values: Whether a field that is not set has its default value, not None. It matters only for fields
            of which the message records whether they are set.
    """
    names = tuple(field.name for field in descriptor.fields)
    fields = [_reader(field, read_default_values) for field in descriptor.fields]
    return lambda message: Row._from_values([field(message) for field in fields], names)


def _reader(field: FieldDescriptor, defaults: bool) -> Callable[[Any], Any]:
    name, get = field.name, attrgetter(field.name)
    if is_map(field):
        item = _value_reader(field.message_type.fields_by_number[2], defaults)
        if item is None:
            return lambda message: dict(get(message))
        return lambda message: {key: item(value) for key, value in get(message).items()}
    convert = _value_reader(field, defaults)
    if is_repeated(field):
        return (lambda message: list(get(message))) if convert is None else lambda m: [convert(v) for v in get(m)]
    if field.has_presence and (field.message_type is not None or not defaults):
        if convert is None:
            return lambda message: get(message) if message.HasField(name) else None
        return lambda message: convert(get(message)) if message.HasField(name) else None
    return get if convert is None else lambda message: convert(get(message))


def _value_reader(field: FieldDescriptor, defaults: bool) -> Callable[[Any], Any] | None:
    if field.message_type is not None:
        return row_reader(field.message_type, defaults)
    return None if field.enum_type is None else _enum_reader(field.enum_type)


def _enum_reader(enum: EnumDescriptor) -> Callable[[int], str]:
    names = {number: value.name for number, value in enum.values_by_number.items()}
    return lambda number: names.get(number) or str(number)


# --- writing

Fill = Callable[[Any, Any], None]


def filler(descriptor: Descriptor) -> Fill:
    """Return the function that fills a message from a row, a dict, or values by position; None leaves a field unset.

    Returns:
        A function of the message and the row that raises `TypeMismatchError` for a row that does not fit.
    """
    names = [field.name for field in descriptor.fields]
    setters = {field.name: _setter(field) for field in descriptor.fields}
    declared = f"message {descriptor.full_name}"

    def fill(message: Any, value: Any) -> None:
        for name, part in _fields(declared, names, value):
            if part is not None:
                try:
                    setters[name](message, part)
                except TypeMismatchError as error:
                    reason = f"{error.reason}, in field {name!r} of the {declared}"
                    raise TypeMismatchError(error.declared, error.value, reason) from None
                except (TypeError, ValueError, AttributeError) as error:
                    raise TypeMismatchError(f"field {name!r} of the {declared}", part, str(error)) from None

    return fill


def _fields(declared: str, names: list[str], value: Any) -> Any:
    if isinstance(value, Row) and value._fields is not None:
        value = dict(zip(value._fields, value._values, strict=True))
    if isinstance(value, dict):
        for name in value.keys() - set(names):
            near = similar_name(str(name), names)
            hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(names)}"
            raise TypeMismatchError(declared, value, f"it has no field {name!r}{hint}")
        return value.items()
    if not isinstance(value, (Row, tuple, list)):
        raise TypeMismatchError(declared, value, "it is made from a Row, dict, tuple or list")
    if len(value) != len(names):
        raise TypeMismatchError(declared, value, f"it has {len(names)} fields, not {len(value)}")
    return zip(names, value, strict=True)


def _setter(field: FieldDescriptor) -> Fill:
    name, get = field.name, attrgetter(field.name)
    if is_map(field):
        return _map_setter(get, field.message_type.fields_by_number[2])
    if field.message_type is not None:
        return _message_setter(get, field)
    number = _same if field.enum_type is None else _enum_number(field.enum_type)
    if is_repeated(field):
        return lambda message, values: get(message).extend([number(value) for value in values])
    return lambda message, value: setattr(message, name, number(value))


def _map_setter(get: Callable[[Any], Any], item: FieldDescriptor) -> Fill:
    number = _same if item.enum_type is None else _enum_number(item.enum_type)
    fill = None if item.message_type is None else _lazy_filler(item.message_type)

    def set_map(message: Any, entries: Any) -> None:
        target = get(message)
        for key, value in entries.items():
            if fill is None:
                target[key] = number(value)
            else:
                fill(target[key], value)

    return set_map


def _message_setter(get: Callable[[Any], Any], field: FieldDescriptor) -> Fill:
    fill = _lazy_filler(field.message_type)

    def set_all(message: Any, values: Any) -> None:
        target = get(message)
        for value in values:
            fill(target.add(), value)

    def set_one(message: Any, value: Any) -> None:
        target = get(message)
        target.SetInParent()  # a message without fields differs from no message
        fill(target, value)

    return set_all if is_repeated(field) else set_one


def _lazy_filler(descriptor: Descriptor) -> Fill:
    """Return the filler of a nested message, built on first use because messages may be recursive."""
    made: list[Fill] = []

    def fill(message: Any, value: Any) -> None:
        if not made:
            made.append(filler(descriptor))
        made[0](message, value)

    return fill


def _enum_number(enum: EnumDescriptor) -> Callable[[Any], int]:
    numbers: dict[Any, int] = {name: value.number for name, value in enum.values_by_name.items()}

    def number(value: Any) -> int:
        if isinstance(value, int):
            return value
        if value in numbers:
            return numbers[value]
        raise TypeMismatchError(f"enum {enum.full_name}", value, f"its values are {', '.join(numbers)}")

    return number


def _same(value: Any) -> Any:
    return value
