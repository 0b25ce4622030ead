"""The Python daemon of Spark's executors, from which workers are forked with everything imported.

`spark.python.daemon.module` names it. Without it, every worker imports pandas, pyarrow and, from a zip without byte
code, pyspark again, which costs more than a second per worker.
"""

from __future__ import annotations

import gc
import os
import sys


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

    # Spark collects garbage after every task; scanning what was imported here would take 50 ms each time
    gc.freeze()
    try:
        pyspark.daemon.manager()
    except BrokenPipeError:
        pass  # the driver is gone; with Unix sockets Spark's own daemon would print a traceback here


if __name__ == "__main__":
    main()
