"""The functions, objects and classes that programs declare: how they are called, and how they are annotated."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentTypeError
from scurry.sql.values.hints import hints_of
from scurry.table.udf import AsyncScalarFunction, UserDefinedFunction

#: The ways to define a method, of those that a class can be asked for without an instance.
_METHODS = (staticmethod, classmethod)


@dataclass(frozen=True)
class Target:
    """A function of a program.

    Attributes:
        given: The function, object or class.
        method: The function whose parameters and annotations count.
        bound: How many of its first parameters have values already, as `self`.
        named: The parameters that `functools.partial` has given values by name.
        is_class: Whether it is a class, of which workers make an instance.
        is_async: Whether it is a coroutine function.
    """

    given: Any
    method: Callable[..., Any]
    bound: int = 0
    named: frozenset[str] = frozenset()
    is_class: bool = False
    is_async: bool = False

    @property
    def name(self) -> str:
        """The name of the function or class."""
        found = self.given
        while isinstance(found, functools.partial):
            found = found.func
        return str(getattr(found, "__name__", None) or type(found).__name__)

    def annotation(self, name: str, names: dict[str, Any] | None = None) -> Any:
        """Return the hint of a parameter, or of the `return`; None without one, or if it cannot be found.

        Args:
            name: The parameter.
            names: Names that the annotation may use beside those of the function's module.
        """
        annotations = getattr(self.method, "__annotations__", {})
        if name not in annotations:
            return None
        scope = getattr(inspect.unwrap(self.method), "__globals__", {})
        alone = SimpleNamespace(
            __annotations__={name: annotations[name]},
            __globals__={**(names or {}), **scope},
            __module__=getattr(self.method, "__module__", ""),
        )
        enclosing = _enclosing(self.method)
        if enclosing:
            alone.__globals__ = {**alone.__globals__, **enclosing}
        return hints_of(alone, with_extras=True).get(name)

    def parameters(self) -> list[inspect.Parameter]:
        """Return the parameters that calls give values."""
        try:
            found = list(inspect.signature(self.method).parameters.values())
        except (TypeError, ValueError):
            return []
        return [each for each in found[self.bound :] if each.name not in self.named]

    def make(self) -> Any:
        """Return the function or object that is called: of a class, a new instance."""
        return self.given() if self.is_class else self.given


def _enclosing(method: Any) -> dict[str, Any]:
    """Return the variables of enclosing functions, and the classes around a method."""
    function = inspect.unwrap(method)
    names: dict[str, Any] = {}
    for name, cell in (
        zip(getattr(function.__code__, "co_freevars", ()), function.__closure__ or (), strict=False)
        if (inspect.isfunction(function))
        else ()
    ):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return names


def target_of(given: Any, base: type | tuple[type, ...], what: str, method: str = "eval") -> Target:
    """Return a function of a program, which is checked.

    Args:
        given: The function, partial, bound method, object or class.
        base: The base of the classes of its kind, as `ScalarFunction`.
        what: How the kind is called, as `a scalar UDF`.
        method: The method that instances of the base are called by.

    Raises:
        TypeError: It is none of these, or a class that workers cannot make an instance of.
    """
    if inspect.isclass(given):
        return _of_class(given, base, what, method)
    if isinstance(given, UserDefinedFunction):
        _require_kind(given, base, what)
        return _of_method(given, getattr(type(given), method), 1, False)
    if isinstance(given, functools.partial):
        return _of_partial(given, base, what, method)
    if not callable(given):
        raise ArgumentTypeError(f"func must be callable, got {type(given).__name__}.")
    if inspect.ismethod(given):
        return _of_method(given, given.__func__, 1, False)
    if inspect.isroutine(given):
        wrapped = inspect.unwrap(given)
        if inspect.iscoroutinefunction(wrapped) and not inspect.iscoroutinefunction(given):
            raise ArgumentTypeError(
                "A synchronous UDF wrapper cannot wrap an async target; define the wrapper with async def."
            )
        return _of_method(given, given, 0, False)
    return _of_static(given, type(given), "__call__", False)


def _of_class(given: type, base: Any, what: str, method: str) -> Target:
    is_function = issubclass(given, UserDefinedFunction)
    if is_function and not issubclass(given, base):
        raise ArgumentTypeError(f"func must be {what}, got {given.__name__}.")
    if inspect.isabstract(given):
        raise ArgumentTypeError(f"UDF class '{given.__name__}' must not be abstract.")
    if not is_function and inspect.getattr_static(given, "__call__", None) is None:
        raise ArgumentTypeError(f"func must be callable, got {given.__name__}.")
    try:
        inspect.signature(given).bind()
    except TypeError:
        raise ArgumentTypeError(
            f"UDF class '{given.__name__}' must have a zero-argument constructor; pass a configured instance instead."
        ) from None
    except ValueError:  # a class of C without a signature
        pass
    return _of_static(given, given, method if is_function else "__call__", True)


def _of_static(given: Any, cls: type, name: str, is_class: bool) -> Target:
    """Return the target of a method of a class, as the class defines it."""
    found = inspect.getattr_static(cls, name)
    if isinstance(found, _METHODS):
        return _of_method(given, found.__func__, 1 if isinstance(found, classmethod) else 0, is_class)
    if not inspect.isfunction(found):
        called = "Callable class" if name == "__call__" else "Scalar UDF class"
        raise ArgumentTypeError(
            f"{called} '{cls.__name__}' has an unsupported {name} definition.\n"
            f"Define {name} as an instance, class, or static method."
        )
    return _of_method(given, found, 1, is_class)


def _of_method(given: Any, method: Any, bound: int, is_class: bool) -> Target:
    is_async = inspect.iscoroutinefunction(method)
    cls = given if is_class else type(given)
    if inspect.isclass(cls) and issubclass(cls, AsyncScalarFunction) and not is_async:
        raise ArgumentTypeError(f"AsyncScalarFunction '{cls.__name__}': eval must be defined with async def.")
    return Target(given, method, bound, frozenset(), is_class, is_async)


def _of_partial(given: functools.partial[Any], base: Any, what: str, method: str) -> Target:
    inner = target_of(given.func, base, what, method)
    try:
        inspect.signature(given)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"Invalid functools.partial UDF '{inner.name}': {error}") from None
    return Target(
        given, inner.method, inner.bound + len(given.args), inner.named | set(given.keywords), False, inner.is_async
    )


def _require_kind(given: Any, base: Any, what: str) -> None:
    if not isinstance(given, base):
        raise ArgumentTypeError(f"func must be {what}, got {type(given).__name__}.")


def checked_declaration(deterministic: Any, name: Any) -> None:
    """Refuse wrong arguments of declarations.

    Raises:
        TypeError: One is something else.
    """
    if not isinstance(deterministic, bool):
        raise ArgumentTypeError("deterministic must be a bool.")
    if name is not None and not isinstance(name, str):
        raise ArgumentTypeError("name must be a str or None.")
