"""Hadoop's local file system without the `chmod` that it forks for each file and directory it makes.

PySpark comes without Hadoop's native library, so that Hadoop starts a process to set permissions: 25 ms per
micro-batch for the files of a checkpoint. `LocalFiles.java` sets them in the JVM. Without it sessions use Hadoop's.
"""

from __future__ import annotations

import os
from typing import Any

from scurry.spark.session.jvm_classes.jar import CLASS_PATH, jar_path

FILE_SYSTEM = "spark.hadoop.fs.file.impl"

_CLASS = "LocalFiles"


def file_system_options(class_path: str = "") -> dict[str, str]:
    """Return the settings of a session whose tasks run in the driver's JVM.

    Args:
        class_path: What the JVM is to have in its class path besides.
    """
    jar = jar_path()
    if not jar.is_file():
        return {CLASS_PATH: class_path} if class_path else {}
    parts = [str(jar), class_path] if class_path else [str(jar)]
    return {CLASS_PATH: os.pathsep.join(parts), FILE_SYSTEM: _CLASS}


def leave_out_if_missing(options: dict[str, str]) -> None:
    """Remove the class from the settings of a session if its JVM runs already and has been started without it."""
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    if options.get(FILE_SYSTEM) != _CLASS:
        return
    try:
        if jvm is not None:
            jvm.java.lang.ClassLoader.getSystemClassLoader().loadClass(_CLASS)
        elif "PYSPARK_GATEWAY_PORT" in os.environ:
            del options[FILE_SYSTEM]
    except Py4JJavaError:
        del options[FILE_SYSTEM]
