"""Errors of programs: arguments, operators and functions that cannot work."""

from __future__ import annotations

import pickle

from scurry.errors.base import ScurryError


class ProgramError(ScurryError):
    """A program that no job can be made of, or that uses the API wrongly."""


class ArgumentError(ProgramError, ValueError):
    """An argument of an API call has an invalid value; raised while the program is built."""

    permanent = True


class ArgumentTypeError(ProgramError, TypeError):
    """An argument of an API call is of the wrong type, such as a MapFunction instead of a FilterFunction."""

    permanent = True


class MissingAttributeError(ProgramError, AttributeError):
    """An object of the API has no attribute of that name; the message names similar ones."""


class MalformedPatternError(ProgramError, ValueError):
    """A pattern of events that Flink refuses; the message is Flink's reason."""

    permanent = True


class UnsupportedError(ProgramError, NotImplementedError):
    """A part of Flink that scurry does not offer; the message says what to use instead."""

    permanent = True


class TopologyError(ProgramError, RuntimeError):
    """Operators were combined in a way that no job supports."""

    permanent = True


class UnpicklableFunctionError(ProgramError, pickle.PicklingError):
    """A function of the program cannot be sent to workers."""

    permanent = True


class PyFlinkImportedError(ProgramError, ImportError):
    """The real PyFlink was imported before scurry could take its name."""

    permanent = True
