"""Common to all request handlers: parameters, responses, failures as Flink's clients read them, values as JSON."""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Query, Request

from scurry.common.redaction import without_secrets
from scurry.common.types import Row
from scurry.rest.job import ServedJob
from scurry.rest.models import Errors, FailureCause

#: The error responses of any request, for the OpenAPI description.
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Errors, "description": "The request is malformed, or asks for something impossible."},
    401: {"model": Errors, "description": "No token, or a wrong one."},
    403: {"model": Errors, "description": "The request comes from a web page or names another host."},
    404: {"model": Errors, "description": "There is no such job, operation, metric or state."},
    409: {"model": Errors, "description": "The job cannot do that, or is over."},
}

#: Description of text answers; their refusals are JSON, as everywhere.
PLAIN_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}}


def _served(request: Request, jobid: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]) -> ServedJob:
    job: ServedJob = request.app.state.job
    if jobid != job.id:
        raise HTTPException(404, f"job {jobid} not found: this is the endpoint of {job.id} ({job.name})")
    return job


def _running(job: Annotated[ServedJob, Depends(_served)]) -> ServedJob:
    if job.status.is_globally_terminal_state():
        raise HTTPException(409, f"job {job.name!r} is over: {job.status.name}")
    return job


Job = Annotated[ServedJob, Depends(_served)]
"""The job of a path that begins with `/jobs/{jobid}`."""

LiveJob = Annotated[ServedJob, Depends(_running)]
"""The same, where it must not be over."""

Names = Annotated[str | None, Query(description="Comma-separated names; without them, all names.")]
"""The metrics that are asked for."""

Aggregations = Annotated[str | None, Query(description="Comma-separated: min, max, avg, sum, skew; all if not given.")]
"""How metrics are aggregated."""


def invalid_parameter(found: Mapping[str, Any]) -> str:
    """Return the error text for a request parameter, whose name may be that of a secret: `path.token`."""
    return f"{'.'.join(map(str, found['loc']))}: {without_secrets(found['msg'])}"


#: Java 17's serialized form of Flink's SerializedThrowable with these three texts as message, stack trace and class.
_WRITTEN = base64.b64decode(
    "rO0ABXNyAClvcmcuYXBhY2hlLmZsaW5rLnV0aWwuU2VyaWFsaXplZFRocm93YWJsZWUWnfUfpxPzAgADTAAZZnVsbFN0cmluZ2lmaWVkU3RhY2tU"
    "cmFjZXQAEkxqYXZhL2xhbmcvU3RyaW5nO0wAFm9yaWdpbmFsRXJyb3JDbGFzc05hbWVxAH4AAVsAE3NlcmlhbGl6ZWRFeGNlcHRpb250AAJbQnhy"
    "ABNqYXZhLmxhbmcuRXhjZXB0aW9u0P0fPho7HMQCAAB4cgATamF2YS5sYW5nLlRocm93YWJsZdXGNSc5d7jLAwAETAAFY2F1c2V0ABVMamF2YS9s"
    "YW5nL1Rocm93YWJsZTtMAA1kZXRhaWxNZXNzYWdlcQB+AAFbAApzdGFja1RyYWNldAAeW0xqYXZhL2xhbmcvU3RhY2tUcmFjZUVsZW1lbnQ7TAAU"
    "c3VwcHJlc3NlZEV4Y2VwdGlvbnN0ABBMamF2YS91dGlsL0xpc3Q7eHBwdAAIQG1lc3NhZ2V1cgAeW0xqYXZhLmxhbmcuU3RhY2tUcmFjZUVsZW1l"
    "bnQ7AkYqPDz9IjkCAAB4cAAAAABzcgAfamF2YS51dGlsLkNvbGxlY3Rpb25zJEVtcHR5TGlzdHq4F7Q8p57eAgAAeHB4dAAGQHRyYWNldAAGQGNs"
    "YXNzdXIAAltCrPMX+AYIVOACAAB4cAAAAAA="
)
_PLACES = tuple(b"t\0" + bytes([len(text)]) + text.encode() for text in ("@message", "@trace", "@class"))
#: Characters of a text; more would need another form than Java's short one, which has up to 65,535 bytes.
_MOST = 10_000


def failure_cause(kind: str, text: str) -> FailureCause:
    """Return a failure in Flink's message.

    Args:
        kind: Name of the error's class.
        text: What has happened.
    """
    written = _WRITTEN
    for place, value in zip(_PLACES, (text, f"{kind}: {text}", kind), strict=True):
        written = written.replace(place, _java_text(value), 1)
    return FailureCause(class_=kind, stack_trace=text, serialized_throwable=base64.b64encode(written).decode())


def _java_text(text: str) -> bytes:
    """Return a text as Java's streams write it: UTF-16 units, each as UTF-8, zero as two bytes."""
    units = text[:_MOST].encode("utf-16-be", "surrogatepass")
    encoded = b"".join(
        b"\xc0\x80" if unit == b"\0\0" else unit.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass")
        for unit in (units[at : at + 2] for at in range(0, len(units), 2))
    )
    return b"t" + len(encoded).to_bytes(2, "big") + encoded


_DEEPEST = 50


def jsonable(value: Any, depth: int = 0) -> Any:
    """Convert a value to one that JSON can represent.

    Rows with field names, dataclasses and mappings become objects, other collections become arrays, bytes become base64
    text. Numbers that JSON lacks, and all other values, become text.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if depth >= _DEEPEST:
        return "..."
    return _collection(value, depth + 1)


def _collection(value: Any, depth: int) -> Any:
    if isinstance(value, Row):
        return _collection(value.as_dict() if value._fields is not None else list(value), depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name), depth) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): jsonable(one, depth) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(one, depth) for one in value]
    return jsonable(str(value))
