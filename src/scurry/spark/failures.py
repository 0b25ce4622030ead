"""Digging the user's failure out of Spark's error chains."""

from __future__ import annotations

from typing import Any

from scurry.errors import ScurryError
from scurry.runtime.failure import OperatorError
from scurry.spark.worker import unmark


class SparkFailedError(ScurryError, RuntimeError):
    """Spark itself failed, not a user function."""


def failure_of(error: BaseException, first: BaseException | None = None) -> BaseException:
    """The error to tell the user: the operator's failure if there is one in the chain."""
    texts: list[str] = []
    for root in (first, error):
        link: Any = root
        while link is not None:
            if isinstance(link, (OperatorError,)):
                return link
            texts.append(str(link))
            link = link.__cause__ or getattr(link, "cause", None)
    texts += _java_texts(first) + _java_texts(error)
    for text in texts:
        failure = unmark(text)
        if failure is not None:
            return OperatorError(failure)
    if isinstance(first, ScurryError):
        return first
    message = next((line for line in texts if line), repr(error)).split("\n\tat ")[0]
    failed = SparkFailedError(message.strip())
    failed.__cause__ = first or error
    return failed


def _java_texts(error: BaseException | None) -> list[str]:
    """The messages of a Java exception and its causes."""
    origin: Any = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    texts: list[str] = []
    while origin is not None and len(texts) < 20:
        texts.append(str(origin.getMessage()))
        origin = origin.getCause()
    return texts
