"""Errors of Spark itself."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class SparkError(ScurryError):
    """Spark cannot be started, or fails.

    Cure: See the more specific classes below; `scurry doctor` looks at what Spark needs.
    """


class JavaMissingError(SparkError, RuntimeError):
    """There is no Java on which Spark can run.

    Cure: Run `scurry setup`, or set JAVA_HOME; `--runner local` needs no Java.
    """

    permanent = True


class ClusterUnreachableError(SparkError, ConnectionError):
    """The Spark master does not answer at its address.

    Cure: Check `--master` and that the master runs there.
    """

    permanent = True


class SparkFailedError(SparkError, RuntimeError):
    """Spark failed, not a user function.

    Cure: Look at Spark's message; more memory (`spark.driver.memory`) helps in many cases.
    """


class SparkLostError(SparkError, RuntimeError):
    """The JVM of the driver has ended; only a new process can start another.

    Cure: Start a new process; the JVM's log says why it ended, often a lack of memory.
    """

    permanent = True
