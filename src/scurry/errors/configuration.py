"""Errors of configuration keys and their values."""

from __future__ import annotations

from scurry.errors.base import ScurryError


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
