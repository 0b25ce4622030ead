"""Make ``import pyflink.X`` resolve to ``scurry.X``, when this module is imported.

Both names give the same module objects, so classes are identical under either name. The modules keep their own
``__name__``: objects pickled by reference refer to ``scurry`` and load without the alias. An installed PyFlink is
shadowed.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from scurry.common._pyflink.names import add_names
from scurry.errors import PyFlinkImportedError

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # the class itself does nothing here, and its module loads archives and temporary files

_RENAMED = {
    "pyflink": "scurry",
    "pyflink.version": "scurry.common._pyflink.version",
    "pyflink.util": "scurry.common._pyflink.util",
}


_NO_JVM = "no Java runs behind scurry's API, so that there is nothing to reach through it"
_CREATE_TABLE = "use execute_sql(\"CREATE TABLE ... WITH ('connector' = ...)\")"
#: modules that programs import, of earlier versions or from inside PyFlink -> why they are not there
_MODULES = {
    **dict.fromkeys(
        ("pyflink.common.constants", "pyflink.common.utils", "pyflink.datastream.utils", "pyflink.table.utils"),
        "PyFlink's modules call it",
    ),
    "pyflink.dataset": "the DataSet API has been removed from Flink: use pyflink.datastream with "
    "set_runtime_mode(RuntimeExecutionMode.BATCH)",
    "pyflink.datastream.time_characteristic": "time characteristics have been removed from Flink: leave them out, "
    "windows say which time they mean",
    "pyflink.find_flink_home": "scurry has no installation of Flink",
    "pyflink.fn_execution": "it is inside PyFlink's workers",
    "pyflink.gen_protos": "it builds PyFlink",
    "pyflink.java_gateway": _NO_JVM,
    "pyflink.ml": "Flink ML is a project of its own, which scurry does not run",
    **dict.fromkeys(("pyflink.pyflink_callback_server", "pyflink.pyflink_gateway_server"), _NO_JVM),
    "pyflink.serializers": "columns of tables are Arrow's, records of streams are pickled: no program serializes them",
    "pyflink.shell": "use `scurry sql` for statements, or a notebook",
    "pyflink.table.descriptors": f"connect(...) and its descriptors have been removed from Flink: {_CREATE_TABLE}",
    "pyflink.table.functions": "PyFlink's workers aggregate with it: use the functions of SQL and of expressions",
    "pyflink.table.serializers": "use table.to_pandas() and from_pandas(...), whose columns are Arrow's",
    "pyflink.table.sinks": f"they have been removed from Flink: {_CREATE_TABLE}",
    "pyflink.table.sources": f"they have been removed from Flink: {_CREATE_TABLE}",
    **dict.fromkeys(
        ("pyflink.testing.source_sink_utils", "pyflink.testing.test_case_utils"),
        "PyFlink's own tests use it: write tests with scurry.testing",
    ),
    "pyflink.util.api_stability_decorators": "PyFlink marks its own API with it",
    "pyflink.util.java_utils": _NO_JVM,
}


def _not_offered(fullname: str, real_name: str) -> str:
    reason = _MODULES.get(fullname, f"there is no {real_name}")
    return f"scurry does not offer {fullname}{' (yet)' * (fullname not in _MODULES)}: {reason}"


def _real_name(fullname: str) -> str:
    if fullname in _RENAMED:
        return _RENAMED[fullname]
    package, _, name = fullname.rpartition(".")
    return f"{_real_name(package)}.{name}"


class _SameModule(Loader):
    """Load a module by importing the one that it is an alias of."""

    def __init__(self, real_name: str) -> None:
        self._real_name = real_name
        self._real_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._real_name)
        self._real_spec = module.__spec__
        add_names(module)
        _name_parts(self._real_name, module.__name__, spec.name)
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module has run already; restore its spec, which the import system has replaced by the alias's.
        module.__spec__ = self._real_spec


def _name_parts(real_name: str, name: str, alias: str) -> None:
    """Let a part of a package be found under its other name, if something else of the package has the part's name.

    A package may have a function with the name of a part, as `pyflink.dataframe.sql`; an import of the part would put
    the part in its place.
    """
    for part, found in vars(sys.modules[name]).copy().items():
        module = sys.modules.get(f"{real_name}.{part}")
        if module is not None and found is not module:
            sys.modules.setdefault(f"{alias}.{part}", module)


class _PyFlinkFinder:
    """Find ``pyflink`` and all modules below it."""

    def __init__(self) -> None:
        self.announce: Callable[[], None] | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "pyflink":
            return None
        real_name = _real_name(fullname)
        real = importlib.util.find_spec(real_name)
        if real is None:
            package, _, name = real_name.rpartition(".")
            getattr(sys.modules[package], name, None)  # The package may raise an ImportError that explains more.
            raise ModuleNotFoundError(_not_offered(fullname, real_name), name=fullname)
        if fullname == "pyflink" and self.announce:
            self.announce()
        return ModuleSpec(fullname, _SameModule(real_name), is_package=real.submodule_search_locations is not None)


_finder = _PyFlinkFinder()


def install(announce: Callable[[], None] | None = None) -> None:
    """Let ``pyflink`` resolve to ``scurry`` in this process; importing this module does it already.

    Args:
        announce: Called when a program first imports ``pyflink``.

    Raises:
        PyFlinkImportedError: The real PyFlink was imported before, so that its classes are in use.
    """
    imported = sys.modules.get("pyflink")
    if imported is not None and imported is not sys.modules["scurry"]:
        raise PyFlinkImportedError(
            f"pyflink was already imported from {imported.__file__}; "
            "import scurry.pyflink_alias before the first import of pyflink"
        )
    _finder.announce = announce
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


install()
