"""Find a running job by its id, the beginning of its id, or its name."""

from __future__ import annotations

from scurry.errors import ConfigError, JobNotFoundError
from scurry.errors.suggestions import similar_names
from scurry.rest.client import RemoteJob, RemoteProcess, environment_token
from scurry.rest.registry import JobEntry, registered_jobs
from scurry.rest.settings import read_token_file

#: Why a job that runs in one process may not be found.
WHERE_JOBS_ARE_LISTED = "jobs in one process are listed if they run at a terminal, or with -D scurry.rest=on"


def running_jobs(url: str | None = None, timeout: float = 60.0) -> list[RemoteJob]:
    """Return the running jobs of this user on this machine, or those of an endpoint.

    Args:
        url: An endpoint on any machine; its token is in the environment variable SCURRY_REST_TOKEN.
        timeout: Seconds to wait for answers.

    Raises:
        JobUnreachableError: The endpoint does not answer.
        RequestRefusedError: The token is missing or wrong.
    """
    if url is None:
        return [RemoteJob(e.id, e.name, RemoteProcess(e.url, token_of(e), timeout, e.pid)) for e in registered_jobs()]
    url = url if "://" in url else f"http://{url}"
    registered = [token_of(entry) for entry in registered_jobs() if entry.url == url.rstrip("/")]
    process = RemoteProcess(url, next(iter(registered), environment_token()), timeout)
    return [RemoteJob(one["jid"], one["name"], process) for one in process.request("GET", "/jobs/overview")["jobs"]]


def find_job(job: str, url: str | None = None) -> RemoteJob:
    """Return the running job with an id or name.

    Args:
        job: Its id, the beginning of its id, or its name.
        url: Its endpoint, if it is not a job of this user on this machine.

    Raises:
        JobNotFoundError: No job matches, or several do.
    """
    known = running_jobs(url)
    for meant in (
        [one for one in known if one.id == job],
        [one for one in known if one.name == job],
        [one for one in known if job and one.id.startswith(job)],
    ):
        if len(meant) == 1:
            return meant[0]
        if meant:
            ids = "\n".join(f"  {one.id}  {one.name}" for one in meant)
            raise JobNotFoundError(f"{job!r} may be any of {len(meant)} jobs; give more of the id:\n{ids}")
    raise JobNotFoundError(_nothing_like(job, known))


def _nothing_like(job: str, known: list[RemoteJob]) -> str:
    if not known:
        return f"no job {job!r}: no job is running; {WHERE_JOBS_ARE_LISTED}"
    names = {text: one for one in known for text in (one.id, one.name)}
    close = [names[text] for text in similar_names(job, names, cutoff=0.5)]
    hint = f"did you mean {' or '.join(f'{one.name!r} ({one.id})' for one in dict.fromkeys(close))}?" if close else ""
    return f"no running job has the id or name {job!r}: {hint or '`scurry list` shows those there are'}"


def token_of(entry: JobEntry) -> str | None:
    """Return the token of a job's endpoint: made for the job, else from its token file, else from the environment."""
    if entry.token is not None:
        return entry.token
    if entry.token_file is not None:
        try:
            return read_token_file(entry.token_file)
        except ConfigError:
            pass  # the file was moved: the environment may have the token
    return environment_token()
