"""Open a page in the user's browser."""

from __future__ import annotations

import html
import os
import sys

from scurry.common._process.directories import runtime_directories


def open_in_browser(address: str) -> bool:
    """Open an address, which may have a token; return whether there is a browser.

    The browser is given a file that leads there: other users see the arguments of processes, but not this file.
    """
    import webbrowser

    if sys.platform.startswith("linux") and not {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & os.environ.keys():
        return False  # those that remain would take over the terminal
    directory = next(iter(runtime_directories()))
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = directory / "open.html"
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as page:
        page.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(address)}">')
    try:
        return webbrowser.open(file.as_uri())
    except webbrowser.Error:
        return False
