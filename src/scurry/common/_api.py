"""Base of the public API: checked arguments, errors that show the user's line, suggestions of similar names."""

from __future__ import annotations

import inspect
import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import cache, wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from scurry.common.redaction import without_secrets
from scurry.errors import ArgumentTypeError, MissingAttributeError, ScurryError, SparkFailedError
from scurry.errors.suggestions import similar_name, similar_names
from scurry.errors.user_frames import BOUNDARY, only_user_frames

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_logger = logging.getLogger("scurry")
_LINES_OF_JAVA = 12
#: Special methods in which the errors of a job surface.
_GUARDED = {"__init__", "__next__", "__iter__", "__enter__", "__exit__"}


class ApiObject:
    """Base of the classes whose methods user programs call while they build and operate a job.

    - Arguments that are annotated as int, float, str or bool are checked.
    - An error of scurry that leaves a public method shows only the user's frames (`at_boundary`).
    - The error about a missing attribute suggests similar ones.

    Not for objects that are called per record: for those, call `advice_on_attribute` after a function has failed.
    """

    __slots__ = ()

    #: Names that users try -> replacement.
    _instead: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, check_arguments: bool = True, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if cls.__module__.partition(".")[0] == "scurry":  # not the classes that users derive
            for name, member in list(vars(cls).items()):
                if name in _GUARDED or not name.startswith("_"):
                    _guard(cls, name, member, check_arguments)

    if not TYPE_CHECKING:  # for type checkers, unknown attributes stay unknown

        def __getattr__(self, name: str) -> Any:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name.startswith("_j_"):
                message += ": there are no objects of Java behind scurry's API"
            elif not name.startswith("_"):
                message += advice_on_attribute(type(self), name)
            # With an object, Python would add a suggestion of its own to the message.
            raise MissingAttributeError(message, name=name, obj=None)


def advice_on_attribute(cls: type, name: str) -> str:
    """Return suggestions for an attribute that a class does not have, worded as the end of a message."""
    for base in cls.__mro__:
        if name in vars(base).get("_instead", ()):
            return f": {vars(base)['_instead'][name]}"
    public = [attribute for attribute in dir(cls) if not attribute.startswith("_")]
    close = similar_names(name, public)
    if not close:
        words = {word for word in name.split("_") if len(word) > 2}
        close = [attribute for attribute in public if words & set(attribute.split("_"))][:3]
    elif similar_name(name, close, cutoff=0.85) is not None:
        del close[1:]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def at_boundary(function: F, *, check_arguments: bool = True) -> F:
    """Wrap a public function: check its arguments and show only the user's frames in its errors.

    An error of scurry is raised without its cause and without scurry's frames, except one frame that names the
    function. Both are stored in the error (`cause`, `details`); the details are logged at level DEBUG.
    """
    checks = _checks(function) if check_arguments else []
    first = 1 if function.__code__.co_varnames[:1] == ("self",) else 0

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # pytest
        try:
            for position, name, kinds, expected in checks:
                value = args[position] if position < len(args) else kwargs.get(name, _ABSENT)
                if value is not _ABSENT and not any(_FITS[kind](value) for kind in kinds):
                    raise ArgumentTypeError(_wrong_kind(function, args, name, expected, value))
            if builder := _unbuilt([*args[first:], *kwargs.values()]):
                raise ArgumentTypeError(f"{function.__qualname__}: {builder} is not built: call .build() on it")
            return function(*args, **kwargs)
        except ScurryError as error:
            raise _cut(error) from None
        except Exception as error:
            if isinstance(error, AttributeError | TypeError) and (missing := _none_given(function, args, kwargs)):
                raise _cut(ArgumentTypeError(missing)) from None
            if not type(error).__module__.startswith("py4j."):
                raise
            raise _cut(_failure_of_java(error)) from None

    call.__code__ = call.__code__.replace(co_filename=BOUNDARY, co_name=function.__qualname__)
    return cast("F", wraps(function)(call))


def _cut(error: ScurryError) -> ScurryError:
    """Store an error's cause and full traceback in it, and cut its traceback to the user's frames."""
    if not error.details or error.__cause__ is not None:  # not shown before
        error.details = error.details or without_secrets("".join(traceback.format_exception(error)))
        _logger.debug("%s", error.details)
    if error.cause is None:
        error.cause = error.__cause__ or error.__context__
    error.note_place()
    return error.with_traceback(only_user_frames(error.__traceback__))


