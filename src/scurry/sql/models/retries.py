"""Retries: further attempts at calls of models that fail."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence

from scurry._dataclasses import dataclass
from scurry.sql.catalog.table_options import Options, TableOption, one_of, whole_number
from scurry.sql.models.contract import Row

_logger = logging.getLogger(__name__)

ERROR_HANDLING_STRATEGY = TableOption(
    "error-handling-strategy",
    one_of(("RETRY", "FAILOVER", "IGNORE")),
    description="What happens when a call fails: another call, the end of the job, or no row.",
)
RETRY_NUM = TableOption("retry-num", whole_number, description="How often a call is made again.")
RETRY_FALLBACK_STRATEGY = TableOption(
    "retry-fallback-strategy",
    one_of(("FAILOVER", "IGNORE")),
    "FAILOVER",
    description="What happens when the last of these calls fails.",
)
RETRY_OPTIONS = (ERROR_HANDLING_STRATEGY, RETRY_NUM, RETRY_FALLBACK_STRATEGY)

#: Seconds before the second call, and the longest wait; those of OpenAI's own client.
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 8.0

Results = Sequence[Sequence[Row]]


@dataclass(frozen=True)
class Retries:
    """The treatment of calls that fail.

    Attributes:
        count: How often a call is made again.
        ignores: Whether a row for which no call succeeds has no result; otherwise the job fails.
        only_transient: Whether only a transient `ModelCallError` is worth another call.
    """

    count: int
    ignores: bool
    only_transient: bool = False

    @classmethod
    def of(cls, options: Options, strategy: str, count: int, only_transient: bool = False) -> Retries:
        """Return the treatment that the options of a model describe.

        Args:
            strategy: The strategy if they name none; with `retry-num` it is RETRY.
            count: The number of retries if they do not say.
            only_transient: As the attribute.
        """
        default = "RETRY" if RETRY_NUM in options else strategy
        chosen = options.find(ERROR_HANDLING_STRATEGY) or default
        given = options.find(RETRY_NUM)
        repeats = (count if given is None else given) if chosen == "RETRY" else 0
        fallback = options.get(RETRY_FALLBACK_STRATEGY) if chosen == "RETRY" else chosen
        return cls(repeats, fallback == "IGNORE", only_transient)

    def run(self, call: Callable[[], Results], rows: Sequence[Row]) -> Results:
        """Return the results of a call for some rows, after as many attempts as it takes."""
        for attempt in range(self.count + 1):
            try:
                return call()
            except Exception as error:
                if not self._repeats(error, attempt):
                    return self._given_up(error, rows)
                time.sleep(self._delay(error, attempt))
        raise AssertionError("the last attempt returns or raises")

    async def run_async(self, call: Callable[[], Awaitable[Results]], rows: Sequence[Row]) -> Results:
        """Return the results of a call for some rows, after as many attempts as it takes."""
        for attempt in range(self.count + 1):
            try:
                return await call()
            except Exception as error:
                if not self._repeats(error, attempt):
                    return self._given_up(error, rows)
                await asyncio.sleep(self._delay(error, attempt))
        raise AssertionError("the last attempt returns or raises")

    def _repeats(self, error: Exception, attempt: int) -> bool:
        return attempt < self.count and (not self.only_transient or getattr(error, "is_transient", False))

    def _delay(self, error: Exception, attempt: int) -> float:
        asked = getattr(error, "retry_after", None)
        if asked is not None:
            return float(asked)
        longest = min(_FIRST_DELAY * 2.0 ** min(attempt, 10), _LONGEST_DELAY)
        # so that calls that failed together do not come together again
        return longest * (1 - random.random() / 4)

    def _given_up(self, error: Exception, rows: Sequence[Row]) -> Results:
        if not self.ignores:
            raise error
        _logger.warning("a model has no answer for %d row(s), which are left out: %s", len(rows), error)
        return [[] for _ in rows]
