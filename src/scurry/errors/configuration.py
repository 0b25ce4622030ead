"""Errors of configuration keys and their values."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class ConfigError(ScurryError, ValueError):
    """A configuration value that cannot be used."""

    permanent = True


class UnknownConfigError(ConfigError, KeyError):
    """A configuration key that scurry does not know."""

    # KeyError would show the repr of the message.
    __str__ = Exception.__str__


class UnsupportedConfigError(ConfigError):
    """A configuration key of Flink that Spark does not support."""
