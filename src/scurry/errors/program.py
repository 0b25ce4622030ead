"""Errors of programs: arguments, operators, functions, configuration, and the Python code that workers need."""

from __future__ import annotations

import pickle

from scurry.errors.base import ScurryError


class ProgramError(ScurryError):
    """A program that no job can be made of, or that uses the API wrongly.

    Cure: See the more specific classes below.
    """


class ArgumentError(ProgramError, ValueError):
    """An argument of an API call has an invalid value; raised while the program is built.

    Cure: Pass one of the values that the message names.
    """

    permanent = True


class ArgumentTypeError(ProgramError, TypeError):
    """An argument of an API call is of the wrong type, such as a MapFunction instead of a FilterFunction.

    Cure: Pass what the message asks for; a function that returns it is not called by itself.
    """

    permanent = True


class MissingAttributeError(ProgramError, AttributeError):
    """An object of the API has no attribute of that name; the message names similar ones.

    Cure: Take the method that the message suggests; streams without keys need `key_by` first.
    """


class MalformedPatternError(ProgramError, ValueError):
    """A pattern of events that Flink refuses; the message is Flink's reason.

    Cure: Change the pattern as the message says; Flink refuses the same patterns.
    """

    permanent = True


class UnsupportedError(ProgramError, NotImplementedError):
    """A part of Flink that scurry does not offer; the message names the replacement.

    Cure: Use what the message names instead; docs/differences.md lists the parts that are missing.
    """

    permanent = True


class TopologyError(ProgramError, RuntimeError):
    """Operators were combined in a way that no job supports.

    Cure: Give each operator a uid of its own, and build all streams with one environment.
    """

    permanent = True


class UnpicklableFunctionError(ProgramError, pickle.PicklingError):
    """A function of the program cannot be sent to workers.

    Cure: Create connections, locks and files in `open()`, which runs where the function does.
    """

    permanent = True


class PyFlinkImportedError(ProgramError, ImportError):
    """The real PyFlink was imported before scurry could take its name.

    Cure: Import `scurry.pyflink_alias` before pyflink, or start the program with `scurry run`.
    """

    permanent = True


class ConfigError(ScurryError, ValueError):
    """A configuration value that cannot be used.

    Cure: Write the value as the message shows; docs/reference/configuration.md has all keys.
    """

    permanent = True


class UnknownConfigError(ConfigError, KeyError):
    """A configuration key that is nearly one that scurry reads, or begins with `scurry.` and is none.

    Cure: Take the key that the message suggests.
    """

    # KeyError would show the repr of the message.
    __str__ = Exception.__str__


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
