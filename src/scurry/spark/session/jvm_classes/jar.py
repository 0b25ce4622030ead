"""The jar of the classes for the driver's JVM.

It is made for this PySpark. If that fails, sessions are as Spark makes them.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

from scurry.common._process.directories import cache_directory
from scurry.spark.session.java import java_home

#: Additions to the class path of the driver's JVM, besides Spark's jars.
CLASS_PATH = "spark.driver.extraClassPath"

_JAVA = Path(__file__).parent
#: The classes, each in a file of its own.
SOURCES = tuple(_JAVA / f"{name}.java" for name in ("CollectRows", "LocalFiles", "WithoutMlFunctions"))


def jar_path() -> Path:
    """Return the path of the jar for this PySpark, which may not exist."""
    facts = [importlib.metadata.version("pyspark").encode(), *(source.read_bytes() for source in SOURCES)]
    return cache_directory() / f"jvm-classes-{hashlib.sha256(b''.join(facts)).hexdigest()[:16]}.jar"


def make_jar(jars: Path) -> Path | None:
    """Compile the classes, unless that has been done.

    Args:
        jars: The directory of Spark's jars.

    Returns:
        The jar with the classes, or None if they cannot be compiled.
    """
    jar = jar_path()
    if jar.is_file():
        return jar
    with tempfile.TemporaryDirectory(dir=cache_directory()) as directory:
        try:
            for source in SOURCES:
                compile_java(source, Path(directory), jars)
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
        target: The directory for the class files.

    Raises:
        subprocess.SubprocessError: It cannot be compiled.
    """
    java = [java_home() / "bin" / "java", "-cp", jars / "*", "org.codehaus.janino.SimpleCompiler"]
    command = [*map(str, java), str(_JAVA / "Compile.java"), "Compile", str(source), str(target)]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
