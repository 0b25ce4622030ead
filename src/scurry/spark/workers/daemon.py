"""The Python daemon of Spark's executors, from which workers are forked with everything imported.

`spark.python.daemon.module` names it. Without it, every worker imports pandas, pyarrow and, from a zip without byte
code, pyspark again, which costs more than a second per worker.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys

#: The environment variable with the modules that workers are going to need.
MODULES = "SCURRY_WORKER_MODULES"

_RUN_BY_WORKERS = ("scurry.connectors", "scurry.formats", "scurry.functions", "scurry.relational", "scurry.runtime")


def modules_of_driver() -> str:
    """Return which modules the driver has imported that run in workers, too: the value of `MODULES`."""
    return ",".join(sorted(name for name in sys.modules if name.startswith(_RUN_BY_WORKERS)))


def main() -> None:
    """Import what every worker needs, then serve Spark's own daemon protocol."""
    installed = [path for path in sys.path if not path.endswith("pyspark.zip")]
    if any(os.path.isdir(os.path.join(path, "pyspark")) for path in installed):
        sys.path[:] = installed
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
    import pyspark.daemon
    import pyspark.sql.pandas.serializers
    import pyspark.sql.streaming.stateful_processor_api_client
    import pyspark.worker  # noqa: F401

    import scurry.spark.workers.instances  # noqa: F401

    for name in filter(None, os.environ.get(MODULES, "").split(",")):
        with contextlib.suppress(Exception):  # a worker that needs it says what is wrong
            importlib.import_module(name)

    # Spark collects garbage after every task; scanning what was imported here would take 50 ms each time
    gc.freeze()
    try:
        pyspark.daemon.manager()
    except BrokenPipeError:
        pass  # the driver is gone; with Unix sockets Spark's own daemon would print a traceback here


if __name__ == "__main__":
    main()
