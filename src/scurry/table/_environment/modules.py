"""Modules and compiled plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.errors import ArgumentTypeError, UnsupportedError, ValidationError
from scurry.sql.statements.modules import MODULES
from scurry.table._environment.base import EnvironmentBase
from scurry.table.module import ModuleEntry

if TYPE_CHECKING:
    from scurry.table.compiled_plan import CompiledPlan
    from scurry.table.module import Module
    from scurry.table.plan_reference import PlanReference
    from scurry.table.table_result import TableResult


class ModuleMethods(EnvironmentBase):
    """Modules and compiled plans."""

    def load_module(self, module_name: str, module: Module) -> None:
        """Load a module.

        Args:
            module_name: `state`, or `core` again after `unload_module`.
            module: Any module: which functions there are depends on the name.

        Raises:
            ValidationError: It is loaded.
            UnsupportedError: It is another one.
        """
        session = self._session
        if module_name in session.loaded_modules:
            raise ValidationError(f"A module with name '{module_name}' already exists")
        if module_name in MODULES:
            session.loaded_modules.append(module_name)
            session.modules.append(module_name)
            return
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

    # ------------------------------------------------------------------ plans

    def list_materialized_tables(self) -> list[str]:
        """Return the names of the materialized tables of the current database."""
        return self._session.catalogs.list_materialized_tables()

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        """Return a compiled plan, whose tables and functions are found.

        Args:
            plan_reference: Where it is.

        Raises:
            ValidationError: No such plan, a later version wrote it, or the session lacks a table or function.
        """
        from scurry.sql.statements.compiled.files import load_plan
        from scurry.sql.statements.compiled.plans import read_plan
        from scurry.table.compiled_plan import CompiledPlan
        from scurry.table.plan_reference import FilePlanReference, JsonContentPlanReference

        if isinstance(plan_reference, FilePlanReference):
            return CompiledPlan(self._session, load_plan(self._session, plan_reference.path))
        if isinstance(plan_reference, JsonContentPlanReference):
            return CompiledPlan(self._session, read_plan(self._session, plan_reference.content))
        raise ArgumentTypeError(
            f"load_plan({plan_reference!r}): expected PlanReference.from_file(...) or from_json_string(...)"
        )

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """Compile an INSERT or a statement set.

        Args:
            stmt: The statement.

        Raises:
            ValidationError: It is another statement, a wrong one, or has something that no plan can keep.
        """
        from scurry.sql.statements.compiled.plans import compile_statement
        from scurry.sql.syntax import nodes
        from scurry.sql.syntax.parser import parse
        from scurry.table.compiled_plan import CompiledPlan

        statement = parse(stmt)
        if isinstance(statement, nodes.Execute):
            statement = statement.statement
        if not isinstance(statement, nodes.Insert | nodes.StatementSet):
            raise ValidationError(
                "Unsupported SQL query! compilePlanSql() only accepts a single SQL statement of type INSERT"
            )
        return CompiledPlan(self._session, compile_statement(self._session, statement))

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        """Start the job of a compiled plan.

        Args:
            plan_reference: Where it is.
        """
        return self.load_plan(plan_reference).execute()
