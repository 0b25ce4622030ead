"""Importing this module makes ``import pyflink.X`` resolve to ``scurry.X``.

Both names then give the very same module objects, so classes are identical whichever name they came by. The modules
keep their own ``__name__``: what is pickled by reference refers to ``scurry`` and loads where there is no alias. A real
PyFlink that is installed too is shadowed.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from scurry.errors import PyFlinkImportedError

_RENAMED = {"pyflink": "scurry", "pyflink.version": "scurry.pyflink_version"}


class _SameModule(Loader):
    """Loads a module by importing the one it is another name for."""

    def __init__(self, real_name: str) -> None:
        self._real_name = real_name
        self._real_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._real_name)
        self._real_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It has run already; the import system has only put the alias's spec on it.
        module.__spec__ = self._real_spec


class _PyFlinkFinder(MetaPathFinder):
    """Answers for ``pyflink`` and everything below it."""

    def __init__(self) -> None:
        self.announce: Callable[[], None] | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "pyflink":
            return None
        real_name = _RENAMED.get(fullname) or "scurry" + fullname.removeprefix("pyflink")
        real = importlib.util.find_spec(real_name)
        if real is None:
            package, _, name = real_name.rpartition(".")
            getattr(sys.modules[package], name, None)  # A package that knows better says so by an ImportError.
            raise ModuleNotFoundError(f"scurry does not offer {fullname} (yet): there is no {real_name}", name=fullname)
        if fullname == "pyflink" and self.announce:
            self.announce()
        return ModuleSpec(fullname, _SameModule(real_name), is_package=real.submodule_search_locations is not None)


_finder = _PyFlinkFinder()


def install(announce: Callable[[], None] | None = None) -> None:
    """Let ``pyflink`` resolve to ``scurry`` in this process; importing this module has done it already.

    Args:
        announce: Called when a program first imports ``pyflink``.

    Raises:
        PyFlinkImportedError: If the real PyFlink has been imported before: its classes are in use by then.
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
