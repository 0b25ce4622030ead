"""Modules, models and compiled plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from scurry.errors import UnsupportedError, ValidationError
from scurry.table._environment.base import EnvironmentBase
from scurry.table.module import ModuleEntry

if TYPE_CHECKING:
    from scurry.table.module import Module

__all__ = ["ModuleMethods"]


class ModuleMethods(EnvironmentBase):
    """Modules, models and compiled plans."""

    def load_module(self, module_name: str, module: Module) -> NoReturn:
        """Refuse: the only module is `core`; `LOAD MODULE core` loads it again after `unload_module`.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            f"load_module('{module_name}', ...): modules are classes of Java; register functions with "
            "create_temporary_system_function"
        )

    def unload_module(self, module_name: str) -> None:
        """Unload a module.

        Args:
            module_name: Its name.

        Raises:
            ValidationError: It is not loaded.
        """
        session = self._session
        if module_name not in session.loaded_modules:
            raise ValidationError(f"No module with name '{module_name}' exists")
        session.loaded_modules.remove(module_name)
        session.modules = [name for name in session.modules if name != module_name]

    def use_modules(self, *module_names: str) -> None:
        """Choose the modules whose functions are found, in order.

        Args:
            *module_names: Their names.

        Raises:
            ValidationError: One is not loaded, or named twice.
        """
        for place, name in enumerate(module_names):
            if name not in self._session.loaded_modules:
                raise ValidationError(f"No module with name '{name}' exists")
            if name in module_names[:place]:
                raise ValidationError(f"Module '{name}' appears more than once")
        self._session.modules = list(module_names)

    def list_modules(self) -> list[str]:
        """Return the names of the modules in use, in order."""
        return list(self._session.modules)

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return all loaded modules: those in use first."""
        session = self._session
        rest = [name for name in session.loaded_modules if name not in session.modules]
        return [*(ModuleEntry(name, True) for name in session.modules), *(ModuleEntry(name, False) for name in rest)]

    # ------------------------------------------------------------------ models and plans

    def list_models(self) -> list[str]:
        """Return the names of the models of the current database: there are none."""
        return []

    def list_temporary_models(self) -> list[str]:
        """Return the names of the temporary models of the current database: there are none."""
        return []

    def create_model(self, model_path: str, model_descriptor: Any, ignore_if_exists: bool | None = False) -> NoReturn:
        """Refuse: there are no models.

        Raises:
            UnsupportedError: Always.
        """
        raise _models(model_path)

    def create_temporary_model(
        self, model_path: str, model_descriptor: Any, ignore_if_exists: bool | None = False
    ) -> NoReturn:
        """Refuse: there are no models.

        Raises:
            UnsupportedError: Always.
        """
        raise _models(model_path)

    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a model; return whether there was one.

        Args:
            model_path: Its name.
            ignore_if_not_exists: Whether it may be missing.

        Raises:
            ValidationError: It has to be there.
        """
        if not ignore_if_not_exists:
            raise ValidationError(
                f"Model with identifier '{self._named(model_path).as_summary_string()}' does not exist."
            )
        return False

    def drop_temporary_model(self, model_path: str) -> bool:
        """Remove a temporary model; return whether there was one.

        Args:
            model_path: Its name.
        """
        return False

    def list_materialized_tables(self) -> list[str]:
        """Return the names of the materialized tables of the current database: there are none."""
        return []

    def load_plan(self, plan_reference: Any) -> NoReturn:
        """Refuse: plans are not kept as text.

        Raises:
            UnsupportedError: Always.
        """
        raise _plans("load_plan")

    def compile_plan_sql(self, stmt: str) -> NoReturn:
        """Refuse: plans are not kept as text.

        Raises:
            UnsupportedError: Always.
        """
        raise _plans("compile_plan_sql")

    def execute_plan(self, plan_reference: Any) -> NoReturn:
        """Refuse: plans are not kept as text.

        Raises:
            UnsupportedError: Always.
        """
        raise _plans("execute_plan")


def _models(path: str) -> UnsupportedError:
    return UnsupportedError(
        f"model {path}: models are not supported; call the model in a function of Python, see udf()"
    )


def _plans(method: str) -> UnsupportedError:
    return UnsupportedError(
        f"{method}: plans are not compiled into files; a savepoint goes on with the statement it was made by"
    )
