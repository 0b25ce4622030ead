"""The web page of jobs and sessions: files that a browser loads from their endpoint, the same for everybody.

They are plain modules of JavaScript and a style sheet, without anything of other hosts. A browser loads them without
the token, which it cannot send when it opens an address; all data that they show needs it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from scurry._dataclasses import dataclass

__all__ = ["HEADERS", "PageFile", "page_files"]

_STATIC = Path(__file__).with_name("static")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}

#: Headers of every file: it runs scripts of this endpoint only, and is part of no other page.
HEADERS = {
    "content-security-policy": "; ".join(f"{directive} {source}" for directive, source in _POLICY.items()),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}


@dataclass(frozen=True)
class PageFile:
    """A file of the page."""

    content: bytes
    media_type: str


@cache
def page_files() -> dict[str, PageFile]:
    """Return all files of the page by their paths; the page itself is at `/`."""
    found = {f"/page/{file.name}": PageFile(file.read_bytes(), _TYPES[file.suffix]) for file in _STATIC.iterdir()}
    return {"/": found.pop("/page/index.html"), **found}
