"""Let a job listen for requests; costs a socket, a file and a sleeping thread until the first client connects."""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
import socket
import threading
import time
from typing import TYPE_CHECKING

from scurry.common.configuration import Configuration
from scurry.errors import ConfigError
from scurry.rest.archive import ARCHIVE_KEY, write_archive
from scurry.rest.job import ServedJob
from scurry.rest.registry import JobEntry, Registration, register
from scurry.rest.settings import RestSettings

if TYPE_CHECKING:
    from scurry.common.job_id import JobID
    from scurry.graph.plan import JobPlan
    from scurry.rest.reporters import Reporting
    from scurry.runtime.driver.client import RunningJob
    from scurry.runtime.driver.job import Runner

#: Maximum number of connections that wait to be accepted; the system may allow fewer.
_BACKLOG = 1024
#: Seconds that a program whose job is over waits for the job's archive.
_ARCHIVE_SECONDS = 30.0


class Endpoint:
    """The listening socket of a job, and its server once a client has connected.

    It is made before the job starts, so that a port in use or a missing token cannot fail a running job.
    """

    def __init__(self, settings: RestSettings) -> None:
        """Begin to listen.

        Raises:
            ConfigError: None of the ports is available.
        """
        self._settings = settings
        self._socket = listen(settings)
        self._over = threading.Event()
        self._wake, self._woken = socket.socketpair()
        self._registration: Registration | None = None
        self._archived = threading.Event()

    @property
    def url(self) -> str:
        """The address for clients, such as `http://127.0.0.1:40123`."""
        return url_of(self._settings, self._socket)

    def serve(self, client: RunningJob) -> None:
        """Serve a job until it has ended.

        Raises:
            OSError: The job cannot be registered; its endpoint is closed.
        """
        job = ServedJob(client, int(time.time() * 1000))
        try:
            self._register(job)
        except OSError:
            self.close()
            raise
        client.execution.page = (self.url, self._settings.token if self._settings.own_token else None)
        if ARCHIVE_KEY in job.plan.settings.configuration:
            job.to_archive = True
            _archiving[self] = job
            atexit.unregister(await_archives)  # it is to be called before what was registered until now
            atexit.register(await_archives)
        threading.Thread(target=self._await_client, args=(job,), name="scurry-rest-listener", daemon=True).start()
        threading.Thread(target=self._sample, args=(job,), name="scurry-rest-history", daemon=True).start()
        client.get_job_execution_result().add_done_callback(lambda _: self._job_is_over(job))

    def close(self) -> None:
        """Close an endpoint that serves no job."""
        self._socket.close()
        self._wake.close()
        self._woken.close()

    def _register(self, job: ServedJob) -> None:
        settings = self._settings
        entry = JobEntry(
            job.id,
            job.name,
            os.getpid(),
            self.url,
            job.started_ms,
            token_file=settings.token_file,
            token=settings.token if settings.own_token else None,
        )
        self._registration = register(entry)
        atexit.register(self._registration.remove)

    def _sample(self, job: ServedJob) -> None:
        while not self._over.is_set():
            _add_to_history(job)
            self._over.wait(job.history.step)

    def _job_is_over(self, job: ServedJob) -> None:
        job.ended_ms = int(time.time() * 1000)
        _add_to_history(job)  # as the job has ended
        self._archive(job)
        if self._registration is not None:
            self._registration.remove()
            atexit.unregister(self._registration.remove)
        self._over.set()
        with contextlib.suppress(OSError):
            self._wake.send(b"\0")

    def _archive(self, job: ServedJob) -> None:
        directory = job.plan.settings.configuration.get(ARCHIVE_KEY)
        if directory is None:
            return
        try:
            write_archive(job, directory)
        except OSError as error:
            job.client.execution.log.note(f"{ARCHIVE_KEY} = {directory!r}: this job is not archived: {error}")
        finally:
            job.to_archive = False
            self._archived.set()
            _archiving.pop(self, None)

    def await_archive(self) -> None:
        """Wait until the job, which is over, is archived."""
        self._archived.wait(_ARCHIVE_SECONDS)

    def _await_client(self, job: ServedJob) -> None:
        with self._socket, self._wake, self._woken:
            with selectors.DefaultSelector() as selector:
                selector.register(self._socket, selectors.EVENT_READ)
                selector.register(self._woken, selectors.EVENT_READ)
                if self._woken in [key.fileobj for key, _ in selector.select()]:
                    return
            # Not a daemon: at the end of the program, clients first get to know how the job has ended.
            server = threading.Thread(target=self._run_server, args=(job,), name="scurry-rest", daemon=False)
            server.start()
            server.join()

    def _run_server(self, job: ServedJob) -> None:
        from scurry.rest.app import guarded  # not earlier: importing FastAPI takes half a second
        from scurry.rest.server import JobServer

        JobServer(job, guarded(job, self._settings), self._over).run(sockets=[self._socket])


