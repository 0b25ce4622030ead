"""Hadoop's local file system without the `chmod` that it forks for each file and directory it makes.

PySpark comes without Hadoop's native library, so that Hadoop starts a process to set permissions: 25 ms per
micro-batch for the files of a checkpoint. `LocalFiles.java` sets them in the JVM. It is compiled once for this PySpark,
with the compiler among Spark's jars. If that fails, sessions use Hadoop's own.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from scurry.directories import cache_directory
from scurry.spark.session.java import java_home

__all__ = ["CLASS_PATH", "compile_java", "file_system_options", "jar_path", "leave_out_if_missing", "make_jar"]

CLASS_PATH = "spark.driver.extraClassPath"
FILE_SYSTEM = "spark.hadoop.fs.file.impl"

_JAVA = Path(__file__).parent
_SOURCE = _JAVA / "LocalFiles.java"


def file_system_options(class_path: str = "") -> dict[str, str]:
    """Return the settings of a session whose tasks run in the driver's JVM.

    Args:
        class_path: What the JVM is to have in its class path besides.
    """
    jar = jar_path()
    if not jar.is_file():
        return {CLASS_PATH: class_path} if class_path else {}
    parts = [str(jar), class_path] if class_path else [str(jar)]
    return {CLASS_PATH: os.pathsep.join(parts), FILE_SYSTEM: _SOURCE.stem}


def leave_out_if_missing(options: dict[str, str]) -> None:
    """Remove the class from the settings of a session if its JVM runs already and has been started without it.

    Args:
        options: The settings.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    if options.get(FILE_SYSTEM) != _SOURCE.stem:
        return
    try:
        if jvm is not None:
            jvm.java.lang.ClassLoader.getSystemClassLoader().loadClass(_SOURCE.stem)
        elif "PYSPARK_GATEWAY_PORT" in os.environ:
            del options[FILE_SYSTEM]
    except Py4JJavaError:
        del options[FILE_SYSTEM]


def jar_path() -> Path:
    """Return the path of the compiled class for this PySpark, which may not exist."""
    facts = importlib.metadata.version("pyspark").encode() + _SOURCE.read_bytes()
    return cache_directory() / f"local-files-{hashlib.sha256(facts).hexdigest()[:16]}.jar"


def make_jar(jars: Path) -> Path | None:
    """Compile the class, unless that has been done.

    Args:
        jars: The directory of Spark's jars.

    Returns:
        The jar with the class, or None if it cannot be compiled.
    """
    jar = jar_path()
    if jar.is_file():
        return jar
    with tempfile.TemporaryDirectory(dir=cache_directory()) as directory:
        try:
            compile_java(_SOURCE, Path(directory), jars)
        except (OSError, subprocess.SubprocessError):
            return None
        unfinished = Path(directory) / jar.name
        with zipfile.ZipFile(unfinished, "w") as archive:
            for file in sorted(Path(directory).glob("*.class")):
                archive.write(file, file.name)
        os.replace(unfinished, jar)
    return jar


def compile_java(source: Path, target: Path, jars: Path) -> None:
    """Compile a Java file with Janino, which is among Spark's jars.

    Args:
        source: The file.
        target: The directory for the class files.
        jars: The directory of Spark's jars.

    Raises:
        subprocess.SubprocessError: It cannot be compiled.
    """
    java = [java_home() / "bin" / "java", "-cp", jars / "*", "org.codehaus.janino.SimpleCompiler"]
    command = [*map(str, java), str(_JAVA / "Compile.java"), "Compile", str(source), str(target)]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
