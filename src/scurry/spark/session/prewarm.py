"""The JVM of a session, started while the program is still being imported and planned.

`scurry run` lets it start before the program. It is used if the program's first environment, and later the session,
turn out to need no other options and no other environment variables; otherwise it ends, and another one is started.
"""

from __future__ import annotations

import atexit
import importlib
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from scurry.common.redaction import redacted
from scurry.spark.session.cds import spark_home
from scurry.spark.session.java import ensure_java
from scurry.spark.session.jvm_output import filtered_output
from scurry.spark.session.launch import gateway_command
from scurry.spark.session.options import bounded_matters, is_one_jvm, session_options
from scurry.spark.session.setup import prepare_archive_for_user, tell_start
from scurry.spark.workers.interpreter import worker_python
from scurry.spark.workers.template import start_template

#: Settings that the JVM, or `spark-submit`, reads when it starts; all others arrive with the session.
_AT_START = re.compile(
    r"spark\.(driver|jars|submit|files|archives|pyspark|remote|api|kerberos|yarn|kubernetes|log)\b.*"
)
#: Variables that are set when a session is made.
_OWN_VARIABLES = {"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"}
#: Variables with which another JVM, or another Python for workers, is wanted.
_OTHERWISE = {"PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_HOME", "MASTER"}

_early: list[_EarlyJvm] = []


def begin(configuration: Mapping[str, str]) -> None:
    """Start a JVM for the session of a program, if it is clear which one; end another one that was started before.

    Args:
        configuration: The settings of the command line, later those of the program's environment.
    """
    options = _options(configuration)
    if _early:
        if options is not None and _early[0].fits(options):
            return
        end_early_jvm()
    home = spark_home()
    if options is None or home is None:
        return
    start_template()
    _early.append(_EarlyJvm(home, options))


def _options(configuration: Mapping[str, str]) -> dict[str, str] | None:
    """Return the options to start the JVM of a session with, None if they are not clear, or secret."""
    master = configuration.get("spark.master", "local")
    batch = configuration.get("execution.runtime-mode", "").upper() == "BATCH"
    if (
        configuration.get("scurry.runner", "spark") != "spark"
        or not is_one_jvm(master)
        or (bounded_matters() and not batch)
        or not _OTHERWISE.isdisjoint(os.environ)
    ):
        return None
    ensure_java()
    tell_start(configuration)
    prepare_archive_for_user()
    options = _at_start(session_options(master, configuration, bounded=True))
    return options if redacted(options) == options else None


def adopt_early_jvm(options: Mapping[str, str]) -> None:
    """Let PySpark use the early JVM if it exists and suits the session.

    Args:
        options: The settings of the session.
    """
    from pyspark import SparkContext

    early = _early.pop() if _early else None
    if early is None:
        return
    if SparkContext._gateway is None and early.fits(options):
        early.connect()
    else:
        early.end()


def end_early_jvm() -> None:
    """End the early JVM if there is one: it is not needed."""
    if _early:
        _early.pop().end()


def _import_meanwhile() -> None:
    """Import the modules that PySpark imports with its first call to the JVM, to test for arguments of NumPy."""
    with suppress(ImportError):
        importlib.import_module("pyspark.testing.utils")


def _at_start(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if _AT_START.fullmatch(key)}


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _OWN_VARIABLES}


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _EarlyJvm:
    """A JVM that waits for PySpark to connect, as PySpark itself starts it; it ends when its standard input does."""

    def __init__(self, home: Path, options: Mapping[str, str]) -> None:
        self._options, self._environment = dict(options), _environment()
        self._directory = Path(tempfile.mkdtemp(prefix="scurry-jvm-"))
        self._address = self._directory / "address"
        command, variables = gateway_command(home, options)
        output = filtered_output()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env={
                **os.environ,
                **variables,
                "SPARK_CONNECT_MODE": "0",
                "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._address),
                "PYSPARK_PYTHON": worker_python(),
            },
            preexec_fn=_ignore_interrupts,
        )
        os.close(output)
        atexit.register(self.end)

    def fits(self, options: Mapping[str, str]) -> bool:
        """Return whether a session with these settings, made now, can use this JVM."""
        return self._options == _at_start(options) and self._environment == _environment()

    def connect(self) -> None:
        """Make it the JVM of PySpark, unless it has ended."""
        from pyspark import SparkContext

        _import_meanwhile()
        while not self._address.exists():
            if self._process.poll() is not None:
                return self.end()
            time.sleep(0.005)
        data = self._address.read_bytes()
        port, length = struct.unpack_from("!ii", data)
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = data[8 : 8 + length].decode()
        try:
            SparkContext._ensure_initialized()
        finally:
            del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
        gateway: Any = SparkContext._gateway
        gateway.proc = self._process
        self._forget()
        return None

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._forget()

    def _forget(self) -> None:
        atexit.unregister(self.end)
        shutil.rmtree(self._directory, ignore_errors=True)
