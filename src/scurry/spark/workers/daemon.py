"""The Python daemon of Spark's executors, from which workers are forked with everything imported.

`spark.python.daemon.module` names it. Without it, every worker imports pandas, pyarrow and, from a zip without byte
code, pyspark again, which costs more than a second per worker.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import re
import sys
from collections.abc import Iterable

#: The environment variable with the modules that workers are going to need.
MODULES = "SCURRY_WORKER_MODULES"

_ARCHIVE = re.compile(r"(^|/)(pyspark\.zip|py4j-[^/]*-src\.zip|spark-core_[^/]*\.jar)$")
_RUN_BY_WORKERS = (
    "scurry.connectors",
    "scurry.sql.formats",
    "scurry.sql.functions",
    "scurry.sql.plan",
    "scurry.runtime",
    "scurry.sql",
)


def modules_of_driver() -> str:
    """Return which modules the driver has imported that run in workers, too: the value of `MODULES`."""
    known = list(sys.modules)  # at once: other threads import, too
    return ",".join(sorted(name for name in known if name.startswith(_RUN_BY_WORKERS)))


def without_archives(path: Iterable[str]) -> list[str]:
    """Return an import path without Spark's archives of pyspark and py4j, and its jar."""
    return [each for each in path if not _ARCHIVE.search(each)]


def _forget_archives() -> None:
    """Import pyspark and py4j from their packages, if these are installed, rather than from Spark's archives.

    Archives have no byte code, and Python reads their directories again whenever the import path changes: in each new
    worker.
    """
    installed = without_archives(sys.path)
    if all(any(os.path.isdir(os.path.join(path, name)) for path in installed) for name in ("pyspark", "py4j")):
        for path in {*sys.path} - {*installed}:
            sys.path_importer_cache.pop(path, None)
        sys.path[:] = installed


def import_what_workers_need(modules: str) -> None:
    """Import the modules that every worker needs, and some more.

    Args:
        modules: Their names, as in the environment variable `MODULES`.
    """
    _forget_archives()
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
    import pyspark.daemon
    import pyspark.sql.pandas.serializers
    import pyspark.sql.streaming.stateful_processor_api_client
    import pyspark.worker  # noqa: F401

    import scurry.spark.streaming.stages
    import scurry.spark.workers.instances  # noqa: F401

    for name in filter(None, modules.split(",")):
        with contextlib.suppress(Exception):  # a worker that needs it says what is wrong
            importlib.import_module(name)


def main() -> None:
    """Import the modules that every worker needs, then serve Spark's own daemon protocol."""
    import_what_workers_need(os.environ.get(MODULES, ""))
    import pyspark.daemon

    # Spark collects garbage after every task; scanning what was imported here would take 50 ms each time
    gc.freeze()
    try:
        pyspark.daemon.manager()
    except BrokenPipeError:
        pass  # the driver is gone; with Unix sockets Spark's own daemon would print a traceback here


if __name__ == "__main__":
    main()
