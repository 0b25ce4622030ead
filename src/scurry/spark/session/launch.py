"""The command that starts Spark's JVM for PySpark.

`spark-submit` starts a shell, Python and a JVM of its own to find out how to start the JVM, and then lets its main
class find out what to run in it. Where nothing configures Spark from outside, that is known beforehand.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Mapping
from pathlib import Path

from scurry.spark.session.java import java_home
from scurry.spark.session.jvm_classes.jar import CLASS_PATH

#: The release of Spark whose launcher this module knows.
RELEASE = "4.3."
_MEMORY, _JAVA_OPTIONS = "spark.driver.memory", "spark.driver.extraJavaOptions"
#: Settings that change the command, or what `spark-submit` does, in ways known here.
_KNOWN = {_MEMORY, _JAVA_OPTIONS, CLASS_PATH}
#: Variables of Spark that the JVM itself reads; others are for `spark-submit`.
_OF_THE_JVM = {"SPARK_LOCAL_IP", "SPARK_LOCAL_DIRS", "SPARK_LOCAL_HOSTNAME", "SPARK_PUBLIC_DNS", "SPARK_USER"}
_FOR_THE_LAUNCHER = {"HADOOP_CONF_DIR", "YARN_CONF_DIR"}
_OPENED = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
#: Options that Spark's launcher passes to every JVM (`org.apache.spark.launcher.JavaModuleOptions`).
_MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-modules=jdk.incubator.vector",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
)
#: Settings of `spark-submit` for a shell of PySpark.
_OF_A_SHELL = {
    "SPARK_SUBMIT": "true",
    "spark.app.name": "pyspark-shell",
    "spark.master": "local[*]",
    "spark.submit.deployMode": "client",
    "spark.submit.pyFiles": "",
    "spark.ui.showConsoleProgress": "true",
}


def gateway_command(home: Path, options: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts a JVM which PySpark connects to, and the variables it needs besides the present.

    Args:
        home: The directory of PySpark.
        options: Spark's settings that are read when a JVM starts.
    """
    if not is_known(home, options):
        settings = [part for key, value in options.items() for part in ("--conf", f"{key}={value}")]
        return [str(home / "bin" / "spark-submit"), *settings, "pyspark-shell"], {}
    variables = {"SPARK_HOME": str(home), "SPARK_CONF_DIR": str(home / "conf"), "PYTHONHASHSEED": "0"}
    properties = [f"-D{key}={value}" for key, value in {**options, **_OF_A_SHELL}.items()]
    main = "org.apache.spark.api.python.PythonGatewayServer"
    return [*java_command(home, options), *properties, main], variables


def is_known(home: Path, options: Mapping[str, str]) -> bool:
    """Return whether the command that `spark-submit` would find out is known.

    Args:
        home: The directory of PySpark.
        options: Spark's settings that are read when a JVM starts.
    """
    configured = any(
        name in _FOR_THE_LAUNCHER or (name.startswith("SPARK_") and name not in _OF_THE_JVM) for name in os.environ
    )
    return (
        os.name == "posix"
        and importlib.metadata.version("pyspark").startswith(RELEASE)
        and not configured
        and not (home / "conf").exists()
        and len(list((home / "jars").glob("slf4j-api-*.jar"))) == 1
        and {_MEMORY, _JAVA_OPTIONS} <= {*options} <= _KNOWN
        # the launcher reads quotes as a shell does, and refuses a heap
        and not any(part in options[_JAVA_OPTIONS] for part in ('"', "'", "\\", "-Xmx"))
    )


def java_command(home: Path, options: Mapping[str, str]) -> list[str]:
    """Return the command of a JVM, without its main class, as Spark's launcher makes it.

    Args:
        home: The directory of PySpark.
        options: Spark's settings, which must be known.
    """
    (logging,) = (home / "jars").glob("slf4j-api-*.jar")
    added = [options[CLASS_PATH]] if options.get(CLASS_PATH) else []
    class_path = [*added, str(home / "conf"), str(logging), str(home / "jars" / "*")]
    return [
        str(java_home() / "bin" / "java"),
        "-cp",
        os.pathsep.join(class_path),
        f"-Xmx{options[_MEMORY]}",
        *options[_JAVA_OPTIONS].split(),
        *_MODULE_OPTIONS,
        "-Dderby.connection.requireAuthentication=false",
    ]
