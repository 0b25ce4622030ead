"""Check that a Spark master can be reached, before a JVM is started for it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies

from scurry.errors import ClusterUnreachableError, ConfigError

#: Seconds to wait for each master.
CONNECT_SECONDS = 5.0


def reach(master: str) -> None:
    """Check that a master of a standalone cluster or an API server accepts connections, or that YARN is configured.

    Raises:
        ClusterUnreachableError: None accepts connections.
        ConfigError: YARN is not configured.
    """
    if master == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & os.environ.keys():
        raise ConfigError(
            "spark.master = 'yarn': set HADOOP_CONF_DIR or YARN_CONF_DIR to the directory of the cluster's settings"
        )
    if master.startswith("k8s://"):
        _reach_kubernetes(master)
    if not master.startswith("spark://"):
        return
    failures = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        reason = _refusal(host.strip("[]"), int(port))
        if reason is None:
            return
        failures.append(f"{address}: {reason}")
    raise ClusterUnreachableError(
        f"no Spark master answers at {master} ({'; '.join(failures)}): start one there, or name another with --master "
        "(spark.master)"
    )


def _reach_kubernetes(master: str) -> None:
    address = master.removeprefix("k8s://")
    url = urlsplit(address if "://" in address else f"https://{address}")
    if url.hostname is None or getproxies().get(url.scheme):  # Java's client goes through the proxy
        return
    reason = _refusal(url.hostname, url.port or (80 if url.scheme == "http" else 443))
    if reason is not None:
        raise ClusterUnreachableError(
            f"no Kubernetes API server answers at {address} ({reason}): take the address that kubectl cluster-info "
            "shows, and name it with --master k8s://https://... (spark.master)"
        )


def _refusal(host: str, port: int) -> str | None:
    """Return why an address accepts no connections, None if it does."""
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError as error:
        return error.strerror or str(error)
    return None


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
