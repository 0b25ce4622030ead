"""Shipping of plans to the workers, with the classes of the program's main module.

Records, keys and state are pickled by plain pickle, which stores a class as its module and name. The classes of the
user's script are in `__main__`, which in a worker is Spark's: so they travel with the plan and are put there.
"""

from __future__ import annotations

import importlib
import io
import pickle
import sys
from typing import Any

from scurry.common.pickling import by_value
from scurry.errors import WorkerModuleError
from scurry.errors.user_frames import with_source
from scurry.graph.capture import unpicklable
from scurry.graph.plan import JobPlan


def ship(plan: JobPlan) -> bytes:
    """Return the plan in a form that workers load with pickle.

    Raises:
        UnpicklableFunctionError: Names the operator whose function holds something that cannot be pickled.
    """
    classes = _main_classes()
    try:
        return by_value(_Shipment(plan, classes))
    except Exception as error:
        parts: list[Any] = [*plan.operators.values(), *plan.sources.values()]
        for part in parts:
            try:
                by_value(part)
            except Exception as cause:
                raise unpicklable(
                    f"operator {part.name!r} built at {part.origin}", getattr(part, "source", part), cause
                ) from error
        raise


def load_plan(shipped: bytes) -> JobPlan:
    """Return a new copy of a plan that was shipped.

    Raises:
        WorkerModuleError: Functions are in a module that this process cannot import.
    """
    try:
        plan: JobPlan = pickle.loads(shipped)
    except ModuleNotFoundError as error:
        module = error.name or str(error)
        users = "".join(
            f"\n  in operator {part.name!r} built at {with_source(str(part.origin))}"
            for part in _users(shipped, module)
        )
        raise WorkerModuleError(
            f"workers have no module named {module!r}{users}\n  hint: {how_to_ship(module)}", module
        ) from error
    return plan


def how_to_ship(module: str) -> str:
    """Return advice on how to provide a module to workers."""
    top = module.partition(".")[0]
    return (
        f"send your own code with env.add_python_file('.../{top}.py') or scurry run -pyfs (python.files), "
        "what is on PyPI with env.set_python_requirements('requirements.txt'), or install it on all machines"
    )


def _users(shipped: bytes, module: str) -> list[Any]:
    """Return the operators of a plan that refer to a module which cannot be imported."""
    try:
        plan = _WithoutModules(io.BytesIO(shipped)).load()
        return [part for part in (*plan.operators.values(), *plan.sources.values()) if _refers(part, module)]
    except Exception:  # without the module the plan may not load: then the error names no operators
        return []


class _Absent:
    """Placeholder for everything in a module that cannot be imported."""

    def __new__(cls, *_: Any, **__: Any) -> _Absent:
        return super().__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __call__(self, *_: Any, **__: Any) -> _Absent:
        return self

    def __setstate__(self, state: Any) -> None: ...


class _WithoutModules(pickle.Unpickler):
    """Load importable objects; replace the rest by `_Absent`."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("cloudpickle") and name == "subimport":
            return _import_or_absent
        if module in ("_pickle", "pickle") and name == "loads":  # what was captured is a pickle within
            return lambda pickled: _WithoutModules(io.BytesIO(pickled)).load()
        try:
            return super().find_class(module, name)
        except ModuleNotFoundError as error:
            return _absent(error)


def _import_or_absent(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        return _absent(error)()


def _absent(error: ModuleNotFoundError) -> type[_Absent]:
    return type("absent", (_Absent,), {"module": error.name})


def _refers(part: Any, module: str) -> bool:
    import cloudpickle

    found = []

    class Search(cloudpickle.CloudPickler):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> Any:
            kind = value if isinstance(value, type) else type(value)
            if issubclass(kind, _Absent):
                found.append(getattr(kind, "module", None))
                return True
            return None

    Search(io.BytesIO(), 5).dump(part)
    return module in found


def ship_value(value: Any) -> bytes:
    """Return a value other than a plan in a form that workers load with pickle, such as functions and their objects."""
    return by_value(_Shipment(value, _main_classes()))


def _main_classes() -> dict[str, type]:
    """Return the classes that the program's main module defines, except those that cannot be shipped."""
    classes = {}
    for name, value in list(vars(sys.modules["__main__"]).items()):
        if isinstance(value, type) and (value.__module__, value.__qualname__) == ("__main__", name):
            try:
                by_value(value)
            except Exception:  # records and state cannot be of such a class; a function that uses it is reported
                continue
            classes[name] = value
    return classes


class _Shipment:
    """A wrapper that unpickles to its contents."""

    def __init__(self, shipped: Any, classes: dict[str, type]) -> None:
        self._shipped = shipped
        self._classes = classes

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (self._classes, self._shipped)


#: Names that earlier jobs put into `__main__` here; any other name belongs to the program and stays.
_unpacked: dict[str, type] = {}


def _unpack(classes: dict[str, type], shipped: Any) -> Any:
    main = vars(sys.modules["__main__"])
    for name, cls in classes.items():
        if name not in main or main[name] is _unpacked.get(name):
            main[name] = _unpacked[name] = cls
    return shipped