#: Endpoint -> its job, which is to be archived.
_archiving: dict[Endpoint, ServedJob] = {}


def await_archives() -> None:
    """Wait until the jobs of this process that are over are archived, as a program goes on as soon as they are."""
    for endpoint, job in list(_archiving.items()):
        if job.status.is_globally_terminal_state():
            endpoint.await_archive()


def _add_to_history(job: ServedJob) -> None:
    # A metric of a user function may be read while it changes: the next point has it.
    with contextlib.suppress(RuntimeError):
        job.history.add(job.client)


def submit_with_endpoint(
    plan: JobPlan, configuration: Configuration, runner: Runner | None = None, job_id: JobID | None = None
) -> RunningJob:
    """Start a job, with an endpoint if it is configured to have one, and with its metric reporters.

    Args:
        configuration: The settings of the job, which include those of its endpoint.
        runner: What executes it; None for the runner that the settings name.
        job_id: As for `scurry.runtime.submit.submit`.

    Raises:
        ConfigError: The endpoint cannot listen as configured, or a reporter cannot be made; the job was not started.
    """
    from scurry.runtime.submit import submit  # not earlier: a session's process serves jobs that others run

    with contextlib.ExitStack() as unless_started:
        reporting = _reporting(configuration)
        if reporting is not None:
            unless_started.callback(reporting.close)
        settings = RestSettings.of(configuration, plan.settings.runner)
        endpoint = None if settings is None else Endpoint(settings)
        if endpoint is not None:
            unless_started.callback(endpoint.close)
        job = submit(plan, runner, job_id)
        unless_started.pop_all()
    if reporting is not None:
        reporting.serve(job)
    if endpoint is not None:
        try:
            endpoint.serve(job)
        except OSError as error:
            # The job runs even if it cannot be listed, for example because the home directory is not writable.
            job.execution.log.note(
                f"`scurry list` does not know this job, which cannot be operated from outside: {error}"
            )
    return job


def _reporting(configuration: Configuration) -> Reporting | None:
    values = configuration.to_dict()
    if not any(key.startswith("metrics.reporter") for key in values):
        return None
    from scurry.rest.reporters import Reporting  # not earlier: most jobs have none

    return Reporting(values)


def url_of(settings: RestSettings, listening: socket.socket) -> str:
    """Return the address that clients of a listening socket use."""
    host = settings.address
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


_FOR_A_JOB = "set rest.port to 0 for a free port, rest.bind-port to a range, or scurry.rest to off"


def listen(settings: RestSettings, who: str = "the job", advice: str = _FOR_A_JOB) -> socket.socket:
    """Return a socket that listens as settings say.

    Args:
        settings: Address and ports.
        who: What listens, for the error.
        advice: What to do if it cannot.

    Raises:
        ConfigError: None of the ports is available.
    """
    host = settings.bind_address.strip("[]")
    failure: OSError | None = None
    for port in settings.ports:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listener = socket.socket(family, kind, protocol)
        except OSError as error:
            failure = error
            continue
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
            listener.setblocking(False)
            return listener
        except OSError as error:
            listener.close()
            failure = error
    ports = str(settings.ports[0]) if len(settings.ports) == 1 else f"{settings.ports[0]} to {settings.ports[-1]}"
    reason = failure.strerror if failure is not None else "no port is configured"
    raise ConfigError(f"{who} cannot listen on {settings.bind_address} port {ports}: {reason}; {advice}")
