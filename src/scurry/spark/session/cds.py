"""Class-data sharing: an archive of Spark's loaded classes that makes every start of the JVM seconds faster.

``python -m scurry.spark.session.cds`` makes the archive once for this Java and this PySpark (``make setup`` does it).
Sessions then start with ``cds_options()``. If the archive is missing or does not fit, the JVM starts without it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from scurry.common._process.directories import cache_directory
from scurry.errors import JavaMissingError
from scurry.spark.session.java import java_home, java_version
from scurry.spark.session.jvm_classes.file_system import file_system_options
from scurry.spark.session.jvm_classes.jar import CLASS_PATH, jar_path, make_jar

#: Map the archive to its own address, else each JVM copies all of it and corrects every pointer: 130 MB and 0.1 s.
_AS_IT_IS = ["-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"]
_QUIET = ["-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]
#: Seconds after its last use at which an archive is deleted, when another one is made: those of installations that are
#: gone stay otherwise, 180 MB each.
_KEPT_SECONDS = 30 * 86_400


def cds_options() -> list[str]:
    """Return the JVM options that use the archive, after ``ensure_java()``.

    Returns:
        Options for ``spark.driver.extraJavaOptions``; empty if there is no archive for this Java and this PySpark.
    """
    archive = archive_path()
    if archive is None or not _is_archive(archive):
        return []
    _note_use(archive)
    return _use_options(archive)


def dump_options(target: Path) -> list[str]:
    """Return the JVM options that write an archive of the loaded classes when the JVM exits.

    Returns:
        Options for ``spark.driver.extraJavaOptions``.
    """
    return [f"-XX:ArchiveClassesAtExit={target}", *_QUIET]


def archive_path() -> Path | None:
    """Return the path of the archive for this Java and this PySpark, which may not exist.

    Returns:
        The path, or None without PySpark, with one that contains no Spark, such as the zip of `spark-submit`, or with a
        trimmed Java that lacks the archive of its own classes, which this one extends.

    Raises:
        JavaMissingError: If there is no usable Java.
    """
    spark = spark_home()
    if spark is None:
        return None
    home, jars, own = java_home(), spark / "jars", jar_path()
    if not any((home / "lib" / "server").glob("classes*.jsa")):
        return None
    # The JVM accepts an archive only for the very files it was made from: reinstalled jars need another one.
    facts: tuple[object, ...] = (
        home.resolve(),
        java_version(home),
        jars,
        jars.stat().st_mtime_ns,
        importlib.metadata.version("pyspark"),
    )
    if own.is_file():
        facts = (*facts, own, own.stat().st_mtime_ns)
    return cache_directory() / f"cds-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}.jsa"


def make_archive() -> Path | None:
    """Make the archive by running one small batch and one small streaming job, unless it exists.

    Returns:
        The archive, or None if this Java cannot make or use one (jobs then start without it).

    Raises:
        JavaMissingError: If there is no usable Java.
    """
    spark = spark_home()
    if spark is not None:
        make_jar(spark / "jars")  # first: the archive is for the class path of sessions, which it is part of
    archive = archive_path()
    if archive is None:
        return None
    if archive.is_file():
        return archive if _is_archive(archive) else None
    # Written under another name and renamed: the JVM takes seconds to write it and may be stopped meanwhile.
    unfinished = archive.with_name(f"{archive.stem}-{os.getpid()}.jsa")
    try:
        command = [sys.executable, "-m", "scurry.spark.session.cds_job", *dump_options(unfinished)]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=True)
        if not _serves(unfinished):
            # Recorded as an empty file: another attempt would take as long and fail the same way.
            unfinished.unlink()
            unfinished.touch()
        unfinished.replace(archive)
        _delete_unused(archive.parent)
    except (OSError, subprocess.SubprocessError):
        return None
    finally:
        unfinished.unlink(missing_ok=True)
    return archive if _is_archive(archive) else None


def _is_archive(archive: Path) -> bool:
    return archive.is_file() and archive.stat().st_size > 0


def _note_use(archive: Path) -> None:
    """Set the time of the file to that of its use, at most once a day."""
    with suppress(OSError):  # another user's, or it is being deleted
        if time.time() - archive.stat().st_mtime > _KEPT_SECONDS / 30:
            os.utime(archive)


def _delete_unused(directory: Path) -> None:
    for archive in directory.glob("cds-*.jsa"):
        with suppress(OSError):  # another process deletes it, too
            if time.time() - archive.stat().st_mtime > _KEPT_SECONDS:
                archive.unlink()


def _use_options(archive: Path) -> list[str]:
    return [f"-XX:SharedArchiveFile={archive}", *_AS_IT_IS, *_QUIET]


def _serves(archive: Path) -> bool:
    """Return whether the JVM loads Spark's classes from the archive; Java 21 refuses it for Spark's class path."""
    options = shlex.join([*_use_options(archive), "-Xlog:class+load"])
    own = file_system_options().get(CLASS_PATH)
    class_path = [] if own is None else ["--driver-class-path", own]
    command = [f"{spark_home()}/bin/spark-submit", *class_path, "--driver-java-options", options, "--version"]
    log = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)
    return "org.apache.spark.deploy.SparkSubmit source: shared objects file" in log.stdout


def spark_home() -> Path | None:
    """Return the directory of PySpark with Spark's jars, or None."""
    spec = importlib.util.find_spec("pyspark")
    home = Path(spec.origin).parent if spec and spec.origin else None
    return home if home is not None and (home / "jars").is_dir() else None


if __name__ == "__main__":
    try:
        print(make_archive() or "this Java makes no class-data archive; jobs start without one")
    except JavaMissingError as missing:
        sys.exit(str(missing))
