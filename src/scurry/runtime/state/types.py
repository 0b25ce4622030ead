"""Types of state as JSON, stored with the state and compared with the types of a later program.

A type is a name such as `"LONG"`, or a list that starts with one: `["LIST", T]` and the arrays, `["MAP", K, V]`,
`["TUPLE", T, ...]`, `["ROW", [field, T], ...]`. `"ANY"` is a Python object of undeclared type. Annotations of dataclass
fields may also be `["CLASS", "module:Class"]`, `["OPTIONAL", T]` and `["PYTHON", text]`.
"""

from __future__ import annotations

import types
import typing
from dataclasses import is_dataclass
from typing import Any

from scurry.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DataclassTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
    type_info_from_hint,
)

#: A type as JSON; see the module's docstring.
TypeJson = Any

ANY = "ANY"

_NAMES: dict[type, str] = {
    DateTypeInfo: "SQL_DATE",
    TimeTypeInfo: "SQL_TIME",
    TimestampTypeInfo: "SQL_TIMESTAMP",
    PickledBytesTypeInfo: ANY,
    ListTypeInfo: "LIST",
    PrimitiveArrayTypeInfo: "PRIMITIVE_ARRAY",
    BasicArrayTypeInfo: "BASIC_ARRAY",
    ObjectArrayTypeInfo: "OBJECT_ARRAY",
}
SEQUENCES = ("LIST", "PRIMITIVE_ARRAY", "BASIC_ARRAY", "OBJECT_ARRAY")


def describe(declared: TypeInformation | None) -> TypeJson:
    """Return the JSON of a declared type; None means any Python object."""
    if declared is None:
        return ANY
    if isinstance(declared, LocalTimeTypeInfo | ExternalTypeInfo):
        return describe(declared.represented)
    if isinstance(declared, BasicTypeInfo):
        return declared.basic_type.name
    if isinstance(declared, DataclassTypeInfo):
        return ["CLASS", class_ref(declared.cls)]
    if isinstance(declared, MapTypeInfo):
        return ["MAP", describe(declared.key_type), describe(declared.value_type)]
    if isinstance(declared, TupleTypeInfo):
        return ["TUPLE", *map(describe, declared.get_field_types())]
    if isinstance(declared, RowTypeInfo):
        fields = zip(declared.get_field_names(), declared.get_field_types(), strict=True)
        return ["ROW", *([name, describe(field)] for name, field in fields)]
    name = _NAMES.get(type(declared), ANY)
    return [name, describe(getattr(declared, "elem_type", None))] if name in SEQUENCES else name


def declared_type(described: TypeJson) -> TypeInformation:
    """Return the declared type of a JSON; annotations without a declared type mean any object."""
    name, parts = head(described), arguments(described)
    if name in BasicType.__members__ or name in ("SQL_DATE", "SQL_TIME", "SQL_TIMESTAMP"):
        return getattr(Types, name)()  # type: ignore[no-any-return]
    if name in SEQUENCES:
        return getattr(Types, name)(declared_type(parts[0]))  # type: ignore[no-any-return]
    if name == "MAP":
        return MapTypeInfo(declared_type(parts[0]), declared_type(parts[1]))
    if name == "TUPLE":
        return TupleTypeInfo(list(map(declared_type, parts)))
    if name == "ROW":
        return RowTypeInfo([declared_type(field) for _, field in parts], [name for name, _ in parts])
    return Types.PICKLED_BYTE_ARRAY()


def describe_hint(hint: Any) -> TypeJson:
    """Return the JSON of an evaluated annotation."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return describe_hint(args[0])
    if origin in (typing.Union, types.UnionType):
        rest = [arg for arg in args if arg is not type(None)]
        return ["OPTIONAL", describe_hint(rest[0])] if len(rest) == 1 else ["PYTHON", str(hint)]
    if origin is typing.Literal and len({type(arg) for arg in args}) == 1:
        return describe_hint(type(args[0]))
    if origin in (list, dict, tuple) and args and Ellipsis not in args:
        return [{list: "LIST", dict: "MAP", tuple: "TUPLE"}[origin], *map(describe_hint, args)]
    if hint is int:
        return BasicType.BIG_INT.name
    if isinstance(hint, type) and is_dataclass(hint):
        return ["CLASS", class_ref(hint)]
    known = type_info_from_hint(hint)
    if known is not None:
        return describe(known)
    if hint is Any or hint is object or isinstance(hint, typing.TypeVar):
        return ANY
    return ["PYTHON", hint if isinstance(hint, str) else getattr(hint, "__qualname__", None) or str(hint)]


def class_ref(cls: type) -> str:
    """Return the reference to a class that state uses."""
    return f"{cls.__module__}:{cls.__qualname__}"


def class_refs(described: TypeJson) -> set[str]:
    name, parts = head(described), arguments(described)
    if name == "CLASS":
        return {parts[0]}
    if name == "PYTHON":
        return set()
    return {ref for part in parts for ref in class_refs(part[1] if name == "ROW" else part)}


def head(described: TypeJson) -> str:
    """Return the name of a type without its parts."""
    return described if isinstance(described, str) else str(described[0])


def arguments(described: TypeJson) -> list[Any]:
    return [] if isinstance(described, str) else list(described[1:])


_AS_ANNOTATION = {
    "BIG_INT": "int",
    "DOUBLE": "float",
    "STRING": "str",
    "BOOLEAN": "bool",
    "BIG_DEC": "Decimal",
    "SQL_DATE": "date",
    "SQL_TIME": "time",
    "SQL_TIMESTAMP": "datetime",
    "INSTANT": "Instant",
    ANY: "Any",
}


def annotation_text(described: TypeJson) -> str:
    """Return an annotation as text, such as `list[int]`."""
    name, parts = head(described), arguments(described)
    if name in ("LIST", "MAP", "TUPLE"):
        return f"{'dict' if name == 'MAP' else name.lower()}[{', '.join(map(annotation_text, parts))}]"
    if name == "OPTIONAL":
        return f"{annotation_text(parts[0])} | None"
    return "bytes" if name == "PRIMITIVE_ARRAY" else _AS_ANNOTATION.get(name) or text(described)


def text(described: TypeJson) -> str:
    """Return a type as text, such as `ROW<name STRING, hits LONG>`."""
    name, parts = head(described), arguments(described)
    if name == "CLASS":
        return str(parts[0].replace(":", "."))
    if name == "OPTIONAL":
        return f"{text(parts[0])} or None"
    if name == "PYTHON":
        return str(parts[0])
    if name == ANY:
        return "undeclared"
    if name == "ROW":
        return f"ROW<{', '.join(f'{field} {text(of)}' for field, of in parts)}>"
    return f"{name}<{', '.join(map(text, parts))}>" if parts else name
