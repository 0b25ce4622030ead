"""A job as steps: a thread or a simulation drives them, and waits between them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from scurry._dataclasses import dataclass

if TYPE_CHECKING:
    from scurry.runtime.driver.job import JobExecution, Runner

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause before the next step of a job.

    Attributes:
        seconds: How long at most. The step may come earlier: it looks whether there is something to do.
        block: Blocks a thread for so many seconds, or until there may be something to do; it raises nothing.
    """

    seconds: float
    block: Callable[[float], object]


#: The steps of a job, or of a part of it. None of them waits for time to pass or for another thread of the job.
#: Closing them abandons the job, as an error would.
Steps = Generator[Wait, None, T]


def in_this_thread(steps: Steps[T]) -> T:
    """Run all steps in the present thread, which waits between them; return their result."""
    while True:
        try:
            wait = next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        wait.block(wait.seconds)


@runtime_checkable
class SteppedRunner(Protocol):
    """A runner that leaves the waiting to who drives it."""

    def steps(self, job: JobExecution) -> Steps[None]:
        """Return the steps of a run: to the job's end, or until `job.stopping` is set."""


def steps_of(runner: Runner, job: JobExecution) -> Steps[None]:
    """Return the steps of a run; of a runner that waits by itself there is one."""
    if isinstance(runner, SteppedRunner):
        yield from runner.steps(job)
    else:
        runner.run(job)
