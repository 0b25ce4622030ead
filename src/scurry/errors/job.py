"""Errors of jobs: why they failed and why they do not answer; errors of Spark itself."""

from __future__ import annotations

import linecache
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors.base import ScurryError
from scurry.errors.user_frames import with_source


@dataclass
class Failure:
    """Operator, record and error of a failure; sent from the worker to the driver.

    Attributes:
        error: The name of the error's class.
        message: Its text.
        operator: The name of the operator.
        uid: Its uid.
        origin: Where in the program it was built.
        record: The repr of the record, None if none is to blame.
        frames: The user's part of the traceback: file, line, function and code of each frame.
        details: The whole traceback.
        hint: What to do about it.
        permanent: Whether restarting the job cannot help.
        kind: What has that name: an operator, or a function of a table.
        replay: The command that runs the failed micro-batch again; empty if it was not captured.
    """

    error: str
    message: str
    operator: str
    uid: str
    origin: str
    record: str | None = None
    frames: list[tuple[str, int, str, str]] = field(default_factory=list)
    details: str = ""
    hint: str = ""
    permanent: bool = False
    kind: str = "operator"
    replay: str = ""

    def __str__(self) -> str:
        lines = [f"{self.error}: {self.message}"]
        # a worker does not have the source of a notebook's cells, but the driver has
        lines += [
            f"  at {file}:{line} in {name}: {code or linecache.getline(file, line).strip()}"
            for file, line, name, code in reversed(self.frames)
        ]
        made = "built" if self.kind == "operator" else "defined"
        place = self.origin if self.frames else with_source(self.origin)
        lines.append(f"  in {self.kind} {self.operator!r} {made} at {place}")
        if self.record is not None:
            lines.append(f"  record: {self.record}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        if self.replay:
            lines.append(f"  run it again: {self.replay}")
        return "\n".join(lines)


class OperatorError(ScurryError, RuntimeError):
    """The failure of a user function, or of the conversion of its result, on a record.

    Cure: Look at the line and the record of the message; the in-process runner takes breakpoints.

    Attributes:
        failure: What failed, and where.
    """

    def __init__(self, failure: Failure) -> None:
        """Describe a failure.

        Args:
            failure: What failed, and where.
        """
        super().__init__(str(failure))
        self.failure = failure
        self.permanent = failure.permanent  # type: ignore[misc]

    def __reduce__(self) -> tuple[Any, ...]:
        return OperatorError, (self.failure,)


class JobError(ScurryError, RuntimeError):
    """A job failed, was cancelled, or does not answer.

    Cure: The message has the cause; `failures` of the job's client has earlier ones.
    """

    def report(self) -> str:
        """Return the message, which already names its location."""
        return str(self)


class JobCancelledError(JobError):
    """A job was cancelled or stopped before its end, from outside or by its program.

    Cure: Start the program again; with a checkpoint directory it continues where it was cancelled.
    """


class ReplayError(ScurryError, RuntimeError):
    """A micro-batch cannot be run again: it was not captured, or the capture cannot be used.

    Cure: Run the job with `scurry.replay.capture` set to `failures` or `all`; `scurry replay JOB` lists what there is.
    """


class SessionError(ScurryError, RuntimeError):
    """A session that is asked for does not run, or cannot run a program.

    Cure: `scurry session list` shows the running sessions, `scurry session start` starts one.
    """


class JobNotFoundError(JobError, LookupError):
    """No running job has that id or name, or several have.

    Cure: `scurry list` shows the running jobs.
    """


class JobUnreachableError(JobError, ConnectionError):
    """A running job does not answer, or ended before it answered.

    Cure: `scurry list` shows which jobs answer; look at the driver's machine.
    """


class RequestRefusedError(JobError):
    """A running job refuses a request from outside.

    Cure: The message says why; many requests can be repeated later.

    Attributes:
        status: The HTTP status of its answer.
    """

    def __init__(self, message: str, status: int) -> None:
        """Describe a refusal.

        Args:
            message: The reason.
            status: The HTTP status.
        """
        super().__init__(message)
        self.status = status


class GatewayError(ScurryError, RuntimeError):
    """A SQL gateway refuses a request, or cannot be reached.

    Cure: The message says why; `scurry gateway` starts one, and `SCURRY_REST_TOKEN` has its token.

    Attributes:
        kind: The class of the error in the gateway's process, without its module; empty if it is unknown.
    """

    kind: str = ""


class SparkError(ScurryError):
    """Spark cannot be started, or fails.

    Cure: See the more specific classes below; `scurry doctor` looks at what Spark needs.
    """


class JavaMissingError(SparkError, RuntimeError):
    """There is no Java on which Spark can run.

    Cure: Run `scurry setup`, or set JAVA_HOME; `--runner local` needs no Java.
    """

    permanent = True


class ClusterUnreachableError(SparkError, ConnectionError):
    """The Spark master does not answer at its address.

    Cure: Check `--master` and that the master runs there.
    """

    permanent = True


class SparkFailedError(SparkError, RuntimeError):
    """Spark failed, not a user function.

    Cure: Look at Spark's message; more memory (`spark.driver.memory`) helps in many cases.
    """


class SparkLostError(SparkError, RuntimeError):
    """The JVM of the driver has ended; only a new process can start another.

    Cure: Start a new process; the JVM's log says why it ended, often a lack of memory.
    """

    permanent = True
