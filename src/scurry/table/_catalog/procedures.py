"""Procedure: code of a program that CALL runs, and how its arguments and results are typed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from scurry.common._api import ApiObject
from scurry.errors import ArgumentTypeError, UnsupportedError
from scurry.sql.catalog.procedures import REQUIRED, CatalogProcedure, ProcedureArgument, ProcedureSignature
from scurry.sql.types import ArrayType, DataType, RowType, without_user_types
from scurry.sql.values.hints import hinted_result, hinted_rows, hints_of, type_of_hint

if TYPE_CHECKING:
    from scurry.table.table_environment import TableEnvironment

F = TypeVar("F", bound=Callable[..., Any])

_HINTS = "_procedure_hint"


class ProcedureContext(ApiObject):
    """The first argument of a procedure."""

    def __init__(self, environment: TableEnvironment) -> None:
        """Create the context; made for each call."""
        self._environment = environment

    def get_table_environment(self) -> TableEnvironment:
        """Return the environment of the statement, in which the procedure may run others."""
        return self._environment

    def get_execution_environment(self) -> Any:
        """Return the StreamExecutionEnvironment beside the environment of the statement.

        Raises:
            UnsupportedError: The environment of the statement is no StreamTableEnvironment.
        """
        streams = vars(self._environment).get("_streams")
        if streams is None:
            raise UnsupportedError(
                "the procedure runs beside no StreamExecutionEnvironment: use StreamTableEnvironment.create(env)"
            )
        return streams


class Procedure(ApiObject):
    """Base of procedures: `call(self, context, ...)` takes the arguments and returns a list of rows, or yields them.

    Types are those of the annotations, or of `procedure_hint`. Further methods whose names begin with `call_` are other
    ways to call it: the first that fits the arguments is taken, in the order of the class.
    """


def procedure_hint(
    input: Sequence[DataType | str] | None = None, output: DataType | str | None = None
) -> Callable[[F], F]:
    """Declare the types of a procedure's `call`, in place of its annotations.

    Args:
        input: The types of the arguments; None for those of the annotations.
        output: The type of a row, or of the only column; None for that of the annotation.
    """

    def decorate(function: F) -> F:
        setattr(function, _HINTS, (input, output))
        return function

    return decorate


def procedure_of(declared: Any, environment: TableEnvironment) -> CatalogProcedure:
    """Return a procedure as catalogs have it.

    Args:
        declared: A Procedure, or a function of a context and arguments.
        environment: The environment of its calls.

    Raises:
        ArgumentTypeError: It is neither, or does not say a type.
    """
    if isinstance(declared, Procedure):
        names = [name for name in _names(type(declared)) if name == "call" or name.startswith("call_")]
        methods = [getattr(declared, name) for name in names]
    else:
        methods = [declared] if inspect.isroutine(declared) else []
    if not methods:
        raise ArgumentTypeError(f"expected a Procedure with a method 'call', or a function, got {declared!r}")
    signatures = tuple(map(_signature, methods))
    return CatalogProcedure(signatures, lambda: ProcedureContext(environment), declared)


def _names(cls: type) -> list[str]:
    return list(dict.fromkeys(name for base in cls.__mro__ for name in vars(base)))


def _signature(method: Callable[..., Any]) -> ProcedureSignature:
    given, output = getattr(method, _HINTS, (None, None))
    parameters = list(inspect.signature(method).parameters.values())[1:]
    hints = hints_of(method)
    if given is not None and len(given) != len(parameters):
        raise ArgumentTypeError(f"{method.__qualname__}: {len(given)} types for {len(parameters)} arguments")
    arguments = []
    for place, each in enumerate(parameters):
        if each.kind in (each.KEYWORD_ONLY, each.VAR_KEYWORD):
            raise ArgumentTypeError(f"{method.__qualname__}: CALL passes no argument '{each.name}' by name only")
        kind = type_of_hint(hints.get(each.name)) if given is None else _type(given[place])
        if kind is None:
            raise ArgumentTypeError(f"{method.__qualname__}: argument '{each.name}' needs an annotation of its type")
        default = REQUIRED if each.default is each.empty else each.default
        arguments.append(ProcedureArgument(each.name, without_user_types(kind), default))
    variadic = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
    function, result = _function(method, None if output is None else _type(output))
    return ProcedureSignature(function, tuple(arguments), without_user_types(result), variadic)


def _function(method: Callable[..., Any], declared: DataType | None) -> tuple[Callable[..., Iterable[Any]], DataType]:
    """Return the function whose results are rows, and their type."""
    hinted = hinted_result(method)
    if declared is None and isinstance(hinted, ArrayType):
        return method, hinted.element_type
    if declared is None and hinted is not None:
        return lambda *values: [method(*values)], hinted
    rows = hinted_rows(method) if declared is None else declared
    if rows is None:
        raise ArgumentTypeError(
            f"{method.__qualname__}: the result needs an annotation such as list[int], or @procedure_hint(output=...)"
        )
    if declared is None and isinstance(rows, RowType) and rows.field_names() == ["f0"]:
        rows = rows.fields[0].data_type
    return method, rows


def _type(given: DataType | str) -> DataType:
    if isinstance(given, DataType):
        return given
    from scurry.sql.statements.text import parse_type

    return parse_type(given)
