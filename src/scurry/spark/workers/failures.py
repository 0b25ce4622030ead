"""Find the cause of a failure in Spark's error chains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scurry.errors import OperatorError, SparkFailedError, SparkLostError
from scurry.spark.workers.dependencies import interpreter_error, unusable_workers
from scurry.spark.workers.instances import unmark


@contextmanager
def noticing_lost_spark() -> Iterator[None]:
    """Make a failure permanent if the driver's JVM is gone: every restart in this process would fail, too.

    Raises:
        SparkLostError: The JVM is gone.
    """
    try:
        yield
    except Exception as error:
        if _spark_is_lost():
            raise SparkLostError(
                "Spark's JVM on the driver has ended, perhaps because memory ran out (spark.driver.memory): start "
                "the program again and it resumes from execution.checkpointing.dir; a supervisor does so by itself"
            ) from error
        raise


def _spark_is_lost() -> bool:
    from py4j.protocol import Py4JNetworkError
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    try:
        if gateway is not None:
            gateway.jvm.java.lang.System.nanoTime()
    except (Py4JNetworkError, OSError):
        return True
    return False


def failure_of(error: BaseException, first: BaseException | None = None) -> BaseException:
    """Return the error to report to the user: the operator's failure if there is one in the chain."""
    for link in (*_chain(first), *_chain(error)):
        if isinstance(link, OperatorError):
            return link
    texts = [*texts_of(first), *texts_of(error)]
    for text in texts:
        found = unmark(text)
        if found is not None:
            return found
    for text in texts:
        unusable = interpreter_error(text) or unusable_workers(text)
        if unusable is not None:
            return unusable
    if first is not None and type(first).__module__.partition(".")[0] not in ("py4j", "pyspark"):
        return first  # such as a committer's
    message = next((line for line in texts if line), repr(error)).split("\n\tat ")[0]
    failed = SparkFailedError(message.strip() + _hint(texts))
    failed.__cause__ = first or error
    return failed


def _hint(texts: list[str]) -> str:
    """Return advice on a failure of Spark that has no other cause; empty without advice."""
    if any("Python worker failed to connect back" in text for text in texts):
        return (
            "\n  hint: a Python process did not start within Spark's 10 s, as on an overloaded machine: start the job "
            "again, give it fewer cores (--master local[2], spark.executor.cores), or let it restart by itself "
            "(restart-strategy.type: fixed-delay)"
        )
    if any("spark.driver.maxResultSize" in text for text in texts):
        return (
            "\n  hint: write the rows with INSERT INTO a table, take fewer with LIMIT, or give "
            "spark.driver.maxResultSize more than 1g"
        )
    return ""


def texts_of(error: BaseException | None) -> list[str]:
    """Return the messages of an error and its causes, then those of the Java exceptions behind them."""
    chain = _chain(error)
    return [str(link) for link in chain] + [text for link in chain for text in _java_texts(link)]


def _chain(error: BaseException | None) -> list[Any]:
    links: list[Any] = []
    while error is not None and len(links) < 20:
        links.append(error)
        error = error.__cause__ or getattr(error, "cause", None)
    return links


def _java_texts(error: BaseException | None) -> list[str]:
    """Return the classes and messages of a Java exception and its causes."""
    origin: Any = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    texts: list[str] = []
    while origin is not None and len(texts) < 20:
        texts.append(str(origin.toString()))
        origin = origin.getCause()
    return texts
