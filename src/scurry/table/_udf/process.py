"""Process table functions: the class that programs derive from, and how `eval` declares arguments and state."""

from __future__ import annotations

import datetime
import inspect
import typing
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from scurry.common._config.option import parse_duration
from scurry.common.types import Row
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.graph.capture import captured
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.functions.user.process import ArgumentTrait, DeclaredArgument, DeclaredState, ProcessSignature
from scurry.sql.functions.user.process_context import Context, OnTimerContext
from scurry.sql.types import DataType, RowType
from scurry.sql.values.hints import argument_maker, hinted_rows, hints_of, type_of_hint
from scurry.table._udf.classes import UserDefinedFunction
from scurry.table._udf.declared import Aliased, column_types, place_of, resolved

_SYSTEM = ("on_time", "uid")


class ProcessTableFunction(UserDefinedFunction):
    """A function that makes a table of tables, with state and timers.

    A class that derives from it has a method `eval(context, state ..., arguments ...)`, which is called for each row of
    a table and returns rows as a `TableFunction` does. All of its parameters but the context are annotated: entries of
    state by `Annotated[SomeClass, StateHint()]`, tables by `Annotated[Row, ArgumentHint(...)]`, other arguments by
    their classes. A method `on_timer(context, state ...)` is called for timers.
    """


class ArgumentHint:
    """Declares the properties of an argument of a process table function in an annotation."""

    def __init__(self, *traits: ArgumentTrait, type: DataType | str | None = None, is_optional: bool = False) -> None:
        """Describe the argument.

        Args:
            *traits: What is special about it.
            type: The type that a value is converted to; None for that of the annotation.
            is_optional: Whether a call may leave it out: it is None then.
        """
        self.traits = frozenset(traits)
        self.type = type
        self.is_optional = is_optional


class StateHint:
    """Says in an annotation that a parameter of a process table function is an entry of its state."""

    def __init__(self, type: DataType | str | None = None, ttl: str | None = None) -> None:
        """Describe the entry.

        Args:
            type: The type of a state that is a `Row`; None for one of a class, `ListView` or `MapView`.
            ttl: How long it is kept without a change, as `1 h`; None for `table.exec.state.ttl`.
        """
        self.type = type
        self.ttl = None if ttl is None else parse_duration(ttl)


class DeclaredProcessFunction:
    """A process table function with its types, as catalogs and `Table.process` accept it."""

    def __init__(self, function: UserFunction) -> None:
        self._function = function
        self.__name__ = function.name
        self.__doc__ = function.function.__doc__

    def alias(self, *alias_names: str) -> Aliased:
        """Return the function with names for its columns.

        Args:
            *alias_names: The names.
        """
        return Aliased(self, alias_names)  # type: ignore[arg-type]

    def _user_function(self) -> UserFunction:
        made = self._function
        if made.captured is None:  # at the first use
            self._function = replace(made, captured=captured(made.function, f"function {made.name} ({made.origin})"))
        return self._function


def declared_process(function: Any, result_type: Any, deterministic: bool | None, name: str | None) -> Any:
    """Return a process table function with its types, which are checked.

    Args:
        function: An instance of a `ProcessTableFunction`.
        result_type: The type of its rows; None for what `eval` is annotated to return.
        deterministic: Whether equal tables give equal rows.
        name: Its name in messages.

    Raises:
        ArgumentError: A declaration makes no sense.
        ArgumentTypeError: It is no process table function, or a parameter or the result has no type.
    """
    if not isinstance(function, ProcessTableFunction) or not callable(getattr(function, "eval", None)):
        raise ArgumentTypeError(f"udptf takes an instance of a ProcessTableFunction with eval(), got {function!r}")
    name = name or type(function).__name__
    method: Any = function.eval  # type: ignore[attr-defined]
    signature = _signature(function, name)
    data_type = _hinted_result(method) if result_type is None else _result_type(result_type)
    if data_type is None:
        raise ArgumentTypeError(
            f"{name} does not say what its rows are: give udptf a result_type, or annotate eval to return "
            "Iterator[tuple[int, str]], for example"
        )
    return DeclaredProcessFunction(
        UserFunction(
            "process table",
            name,
            function,
            data_type,
            is_deterministic=function.is_deterministic() if deterministic is None else deterministic,
            origin=str(place_of(method)),
            parameters=tuple(each.name for each in signature.arguments),
            signature=signature,
        )
    )


def _signature(function: Any, name: str) -> ProcessSignature:
    hints = hints_of(function.eval, with_extras=True)
    states: list[DeclaredState] = []
    arguments: list[DeclaredArgument] = []
    parameters = list(inspect.signature(function.eval).parameters.values())
    takes_context = bool(parameters) and _is_context(parameters[0], hints)
    for parameter in parameters[takes_context:]:
        hint = hints.get(parameter.name)
        if hint is None or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise ArgumentTypeError(f"parameter '{parameter.name}' of {name}.eval needs an annotation of its class")
        base, found = _taken_apart(hint)
        if isinstance(found, StateHint):
            if arguments:
                raise ArgumentError(f"{name}.eval: entries of state stand before arguments, but '{parameter.name}'")
            states.append(DeclaredState(parameter.name, _maker(base, found, parameter.name, name), found.ttl))
        else:
            arguments.append(_argument(parameter.name, base, found or ArgumentHint(), name))
    _check(states, arguments, name)
    on_timer = getattr(function, "on_timer", None)
    timer_takes_context = None
    if on_timer is not None:
        taken = list(inspect.signature(on_timer).parameters.values())
        timer_takes_context = len(taken) == len(states) + 1
        if [each.name for each in taken[timer_takes_context:]] != [each.name for each in states]:
            shown = ", ".join(["context", *(each.name for each in states)])
            raise ArgumentError(f"{name}.on_timer takes the entries of state that eval takes: on_timer(self, {shown})")
    return ProcessSignature(tuple(states), tuple(arguments), takes_context, timer_takes_context)


