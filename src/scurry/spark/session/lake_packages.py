"""Name an alternative if the Spark package of a table format is missing or does not run on this Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scurry.errors import UnsupportedError

_CONNECTORS = {
    "delta": "datastream.connectors.delta.DeltaSink (pip install 'scurry[delta]')",
    "iceberg": "datastream.connectors.iceberg.IcebergSink (pip install 'scurry[iceberg]')",
}
#: Parts of the errors about a data source that Spark does not know, or that was built for another Spark.
_SIGNS = ("DATA_SOURCE_NOT_FOUND", "NoSuchMethodError", "IncompatibleClassChangeError", "AbstractMethodError")


@contextmanager
def advising(data_source: str) -> Iterator[None]:
    """Name scurry's own connector if a data source fails because no working package is installed."""
    try:
        yield
    except Exception as error:
        connector, text = _CONNECTORS.get(data_source), str(error)
        sign = next((sign for sign in _SIGNS if sign in text), None)
        if connector is None or sign is None:
            raise
        import pyspark

        raise UnsupportedError(
            f"to_spark({data_source!r}) needs a package that runs on Spark {pyspark.__version__} ({sign}); none was "
            f"published when this version of scurry was. Use {connector}, which needs none"
        ) from error
