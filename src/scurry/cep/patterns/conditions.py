"""Conditions of stages, and the boolean expressions that the compiler makes of them."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from scurry._dataclasses import dataclass
from scurry.common.pickling import Captured, of_functions
from scurry.errors import ArgumentTypeError, UnsupportedError


class ConditionContext(Protocol):
    """The context of an iterative condition: the time, and the earlier events of the match."""

    def get_events_for_pattern(self, name: str) -> list[Any]:
        """Return the events that the partial match has of a stage, in order."""

    def timestamp(self) -> int:
        """Return the time of the event, in ms."""

    def current_processing_time(self) -> int:
        """Return the processing time, in ms."""


@of_functions
class IterativeCondition(ABC):
    """A condition on an event and the earlier events of the partial match."""

    @abstractmethod
    def filter(self, value: Any, ctx: ConditionContext) -> bool:
        """Return whether an event fulfils the condition.

        Args:
            value: The event.
            ctx: The partial match, and the time.
        """


class RichIterativeCondition(IterativeCondition):
    """An iterative condition that is opened and closed with its operator."""

    def open(self, runtime_context: Any) -> None:
        """Prepare; called before the first event."""

    def close(self) -> None:
        """Clean up; called after the last event."""


@of_functions
class SimpleCondition(ABC):
    """A condition on an event alone."""

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """Return whether an event fulfils the condition.

        Args:
            value: The event.
        """


@dataclass(frozen=True)
class ExpressionCondition:
    """A condition in the expression language of tables, over the fields of events.

    Attributes:
        text: The expression.
        stage: The stage it belongs to.
        is_until: Whether it ends the loop of the stage; then the event is none of the stage.
    """

    text: str
    stage: str
    is_until: bool = False

    def __call__(self, event: Any) -> bool:
        """Fail: the meaning of the expression depends on the type of the events."""
        raise UnsupportedError(f"the expression {self.text!r} of stage {self.stage!r} needs a stream with a type")


#: Arguments of `where`, `or_` and `until`: a function of the event, or of the event and a `ConditionContext`; or an
#: expression over the fields of the event, as text.
Condition: TypeAlias = (
    Callable[[Any], Any] | Callable[[Any, ConditionContext], Any] | IterativeCondition | SimpleCondition | str
)


@dataclass(frozen=True, eq=False)
class Test:
    """A condition that the user has given.

    Attributes:
        function: Called with the event or, if `iterative`, with the event and a context.
        iterative: Whether it sees the partial match.
        stage: The stage it belongs to.
        given: What the user has given, which may have `open` and `close`.
        captured: The function and what was given, as they were then; None if that cannot be pickled.
    """

    __test__ = False  # not a test case of pytest

    function: Callable[..., Any]
    iterative: bool
    stage: str
    given: Any
    captured: Captured | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _test, (self.captured or (self.function, self.given), self.iterative, self.stage)


@dataclass(frozen=True, eq=False)
class Not:
    """The opposite of an expression."""

    operand: Expression


@dataclass(frozen=True, eq=False)
class And:
    """Both expressions hold; `right` is evaluated only if `left` does."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Or:
    """One of two expressions holds; `right` is evaluated only if `left` does not."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class _True:
    """A condition that is always TRUE."""


TRUE = _True()
Expression: TypeAlias = Test | Not | And | Or | _True


def test_of(condition: Any, stage: str, method: str) -> Test:
    """Return the test of a condition that a method of the builder was given.

    Raises:
        ArgumentTypeError: It is no condition.
    """
    if isinstance(condition, str):
        expression = ExpressionCondition(condition, stage, method == "until")
        return Test(expression, False, stage, expression)
    if isinstance(condition, IterativeCondition):
        return _captured(condition.filter, True, stage, condition)
    if isinstance(condition, SimpleCondition):
        return _captured(condition.filter, False, stage, condition)
    arguments = _arguments(condition)
    if arguments is None:
        raise ArgumentTypeError(
            f"{method} of stage {stage!r} takes a function of the event, or of the event and a context, "
            f"or the text of an expression, not {condition!r}"
        )
    return _captured(condition, arguments == 2, stage, condition)


def _captured(function: Callable[..., Any], iterative: bool, stage: str, given: Any) -> Test:
    """Return a test whose copies in tasks see the variables of the program as they are now."""
    try:
        captured = Captured((function, given))
    except Exception:  # a test harness runs it as it is; the operator of a job refuses it
        captured = None
    return Test(function, iterative, stage, given, captured)


def _test(functions: tuple[Callable[..., Any], Any], iterative: bool, stage: str) -> Test:
    function, given = functions
    return Test(function, iterative, stage, given)


def subtype_test(cls: Any, stage: str) -> Test:
    """Return the test whether an event is an instance of a class.

    Raises:
        ArgumentTypeError: It is no class.
    """
    if not isinstance(cls, type):
        raise ArgumentTypeError(f"subtype of stage {stage!r} takes a class, not {cls!r}")
    condition = _InstanceOf(cls)
    return Test(condition, False, stage, condition)


@dataclass(frozen=True)
class _InstanceOf:
    cls: type

    def __call__(self, value: Any) -> bool:
        return isinstance(value, self.cls)


def _arguments(function: Any) -> int | None:
    """Return with how many arguments a condition is called, 1 or 2; None if it cannot be."""
    if not callable(function) or isinstance(function, type):
        return None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return 1  # it does not say
    for count in (1, 2):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    return None
