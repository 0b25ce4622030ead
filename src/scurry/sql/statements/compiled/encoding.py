"""Parts of plans as JSON, and back: expressions, types, and whatever else nodes are made of."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from decimal import Decimal
from functools import lru_cache
from types import ModuleType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from scurry.common.redaction import has_secret
from scurry.errors import ScurryError, UnsupportedError, ValidationError
from scurry.sql import types as logical_types
from scurry.sql.catalog import schema as catalog_schema
from scurry.sql.catalog.entries import ContextResolvedTable, TableDistribution
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan import (
    changelog_functions,
    expressions,
    matching,
    models,
    process_tables,
    schema,
    subqueries,
    windows,
)
from scurry.sql.plan import nodes as plan
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import aggregates as physical_aggregates
from scurry.sql.plan.physical import changes, joins, over, ranks
from scurry.sql.plan.physical import windows as physical_windows
from scurry.sql.statements.text import parse_type
from scurry.sql.types import DataType, LocalZonedTimestampType, TimestampType
from scurry.sql.types.atomic_types import TimeAttribute
from scurry.sql.types.nested_types import RowField


def misfit(kind: type[Any], values: Mapping[str, Any]) -> str | None:
    """Return the name of a field of a dataclass whose value is of another type than is declared, None if all fit."""
    hints = _hints(kind)  # type: ignore[arg-type] # mypy takes classes for unhashable
    return next((name for name, value in values.items() if not _fits(value, hints.get(name, Any))), None)


@lru_cache(maxsize=1024)
def _hints(kind: type[Any]) -> dict[str, Any]:
    try:
        found = get_type_hints(kind)
    except NameError:  # a type that is imported for type checkers only
        return {}
    return {each.name: found[each.name] for each in fields(kind)}


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in arguments)
    if origin is Literal:
        return value in arguments
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(arguments) == 2 and arguments[1] is ...:
            return all(_fits(each, arguments[0]) for each in value)
        return len(value) == len(arguments) and all(map(_fits, value, arguments))
    if origin in (list, Sequence):
        return isinstance(value, list | tuple) and all(_fits(each, arguments[0]) for each in value)
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and all(
            _fits(key, arguments[0]) and _fits(each, arguments[1]) for key, each in value.items()
        )
    if hint is None or hint is types.NoneType:
        return value is None
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return not isinstance(hint, type) or isinstance(value, hint)


_MODULES: Final[tuple[ModuleType, ...]] = (
    changelog_functions,
    expressions,
    matching,
    models,
    plan,
    process_tables,
    schema,
    subqueries,
    windows,
    physical_aggregates,
    changes,
    joins,
    over,
    ranks,
    physical_windows,
)
#: The key of a dictionary that names its kind.
_KIND: Final = "class"
#: The prefix of the kinds of columns, watermarks and keys of catalogs, whose classes have the names of others.
_CATALOG: Final = "catalog."


def node_types() -> dict[str, type]:
    """Return the classes of nodes and of their parts by the names that plans have them with."""
    found = {
        name: value
        for module in _MODULES
        for name, value in vars(module).items()
        if isinstance(value, type) and is_dataclass(value) and f"{value.__module__}.".startswith(f"{module.__name__}.")
    }
    of_catalogs = {
        _CATALOG + name: value
        for name, value in vars(catalog_schema).items()
        if isinstance(value, type) and is_dataclass(value)
    }
    return {**found, **of_catalogs, _CATALOG + "TableDistribution": TableDistribution}


class Encoder:
    """Make JSON of the parts of plans."""

    def __init__(self, table: Callable[[ContextResolvedTable], Any], function: Callable[[UserFunction], str]) -> None:
        """Create an encoder of a session.

        Args:
            table: Returns what is kept of a table.
            function: Returns the name by which a function of a user is found again.
        """
        self._table = table
        self._function = function
        self._names = {value: name for name, value in node_types().items()}
        #: the numbers of the nodes that are encoded already
        self.numbers: dict[Plan, int] = {}

    def properties(self, value: Any) -> dict[str, Any]:
        """Return the fields of a node or a part as JSON, without those that have their defaults."""
        if isinstance(value, plan.Scan):
            _check_hints(value)
        found = {}
        for each in fields(value):
            held = getattr(value, each.name)
            if each.name != "span" and not (each.default is not MISSING and held == each.default):
                found[each.name] = self.encoded(held)
        return found

    def encoded(self, value: Any) -> Any:
        """Return a value as JSON.

        Raises:
            UnsupportedError: It cannot be kept.
        """
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, tuple):
            return [self.encoded(each) for each in value]
        if isinstance(value, Plan) and value in self.numbers:  # others are no inputs, such as tables that are asked
            return {_KIND: "node", "id": self.numbers[value]}
        if isinstance(value, DataType):
            return {"type": self.type(value)}
        if isinstance(value, ContextResolvedTable):
            return {_KIND: "table", **self._table(value)}
        if isinstance(value, UserFunction):
            return {_KIND: "function", "name": self._function(value)}
        if isinstance(value, ResolvedSchema):
            parts = (tuple(value.get_columns()), tuple(value.get_watermark_specs()), value.get_primary_key())
            return {_KIND: "schema", "parts": self.encoded(parts)}
        if isinstance(value, models.PlannedModel):
            secret = [key for key, text in value.options if has_secret(key, text)]
            kept = replace(value, options=tuple(each for each in value.options if each[0] not in secret))
            return {_KIND: "model", "model": self.properties(kept), "secretOptions": secret}
        name = self._names.get(type(value))
        if name is not None:
            return {_KIND: name, **self.properties(value)}
        return self._literal(value)

    def _literal(self, value: Any) -> Any:
        if isinstance(value, float):
            return {_KIND: "float", "value": repr(value)}
        if isinstance(value, Decimal):
            return {_KIND: "decimal", "value": str(value)}
        if isinstance(value, bytes):
            return {_KIND: "bytes", "value": value.hex()}
        if isinstance(value, list):
            return {_KIND: "list", "values": [self.encoded(each) for each in value]}
        if isinstance(value, Mapping):
            return {_KIND: "map", "entries": [[self.encoded(key), self.encoded(each)] for key, each in value.items()]}
        raise UnsupportedError(f"the statement cannot be compiled: {value!r} is not kept in plans")

    def type(self, value: DataType) -> Any:
        """Return a type as JSON: its text if that says all of it."""
        text = value.as_summary_string()
        if _reads_back(text, value):
            return text
        if isinstance(value, TimestampType | LocalZonedTimestampType) and value.time_attribute is not None:
            plain = value.as_time_attribute(None)
            return {"type": plain.as_summary_string(), "attribute": value.time_attribute.value}
        return {"class": type(value).__name__, **{name: self._part(held) for name, held in vars(value).items()}}

    def _part(self, held: Any) -> Any:
        if isinstance(held, DataType):
            return {"type": self.type(held)}
        if isinstance(held, tuple):
            return [self._part(each) for each in held]
        if isinstance(held, RowField):
            return {"field": held.name, "type": self.type(held.data_type), "description": held.description}
        if held is None or isinstance(held, bool | int | str):
            return held
        raise UnsupportedError(f"the statement cannot be compiled: {held!r} of a type is not kept in plans")


def _check_hints(scan: plan.Scan) -> None:
    if secret := [key for key, value in scan.options if has_secret(key, value)]:
        raise UnsupportedError(
            f"the statement cannot be compiled: a plan keeps no secrets, and a hint of table {'.'.join(scan.path)} has "
            f"'{secret[0]}': set it in the table"
        )


def _reads_back(text: str, value: DataType) -> bool:
    try:
        return parse_type(text) == value
    except ScurryError:
        return False


class Decoder:
    """Make parts of plans of JSON."""

    def __init__(
        self,
        table: Callable[[Mapping[str, Any]], Any],
        function: Callable[[str], UserFunction],
        secrets: Callable[[tuple[str, ...], list[str]], Mapping[str, str]],
    ) -> None:
        """Create a decoder of a session.

        Args:
            table: Returns the table of which something is kept.
            secrets: Returns some options of a model, which no plan keeps, by its path.
        """
        self._secrets = secrets
        self._table = table
        self._function = function
        self._types = node_types()
        #: the nodes that are decoded already
        self.nodes: dict[int, Plan] = {}

    def made(self, name: str, properties: Mapping[str, Any]) -> Any:
        """Return a node or a part of its class's name and its fields.

        Raises:
            ValidationError: This version has no such class, or it has other fields.
        """
        made = self._types.get(name)
        if made is None:
            raise ValidationError(f"the plan has a node or a part {name!r}, which this version of scurry does not have")
        known = {each.name for each in fields(made)}
        unknown = sorted(set(properties) - known)
        if unknown:
            raise ValidationError(f"{name} has {', '.join(unknown)}, which this version of scurry does not know")
        values = {key: self.decoded(value) for key, value in properties.items()}
        if (wrong := misfit(made, values)) is not None:
            raise ValidationError(f"{name} has {values[wrong]!r:.100} as its {wrong}")
        try:
            return made(**values)
        except TypeError as error:
            raise ValidationError(f"{name} lacks something: {error}") from error

    def decoded(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(self.decoded(each) for each in value)
        if not isinstance(value, dict):
            return value
        rest = {key: each for key, each in value.items() if key != _KIND}
        handler = _DECODED.get(value.get(_KIND, "type"))
        return self.made(str(value.get(_KIND)), rest) if handler is None else handler(self, rest)

    def _node(self, value: Mapping[str, Any]) -> Plan:
        return self.nodes[value["id"]]

    def _type(self, value: Mapping[str, Any]) -> DataType:
        return self.type(value["type"])

    def _schema(self, value: Mapping[str, Any]) -> ResolvedSchema:
        return ResolvedSchema(*self.decoded(value["parts"]))

    def _found_table(self, value: Mapping[str, Any]) -> Any:
        return self._table(value)

    def _found_function(self, value: Mapping[str, Any]) -> UserFunction:
        return self._function(value["name"])

    def _model(self, value: Mapping[str, Any]) -> models.PlannedModel:
        kept: models.PlannedModel = self.made("PlannedModel", value["model"])
        secrets = self._secrets(kept.path, value["secretOptions"])
        return replace(kept, options=tuple(sorted({**dict(kept.options), **secrets}.items())))

    def _list(self, value: Mapping[str, Any]) -> list[Any]:
        return [self.decoded(each) for each in value["values"]]

    def _map(self, value: Mapping[str, Any]) -> dict[Any, Any]:
        return {self.decoded(key): self.decoded(each) for key, each in value["entries"]}

    def type(self, value: Any) -> DataType:
        """Return the type that JSON stands for."""
        if isinstance(value, str):
            return parse_type(value)
        if "attribute" in value:
            plain = parse_type(value["type"])
            assert isinstance(plain, TimestampType | LocalZonedTimestampType)
            return plain.as_time_attribute(TimeAttribute(value["attribute"]))
        made = getattr(logical_types, value["class"])
        found: DataType = made.__new__(made)
        found.__dict__.update(self._parts(value))
        return found

    def _parts(self, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        return ((name, self._part(held)) for name, held in value.items() if name != "class")

    def _part(self, held: Any) -> Any:
        if isinstance(held, list):
            return tuple(self._part(each) for each in held)
        if isinstance(held, dict) and "field" in held:
            return RowField(held["field"], self.type(held["type"]), held["description"])
        return self.type(held["type"]) if isinstance(held, dict) else held


_DECODED: Final[Mapping[str, Callable[[Decoder, Mapping[str, Any]], Any]]] = {
    "node": Decoder._node,
    "type": Decoder._type,
    "schema": Decoder._schema,
    "table": Decoder._found_table,
    "function": Decoder._found_function,
    "model": Decoder._model,
    "list": Decoder._list,
    "map": Decoder._map,
    "float": lambda decoder, value: float(value["value"]),
    "decimal": lambda decoder, value: Decimal(value["value"]),
    "bytes": lambda decoder, value: bytes.fromhex(value["value"]),
}
