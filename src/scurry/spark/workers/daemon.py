"""The Python daemon of Spark's executors: workers are forked from it with everything imported.

Named by `spark.python.daemon.module`. Without it every worker imports pyspark from a zip without byte code, pandas and
pyarrow anew, which costs a second and more per worker.
"""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Imports what every worker needs, then serves Spark's own daemon protocol."""
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

    # Spark collects garbage after every task: what was imported here is none, and looking at it takes 50 ms each time
    gc.freeze()
    try:
        pyspark.daemon.manager()
    except BrokenPipeError:
        pass  # the driver has gone; with Unix sockets the stock daemon would print a traceback here


if __name__ == "__main__":
    main()
