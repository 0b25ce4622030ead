"""Errors of Python code and packages for workers."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class DependencyError(ScurryError, RuntimeError):
    """Python code or packages that workers need cannot be sent to them.

    Cure: Follow the message; docs/dependencies.md says how code and packages get to workers.
    """

    permanent = True


class InterpreterError(DependencyError):
    """Workers cannot use a Python interpreter.

    Cure: Name an interpreter of the same minor version that has scurry's packages (`python.executable`).
    """


class WorkerModuleError(DependencyError, ImportError):
    """Workers lack a module that functions of the job are in.

    Cure: Send the module with `env.add_python_file(...)` or `-pyfs`, packages with `-pyreq`.

    Attributes:
        module: Its name.
    """

    def __init__(self, message: str, module: str) -> None:
        """Describe a missing module.

        Args:
            message: What needs it, and how to send it.
            module: Its name.
        """
        super().__init__(message, module)
        self.module = module

    def __str__(self) -> str:
        """Return the message."""
        return str(self.args[0])