def _check(states: list[DeclaredState], arguments: list[DeclaredArgument], name: str) -> None:
    tables = [each for each in arguments if each.is_table]
    for each in arguments:
        if each.name in _SYSTEM:
            raise ArgumentError(
                f"Function signature of {name} must not declare system arguments. Reserved argument names are: "
                f"[{', '.join(_SYSTEM)}]"
            )
    if states and not any(each.is_set for each in tables):
        raise ArgumentError(f"{name}: only functions of tables with set semantics have state")
    if len(tables) > 1 and not all(each.is_set for each in tables):
        raise ArgumentError("All table arguments must use set semantics if multiple table arguments are declared.")
    for each in arguments:
        _check_traits(each, name)
    passing = [each for each in tables if ArgumentTrait.PASS_COLUMNS_THROUGH in each.traits]
    if passing and any(ArgumentTrait.SUPPORT_UPDATES in each.traits for each in tables):
        raise ArgumentError("Signatures with updating inputs must not pass columns through.")
    if len(tables) > 1 and passing:
        raise ArgumentError("Pass-through columns are not supported if multiple table arguments are declared.")


#: Requirements of some traits, in the order in which they are checked.
_REQUIRED = {
    ArgumentTrait.OPTIONAL_PARTITION_BY: ArgumentTrait.SET_SEMANTIC_TABLE,
    ArgumentTrait.REQUIRE_UPDATE_BEFORE: ArgumentTrait.SUPPORT_UPDATES,
    ArgumentTrait.REQUIRE_FULL_DELETE: ArgumentTrait.SUPPORT_UPDATES,
}


def _check_traits(argument: DeclaredArgument, function: str) -> None:
    for trait, required in _REQUIRED.items():
        if trait in argument.traits and required not in argument.traits:
            raise ArgumentError(
                f"Invalid argument traits for argument '{argument.name}'. Trait {trait.name} requires {required.name}."
            )
    if ArgumentTrait.SUPPORT_UPDATES in argument.traits and argument.maker is not None:
        raise ArgumentError(
            f"argument '{argument.name}' of {function} takes updates: annotate it with Row, whose get_row_kind() says "
            "what a row changes"
        )


def _argument(name: str, base: Any, hint: ArgumentHint, function: str) -> DeclaredArgument:
    maker = argument_maker(base)
    declared = DeclaredArgument(name, hint.traits or frozenset({ArgumentTrait.SCALAR}), None, maker, hint.is_optional)
    if declared.is_table or base is datetime.timedelta:
        return declared
    data_type = resolved(hint.type) if hint.type is not None else type_of_hint(base)
    if data_type is None:
        raise ArgumentTypeError(
            f"argument '{name}' of {function} has no SQL type: annotate it Annotated[{base!r}, ArgumentHint(type=...)]"
        )
    return DeclaredArgument(name, declared.traits, data_type, maker, hint.is_optional)


def _maker(base: Any, hint: StateHint, name: str, function: str) -> Callable[[], Any]:
    if hint.type is not None and base is Row:
        data_type = resolved(hint.type)
        if isinstance(data_type, RowType):
            return partial(_empty_row, tuple(data_type.field_names()))
    make = typing.get_origin(base) or base
    if not isinstance(make, type) or make is Row:
        raise ArgumentTypeError(
            f"state '{name}' of {function} is a class whose instances are made without arguments, a ListView, a "
            "MapView, or Row with StateHint(type='ROW<...>')"
        )
    try:
        vars(make())
    except TypeError as error:
        raise ArgumentTypeError(f"state '{name}' of {function}: {make.__name__}() fails: {error}") from error
    return make


def _empty_row(names: tuple[str, ...]) -> Row:
    return Row._from_values([None] * len(names), names)


def _result_type(given: Any) -> DataType:
    return resolved(given if isinstance(given, DataType | str) else column_types(given))


def _hinted_result(method: Any) -> DataType | None:
    found = hinted_rows(method)
    if isinstance(found, RowType) and found.field_names() == ["f0"]:
        return found.field_types()[0]
    return found


def _is_context(parameter: inspect.Parameter, hints: dict[str, Any]) -> bool:
    hint = hints.get(parameter.name)
    return hint in (Context, OnTimerContext) or (hint is None and parameter.name in ("ctx", "context"))


def _taken_apart(hint: Any) -> tuple[Any, Any]:
    """Return the class of an annotation, and its hint about an argument or state; None without a hint."""
    if typing.get_origin(hint) is not typing.Annotated:
        return hint, None
    base, *notes = typing.get_args(hint)
    found = [each for each in notes if isinstance(each, ArgumentHint | StateHint)]
    return base, found[0] if found else None
