"""The entry point of the container image: Spark on Kubernetes starts its pods with ``driver ...`` or ``executor``.

Spark's own image has a shell script for this. Everything else is a command of ``scurry``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from scurry.spark.session.java import ensure_java

_EXECUTOR = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
#: Its options, and the variables of the pod that have their values.
_OPTIONS = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}
#: The options of the executor's JVM: SPARK_JAVA_OPT_0, SPARK_JAVA_OPT_1, ...
_JVM_OPTION = re.compile(r"SPARK_JAVA_OPT_(\d+)")


def main() -> None:
    """Become the process that the arguments describe."""
    role = sys.argv[1] if len(sys.argv) > 1 else ""
    if role not in ("driver", "executor"):
        command = ["scurry", *sys.argv[1:]]
    else:
        ensure_java()
        spark = importlib.util.find_spec("pyspark")
        assert spark is not None and spark.submodule_search_locations
        os.environ.setdefault("SPARK_HOME", spark.submodule_search_locations[0])
        command = executor(os.environ) if role == "executor" else driver(os.environ, sys.argv[2:])
    os.execvp(command[0], command)


def driver(environment: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
    """Return the command of a driver that ``spark-submit --deploy-mode cluster`` or an operator has asked for."""
    address = environment["SPARK_DRIVER_BIND_ADDRESS"]
    submit = str(Path(environment["SPARK_HOME"], "bin", "spark-submit"))
    return [submit, "--deploy-mode", "client", "--conf", f"spark.driver.bindAddress={address}", *arguments]


def executor(environment: Mapping[str, str]) -> list[str]:
    """Return the command of an executor, which the pod's variables describe."""
    numbered = {int(found[1]): value for key, value in environment.items() if (found := _JVM_OPTION.fullmatch(key))}
    memory = environment["SPARK_EXECUTOR_MEMORY"]
    places = [environment.get(key) for key in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "SPARK_CLASSPATH")]
    places += [f"{environment['SPARK_HOME']}/jars/*", environment.get("SPARK_EXTRA_CLASSPATH")]
    return [
        f"{environment['JAVA_HOME']}/bin/java",
        *(numbered[number] for number in sorted(numbered)),
        f"-Xms{memory}",
        f"-Xmx{memory}",
        "-cp",
        ":".join(place for place in places if place),
        _EXECUTOR,
        *(part for option, variable in _OPTIONS.items() for part in (option, environment[variable])),
    ]


if __name__ == "__main__":
    main()
