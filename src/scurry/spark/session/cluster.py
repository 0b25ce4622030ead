"""Check that a Spark master can be reached, before a JVM is started for it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from scurry.errors import ClusterUnreachableError, ConfigError

#: Seconds to wait for each master.
CONNECT_SECONDS = 5.0


def reach(master: str) -> None:
    """Check that one of the masters of a standalone cluster accepts connections, or that YARN is configured.

    Raises:
        ClusterUnreachableError: No master accepts connections.
        ConfigError: YARN is not configured.
    """
    if master == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & os.environ.keys():
        raise ConfigError(
            "spark.master = 'yarn': set HADOOP_CONF_DIR or YARN_CONF_DIR to the directory of the cluster's settings"
        )
    if not master.startswith("spark://"):
        return
    failures = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
            return
        except OSError as error:
            failures.append(f"{address}: {error.strerror or error}")
    raise ClusterUnreachableError(
        f"no Spark master answers at {master} ({'; '.join(failures)}): start one there, or name another with --master "
        "(spark.master)"
    )


@contextmanager
def joining(master: str) -> Iterator[None]:
    """Replace Spark's error about a cluster that does not accept the application, after a minute, by one line.

    Raises:
        ClusterUnreachableError: The cluster did not accept it.
    """
    try:
        yield
    except Exception as error:
        if master.startswith("spark://") and "stopped SparkContext" in str(error):
            raise ClusterUnreachableError(
                f"what answers at {master} does not take the application: is it a Spark master, of this version of "
                "Spark? Its log says why"
            ) from None
        raise
