"""Stream changes: server-sent events with the answers to other paths, whenever these differ from those sent before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import StreamingResponse

from scurry.rest.guard import ENDING
from scurry.rest.internal import answer

# Not in the description: its answers have no end.
router = APIRouter(include_in_schema=False)

#: Seconds between two looks at the watched paths.
INTERVAL_SECONDS = 1.0
#: Maximum streams of an endpoint: the other connections are for requests.
MOST_STREAMS = 32
#: Maximum paths of a stream.
MOST_PATHS = 16

#: Seconds without a change after which a comment shows that the endpoint is there.
_SILENCE_SECONDS = 10.0
_PAUSE_SECONDS = 0.1


@router.get("/events")
async def events(
    request: Request, path: Annotated[list[str], Query(min_length=1, max_length=MOST_PATHS)]
) -> StreamingResponse:
    """Send the answers to other paths now, and each again when it has changed, until the endpoint ends."""
    if wrong := [one for one in path if not one.startswith("/") or one.startswith(("/events", "/v1/events"))]:
        raise HTTPException(400, f"{wrong[0]!r} cannot be watched: give paths such as /jobs/overview")
    state = request.app.state
    if getattr(state, "streams", 0) >= MOST_STREAMS:
        raise HTTPException(503, f"{MOST_STREAMS} clients watch already: ask again later", {"Retry-After": "5"})
    ending: Callable[[], bool] = request.scope.get("state", {}).get(ENDING, lambda: False)
    return StreamingResponse(_counted(state, _changes(request.app, path, ending)), media_type="text/event-stream")


async def _counted(state: Any, stream: AsyncIterator[str]) -> AsyncIterator[str]:
    state.streams = getattr(state, "streams", 0) + 1
    try:
        async for part in stream:
            yield part
    finally:
        state.streams -= 1


async def _changes(application: Any, targets: list[str], ending: Callable[[], bool]) -> AsyncIterator[str]:
    sent: dict[str, str] = {}
    silent = 0.0
    while True:
        over = ending()  # before the last look, which then shows how it has ended
        for target in targets:
            content = await _content(application, target)
            if sent.get(target) != content:
                sent[target], silent = content, 0.0
                yield f'data: {{"path": {json.dumps(target)}, {content}}}\n\n'
        if over:
            return
        if silent >= _SILENCE_SECONDS:
            silent = 0.0
            yield ": nothing new\n\n"
        waited = 0.0
        while waited < INTERVAL_SECONDS and not ending():
            await asyncio.sleep(_PAUSE_SECONDS)
            waited += _PAUSE_SECONDS
        silent += waited


async def _content(application: Any, target: str) -> str:
    try:
        status, kind, body = await answer(application, target)
    except Exception as error:  # the application has said so to its log, and answers other paths
        status, kind, body = 500, "application/json", json.dumps({"errors": [type(error).__name__]}).encode()
    text = body.decode(errors="replace")
    return f'"status": {status}, "body": {text if kind == "application/json" else json.dumps(text)}'
