"""Hints for errors in user functions, derived from the error itself."""

from __future__ import annotations

import bdb
import dis
import linecache
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from inspect import signature
from itertools import chain
from types import CodeType, FunctionType, TracebackType
from typing import TYPE_CHECKING, Any

from scurry.common._api import advice_on_attribute
from scurry.common._config.validation import without_effect
from scurry.errors import TypeMismatchError
from scurry.errors.user_frames import is_internal
from scurry.graph.shipping import how_to_ship

if TYPE_CHECKING:
    from scurry.graph.plan import JobPlan, OperatorPlan, SourcePlan
    from scurry.graph.settings import JobSettings

#: Methods of the classes that emit their results.
_EMITTING = ("process_element", "flat_map", "process", "process_element1", "process_element2", "flat_map1", "flat_map2")

_YIELD = "yield results; `yield tag, value` emits to the side output of an OutputTag"
_IN_OPEN = "states are those of the runtime context: get them in open(self, runtime_context)"
_PUT = "put(key, value) sets one entry, put_all(dict) several"
_ADD = "add(value) appends one element, update(list) replaces all"
#: Kind of state or context -> a method that it does not have -> its replacement.
_METHODS = {
    "ProcessContext": {name: _YIELD for name in ("output", "collect", "emit")}
    | {f"get_{kind}state": _IN_OPEN for kind in ("", "list_", "map_", "reducing_", "aggregating_")},
    "MapState": {"update": _PUT, "set": _PUT, "add": _PUT, "value": "get(key) returns one value, items() all entries"},
    "ValueState": {name: "value() returns the value" for name in ("get", "get_value", "values")}
    | {name: "update(value) sets the value" for name in ("set", "put", "add", "set_value")},
    "ListState": {"append": _ADD, "extend": "add_all(list) appends several elements", "put": _ADD}
    | {name: "get() returns the elements" for name in ("value", "values")},
}


def advice(plan: OperatorPlan | SourcePlan, error: BaseException, record: Any) -> str:
    """Return a hint about an error, empty if there is nothing to say.

    Args:
        plan: The plan of the operator that failed.
        error: What its function raised.
        record: The current record; `scurry.runtime.failure.NO_RECORD` if there was none.
    """
    if isinstance(error, bdb.BdbQuit):
        return _about_breakpoint()
    if isinstance(error, TypeMismatchError) and record is None:
        return f"did the function of {plan.name!r} return nothing? return a value of the declared type"
    if isinstance(error, MemoryError):
        return _about_memory()
    if isinstance(error, ModuleNotFoundError) and error.name:
        return how_to_ship(error.name)
    if isinstance(error, AttributeError) and (found := _about_attribute(plan, error)):
        return found
    producers = getattr(plan, "producers", [])
    if record is None and producers and isinstance(error, (TypeError, AttributeError)):
        return f"the record is None: did the function of {' or of '.join(producers)} return nothing?"
    if isinstance(error, TypeError):
        return _about_call(plan, error) or _about_empty_state(error)
    return ""


