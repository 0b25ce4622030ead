"""One Spark application for the jobs of a session, whose programs run in processes of their own.

The session's process starts the JVM. For each job it opens one more Py4J server in it, because a server calls back into
one Python process only; the job's process joins the application through that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from scurry.common._config.validation import check_master
from scurry.spark.session.cluster import joining, reach
from scurry.spark.session.jvm_classes.ml_functions import create_session
from scurry.spark.session.jvm_output import quiet_jvm
from scurry.spark.session.options import session_options
from scurry.spark.session.secret_settings import start_jvm
from scurry.spark.session.setup import prepare_java
from scurry.spark.workers.dependencies import is_local
from scurry.spark.workers.interpreter import worker_python
from scurry.spark.workers.shared_files import FILES, SESSION_JOB, SharedFiles
from scurry.spark.workers.template import start_template

#: Setting of the SparkSessions of a job, by which its queries are found when its process has gone.
_JOB_SETTING = "spark.scurry.job"


class SharedApplication:
    """A Spark application that takes jobs of other processes.

    Args:
        configuration: The settings of the session.
        files: The directory for the files that jobs send to executors; it is the application's own.

    Raises:
        ClusterUnreachableError: The Spark master does not answer.
    """

    def __init__(self, name: str, configuration: Mapping[str, str], files: Path) -> None:
        from pyspark.sql import SparkSession

        # Each source that waits holds a slot, and the jobs are many.
        master = configuration.get("spark.master", f"local[{16 + 4 * (os.cpu_count() or 1)}]")
        check_master(master)
        reach(master)
        prepare_java()
        if is_local(master):
            start_template()
        self._python = worker_python() if is_local(master) else sys.executable
        os.environ.setdefault("PYSPARK_PYTHON", self._python)
        builder: Any = SparkSession.builder.appName(f"scurry session {name}").master(master)
        options = session_options(master, {"spark.scheduler.mode": "FAIR", **configuration}, bounded=False)
        for key, value in options.items():
            builder = builder.config(key, value)
        with quiet_jvm(), joining(master):
            start_jvm(builder)
            self._spark: Any = create_session(builder)
        self._jvm: Any = self._spark.sparkContext._jvm
        self._process: subprocess.Popen[bytes] = self._spark.sparkContext._gateway.proc
        shutil.rmtree(files, ignore_errors=True)  # those of an application that was killed
        files.mkdir(mode=0o700)
        self._files = files
        self._servers: dict[str, Any] = {}
        self._lock = threading.Lock()

    @property
    def ui(self) -> str | None:
        """The address of Spark's own web page, None if it is off."""
        address: str | None = self._spark.sparkContext.uiWebUrl
        return address

    def connect(self, job_id: str) -> dict[str, str]:
        """Open a server for a job; return the environment variables that its process needs."""
        server = self._jvm.org.apache.spark.api.python.Py4JServer(self._spark.sparkContext._conf._jconf)
        server.start()
        with self._lock:
            self._servers[job_id] = server
        return {
            "PYSPARK_GATEWAY_PORT": str(server.getListeningPort()),
            "PYSPARK_GATEWAY_SECRET": server.secret(),
            "PYSPARK_PYTHON": os.environ["PYSPARK_PYTHON"],
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            SESSION_JOB: job_id,
            FILES: str(self._files),
        }

    def disconnect(self, job_id: str) -> None:
        """Stop the queries and tasks that a job has left behind, and close its server."""
        context = self._spark.sparkContext
        with suppress(Exception):
            context._jsc.cancelJobsWithTag(job_id)
        for query in self._queries():
            with suppress(Exception):
                if query.sparkSession().conf().get(_JOB_SETTING, "") == job_id:
                    query.stop()
        with suppress(Exception):
            SharedFiles(self._files).release(context, job_id)
        with self._lock:
            server = self._servers.pop(job_id, None)
        if server is not None:
            with suppress(Exception):
                server.shutdown()

    def stop(self) -> None:
        with suppress(Exception):
            self._spark.stop()

    def wait(self) -> None:
        """Wait until the JVM has ended."""
        self._process.wait()

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def _queries(self) -> list[Any]:
        # Py4J shows a map of Java as one of Python.
        return list(self._spark._jsparkSession.sharedState().activeStreamingQueries().values())


def join() -> None:
    """Make the application of the session that has started this process the one of PySpark here."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    SparkContext._ensure_initialized()
    for variable in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        os.environ.pop(variable, None)
    jvm: Any = SparkContext._jvm
    running = jvm.org.apache.spark.SparkContext.getOrCreate()
    java_context = jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(running)
    context = _joined_context(jsc=java_context, conf=SparkConf(_jconf=running.conf()))
    # Workers of different jobs must not share modules: Spark shares none between different environments.
    context.environment[SESSION_JOB] = os.environ[SESSION_JOB]
    present = SparkSession._get_j_spark_session_class(jvm).getDefaultSession().get()
    session = SparkSession(context, present.newSession())
    SparkSession._get_j_spark_session_class(jvm).setDefaultSession(present)
    mark(session)


def mark(spark: Any) -> None:
    """Mark the queries and tasks that this thread starts in a session as those of this process's job, if it shares."""
    job_id = os.environ.get(SESSION_JOB)
    if job_id is None:
        return
    spark.conf.set(_JOB_SETTING, job_id)
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", job_id)
    spark.sparkContext.addJobTag(job_id)


def _joined_context(**arguments: Any) -> Any:
    from pyspark import SparkContext

    class JoinedContext(SparkContext):
        """The context of an application that others use, too: it ends for this process only."""

        def stop(self) -> None:
            self._jsc = None
            super().stop()

    return JoinedContext(**arguments)