def _failure_of_java(error: Exception) -> SparkFailedError:
    """Return an error with the messages of Java's exceptions, without their hundreds of lines of stack."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.lstrip().startswith(("at ", "..."))]
    shown = lines[:_LINES_OF_JAVA]
    if len(lines) > len(shown):
        shown.append(f"... and {len(lines) - len(shown)} more lines")
    failed = SparkFailedError("\n".join([*shown, "  hint: scurry run --debug shows the whole text"]))
    failed.details = without_secrets("".join(traceback.format_exception(error)))
    failed.cause = error
    return failed


def _guard(cls: type, name: str, member: Any, check_arguments: bool) -> None:
    kind = type(member) if isinstance(member, staticmethod | classmethod) else None
    function = member.__func__ if kind is not None else member
    if isinstance(function, FunctionType) and not inspect.isgeneratorfunction(function):
        guarded = at_boundary(function, check_arguments=check_arguments)
        setattr(cls, name, kind(guarded) if kind is not None else guarded)


def made_by(*ways: str) -> Callable[[type[T]], type[T]]:
    """Let a class refuse arguments of its constructor that programs guess, and say how its instances are made.

    Args:
        *ways: Static methods of the class.
    """

    def decorate(cls: type[T]) -> type[T]:
        construct: Any = cls.__init__
        signature = inspect.signature(construct)
        classes = cache(lambda: _classes_of_parameters(cls, construct))  # modules are complete at the first call
        made = " or ".join(f"{cls.__name__}.{way}(...)" for way in ways)

        @wraps(construct)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            if sys._getframe(2).f_globals.get("__name__", "").partition(".")[0] == "scurry":  # one of the ways
                construct(self, *args, **kwargs)
                return
            try:
                given = signature.bind(self, *args, **kwargs).arguments
            except TypeError as error:
                raise ArgumentTypeError(f"{cls.__name__} is made by {made}, not by its constructor: {error}") from None
            for name, kind in classes().items():
                if name in given and not isinstance(given[name], kind):
                    what = f"{given[name]!r} as {name}"
                    raise ArgumentTypeError(f"{cls.__name__} is made by {made}; its constructor got {what}")
            construct(self, *args, **kwargs)

        cls.__init__ = at_boundary(init, check_arguments=False)  # type: ignore[method-assign]
        return cls

    return decorate


def _classes_of_parameters(cls: Any, construct: Any) -> dict[str, type]:
    """Return the parameters of a constructor that are annotated with a class of scurry."""
    names: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        names |= vars(sys.modules[base.__module__])
    found = {name: names.get(annotation) for name, annotation in construct.__annotations__.items()}
    return {
        name: kind
        for name, kind in found.items()
        if isinstance(kind, type) and kind.__module__.startswith("scurry.") and not getattr(kind, "_is_protocol", False)
    }


# ------------------------------------------------------------------ arguments

_FITS: dict[str, Callable[[Any], bool]] = {
    "int": lambda value: hasattr(type(value), "__index__") and not _is_bool(value),
    "float": lambda value: hasattr(type(value), "__float__") and not _is_bool(value),
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: _is_bool(value),
    "None": lambda value: value is None,
}
_TEXTS = {"int": "int", "float": "a number", "str": "str", "bool": "bool", "None": "None"}
_ABSENT = object()
_Check = tuple[int, str, tuple[str, ...], str]


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")  # numpy's


def _checks(function: Callable[..., Any]) -> list[_Check]:
    """Return (position, name, kinds, their text) of the parameters that are annotated only with builtin kinds."""
    checks: list[_Check] = []
    code = function.__code__
    for position, name in enumerate(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]):
        annotation = function.__annotations__.get(name)
        kinds = [] if not isinstance(annotation, str) else [part.strip() for part in annotation.split("|")]
        if kinds and all(kind in _FITS for kind in kinds):
            text = " or ".join(_TEXTS[kind] for kind in kinds)
            place = position if position < code.co_argcount else 1_000_000
            checks.append((place, name, tuple(kinds), text))
    return checks


def _unbuilt(values: list[Any]) -> str:
    """Return the name of the first builder among the arguments; empty without builders."""
    for value in values:
        kind = type(value)
        if hasattr(kind, "build") and kind.__module__.startswith("scurry."):
            return f"the {kind.__qualname__}"
    return ""


def _none_given(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the refusal of the first argument that is None where its annotation has no None; empty without one.

    Asked when a call has failed: calls that succeed do not pay for it.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        annotation = function.__annotations__.get(name)
        if value is None and isinstance(annotation, str) and not _may_be_none(function, annotation):
            return _wrong_kind(function, args, name, annotation.replace(" | ", " or "), value)
    return ""


def _may_be_none(function: Callable[..., Any], annotation: str) -> bool:
    for kind in annotation.split("|"):
        name = kind.strip().partition("[")[0]
        meant = function.__globals__.get(name)
        alias = meant is not None and not isinstance(meant, type)  # or a type variable
        if name in ("None", "Any", "object", "Optional") or alias:
            return True
    return False


def _wrong_kind(function: Callable[..., Any], args: tuple[Any, ...], name: str, expected: str, value: Any) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 100 else shown[:100] + "..."
    what = function.__qualname__
    if function.__code__.co_varnames[:1] == ("self",):  # named by the class the user knows
        what = f"{type(args[0]).__name__}.{function.__name__}".removesuffix(".__init__")
    return f"{what}: {name} must be {expected}, got {shown} ({type(value).__name__})"