def _about_memory() -> str:
    """Return the memory limit of this process."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return (
            "there is no memory left: give workers more (spark.executor.memoryOverhead), or let micro-batches be "
            "smaller (scurry.batch.max-bytes, scurry.batch.max-records)"
        )
    return (
        f"the memory of this process is limited to {limit >> 20:,} MB, and restarts do not change it, because workers "
        "inherit it: raise spark.executor.pyspark.memory if that is set, else the limit (ulimit -v) of what starts them"
    )


def _about_call(plan: OperatorPlan | SourcePlan, error: TypeError) -> str:
    """Return a hint if the operator calls a function with fewer arguments than it needs."""
    if "() missing " in str(error) and _raised_by_scurry(error):
        return f"{plan.name!r} passes no more arguments: give the others defaults, or bind them with functools.partial"
    return ""


def _about_empty_state(error: TypeError) -> str:
    """Return a hint if None comes from a ValueState, for all that the code of the function tells."""
    frame, code = _last_frame(error.__traceback__), _last(error.__traceback__)
    if frame is None or code is None or "NoneType" not in str(error) or is_internal(code.co_filename):
        return ""
    is_read_here = ".value()" in linecache.getline(code.co_filename, frame.tb_lineno)
    if "value" in code.co_names and (is_read_here or any(each is None for each in frame.tb_frame.f_locals.values())):
        return "value() of a ValueState is None until the first update(...): value() or 0, for example"
    return ""


def has_terminal() -> bool:
    """Return whether a debugger can ask the user: workers of Spark have nobody to ask."""
    return "pyspark" not in sys.modules and sys.stdin is not None and sys.stdin.isatty()


def _about_breakpoint() -> str:
    if "pyspark" in sys.modules:
        return "breakpoint() needs a terminal: use --runner local"
    return (
        "" if has_terminal() else "breakpoint() needs a terminal: run the program in one, without a pipe as its input"
    )


def changed_globals(plan: OperatorPlan) -> str:
    """Return a note if a function of an operator assigns to global variables, empty if it does not."""
    function = getattr(plan.operator, "function", None)
    function = getattr(function, "function", function)  # a wrapper's
    names = sorted(set(_assigned_globals(function)))
    if not names:
        return ""
    variables = f"the global variable{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
    return (
        f"the function of {plan.name!r} ({plan.origin}) changes {variables}: each worker has its own, and the program "
        "does not see the change; keep values in state such as ValueState, or count with a metric"
    )


def cannot_replay(plan: SourcePlan, settings: JobSettings) -> str:
    """Return a note if a job has checkpoints and a source that cannot read records again, empty otherwise."""
    has_checkpoints = settings.checkpoint_interval_ms is not None or settings.checkpoint_dir is not None
    if plan.source.replayable or not has_checkpoints:
        return ""
    return (
        f"source {plan.name!r} ({plan.origin}) cannot read records again: a failure loses those that it has received "
        "and no checkpoint contains, although checkpointing is enabled; for exactly once, read from files or Kafka"
    )


def unused_settings(plan: JobPlan) -> str:
    """Return a note that names the settings of a job and its streams without effect; empty without such settings."""
    unused = [*without_effect(plan.settings.configuration), *plan.unused]
    return f"configuration without effect: {'; '.join(unused)}" if unused else ""


def _assigned_globals(function: Any) -> Iterator[str]:
    if isinstance(function, FunctionType):
        yield from _stored_by(function.__code__)
        return
    for cls in type(function).__mro__:
        if cls.__module__.partition(".")[0] not in ("scurry", "builtins"):
            for member in vars(cls).values():
                if isinstance(member, FunctionType):
                    yield from _stored_by(member.__code__)


@lru_cache(1000)
def _stored_by(code: CodeType) -> tuple[str, ...]:
    own = (each.argval for each in dis.get_instructions(code) if each.opname == "STORE_GLOBAL")
    within = (_stored_by(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return (*own, *chain.from_iterable(within))


def _about_attribute(plan: OperatorPlan | SourcePlan, error: AttributeError) -> str:
    target, name = error.obj, error.name
    if target is None or name is None:
        return ""
    function = getattr(getattr(plan, "operator", None), "function", None)
    if target is function or target is getattr(function, "function", None):
        return f"nothing has set self.{name}: set it in open() or __init__"
    if type(target).__module__.partition(".")[0] == "scurry":
        for cls in type(target).__mro__:
            if name in (methods := _METHODS.get(cls.__name__.removeprefix("Ttl"), {})):
                return methods[name]
        return advice_on_attribute(type(target), name).lstrip(":; ")
    return ""


def wrong_parameters(plan: OperatorPlan | SourcePlan, error: BaseException) -> tuple[str, Callable[..., Any] | None]:
    """Return how an operator calls a method of a function object that takes other parameters, and the method.

    For a plain function the text is empty; both are if the error has another cause.
    """
    call, found, _ = str(error).partition("()")
    counted = isinstance(error, TypeError) and "positional argument" in str(error)
    if not (counted and found) or not _raised_by_scurry(error):
        return "", None
    name = call.rpartition(".")[2]
    function = _function_of(plan)
    if isinstance(function, FunctionType):
        return "", function if function.__name__ == name else None
    for cls in type(function).__mro__:
        if cls.__module__.partition(".")[0] == "scurry" and isinstance(declared := vars(cls).get(name), FunctionType):
            parameters = ", ".join(list(signature(declared).parameters)[1:])
            return f"{name} is called as {name}({parameters})", getattr(function, name)
    return "", None


def not_iterable(plan: OperatorPlan | SourcePlan, error: BaseException) -> tuple[str, Callable[..., Any] | None]:
    """Return a message about a function whose result is not iterable, and that function.

    The message is empty if the error has another cause.
    """
    kind, found, _ = str(error).partition(" object is not iterable")
    if not (isinstance(error, TypeError) and found) or not _raised_by_scurry(error):
        return "", None
    function = _function_of(plan)
    name = next((name for name in _EMITTING if hasattr(function, name)), None)
    hook = getattr(function, name) if name is not None else function
    what = name or getattr(function, "__name__", "the function")
    returned = "None" if "NoneType" in kind else f"a value of type {kind.strip(chr(39))}"
    return f"{what} returned {returned}, not an iterable of results", hook


def _function_of(plan: OperatorPlan | SourcePlan) -> Any:
    """Return the user's function of an operator, also of one that wraps it; None if it has none."""
    function = getattr(getattr(plan, "operator", None), "function", None)
    function = getattr(function, "timestamp_assigner", function)
    return getattr(function, "function", function)


def _raised_by_scurry(error: BaseException) -> bool:
    code = _last(error.__traceback__)
    return code is not None and is_internal(code.co_filename)


def _last(trace: TracebackType | None) -> CodeType | None:
    """Return the code in which an error was raised."""
    last = _last_frame(trace)
    return last.tb_frame.f_code if last is not None else None


def _last_frame(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace
