"""Send Python code and packages to Spark's workers, and explain why workers cannot start."""

from __future__ import annotations

import os
import re
import weakref
from pathlib import Path
from typing import Any

from scurry.errors import ConfigError, InterpreterError
from scurry.graph.dependencies import JobDependencies, WorkerSetup
from scurry.graph.dependencies.archives import digest_of
from scurry.graph.dependencies.interpreter import PROBE, WORKER_MODULES, verdict
from scurry.graph.plan import JobPlan
from scurry.spark.workers.interpreter import worker_python
from scurry.spark.workers.shared_files import FILES, SESSION_JOB, SharedFiles

#: Gives jobs with other files other workers: Spark shares no worker between different environments.
ENVIRONMENT = "SCURRY_DEPENDENCIES"

#: context -> its interpreter before a job named another
_own_python: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
#: context -> target of an archive -> digest
_targets: weakref.WeakKeyDictionary[Any, dict[str, str]] = weakref.WeakKeyDictionary()


def is_local(master: str | None) -> bool:
    """Return whether all workers are on the driver's machine and started by its JVM."""
    return re.fullmatch(r"local(\[.*\])?", master or "") is not None


def stage(master: str, plan: JobPlan) -> None:
    """Prepare the dependencies of a session's workers, before the session is made.

    Raises:
        DependencyError: The dependencies cannot be provided.
    """
    dependencies = plan.settings.dependencies
    if dependencies is not None:
        _ = dependencies.local_setup if is_local(master) else dependencies.cluster_setup


def provide(context: Any, plan: JobPlan) -> None:
    """Provide the workers of a context with a job's dependencies, from the next stages on.

    Raises:
        DependencyError: The dependencies cannot be provided.
    """
    own = _own_python.setdefault(context, context.pythonExec)
    dependencies = plan.settings.dependencies
    if dependencies is None:
        return
    if is_local(context.master):
        executable = dependencies.executable_here()
        context.pythonExec = own if executable is None else worker_python(executable)
    else:
        stateful = plan.settings.mode == "STREAMING" and plan.levels > 0
        context.pythonExec = dependencies.cluster_executable(driver_runs_it=stateful) or own
        _send(context, dependencies)
    digest = setup_of(plan).digest
    if digest:
        context.environment[ENVIRONMENT] = digest
    else:
        context.environment.pop(ENVIRONMENT, None)


def _send(context: Any, dependencies: JobDependencies) -> None:
    bundle = dependencies.bundle
    if (shared := os.environ.get(FILES)) is not None:
        files, archives = [bundle] if bundle is not None else [], dependencies.cluster_archives
        unpacked = [(archive.path, archive.target) for archive in archives]
        SharedFiles(Path(shared)).add(context, os.environ[SESSION_JOB], files, unpacked)
        return
    sent = {str(url).rpartition("/")[2] for url in context.listFiles}
    if bundle is not None and bundle.name not in sent:
        context.addFile(str(bundle))
    targets = _targets.setdefault(context, {})
    for archive in dependencies.cluster_archives:
        digest = digest_of({archive.target: archive.path})
        if archive.target not in targets:
            context.addArchive(f"{archive.path}#{archive.target}")
        if targets.setdefault(archive.target, digest) != digest:
            raise ConfigError(
                f"python.archives: another job of this Spark session has unpacked another archive as "
                f"{archive.target!r}: name another target, {archive.path}#OTHER"
            )


def setup_of(plan: JobPlan) -> WorkerSetup:
    """Return the setup of the present context's workers, which they run before they load a plan."""
    from pyspark import SparkContext

    dependencies, context = plan.settings.dependencies, SparkContext._active_spark_context
    if dependencies is None or context is None:
        return WorkerSetup()
    return dependencies.local_setup if is_local(context.master) else dependencies.cluster_setup


_NO_MODULE = re.compile(r"No module named '?([\w.]+)")
_NOT_RUN = re.compile(r'Cannot run program "([^"]+)"[^:]*: (?:error=\d+, )?([^\n]+)')
_VERSIONS = re.compile(r"worker has different version[: ]+'?([\d.]+)'? than that in driver[: ]+'?([\d.]+)'?")
_FAILED = re.compile(r"Error from python worker:\s*\n(.*?)\n\s*PYTHONPATH was", re.DOTALL)
_ADVICE = "name one that is on all machines in python.executable, with the packages of the driver's"


def interpreter_error(text: str) -> InterpreterError | None:
    """Return why workers could not be started, if a message of Spark says so."""
    if match := _NOT_RUN.search(text):
        return InterpreterError(f"workers cannot start {match[1]} ({match[2].strip()}): {_ADVICE}")
    if match := _VERSIONS.search(text):
        return InterpreterError(f"workers run Python {match[1]}, the program {match[2]}: {_ADVICE}")
    if match := _FAILED.search(text):
        said = match[1].strip()
        missing = _NO_MODULE.search(said)
        reason = f"has no module named {missing[1]!r}" if missing else f"says: {said.splitlines()[-1].strip()}"
        return InterpreterError(f"the Python of the workers {reason}: install scurry there, too, or {_ADVICE}")
    return None


def unusable_workers(text: str) -> InterpreterError | None:
    """Return the error in the interpreter of a cluster's workers, if a message of Spark hides it.

    Only the first attempt to start a worker fails with a message; later ones fail with a NullPointerException.
    """
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None or is_local(context.master) or "NullPointerException" not in text:
        return None
    python = context.pythonExec
    modules = [module for module in WORKER_MODULES if module != "pyspark"]  # Spark brings its own
    try:
        printed = context._jsc.parallelize([""], 1).pipe([python, "-c", PROBE, *modules]).collect()
        fault = verdict(python, printed[-1])
    except Exception as error:
        return interpreter_error(str(error))
    return None if fault is None else InterpreterError(f"on the cluster, {fault}; or {_ADVICE}")
