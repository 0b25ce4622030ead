"""Errors of Spark itself."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class SparkError(ScurryError):
    """Spark cannot be started, or fails."""


class JavaMissingError(SparkError, RuntimeError):
    """There is no Java on which Spark can run."""

    permanent = True


class ClusterUnreachableError(SparkError, ConnectionError):
    """The Spark master does not answer at its address."""

    permanent = True


class SparkFailedError(SparkError, RuntimeError):
    """Spark failed, not a user function."""


class SparkLostError(SparkError, RuntimeError):
    """The JVM of the driver has ended; only a new process can start another."""

    permanent = True
