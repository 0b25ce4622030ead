"""The progress of a job in a notebook, below the cell that waits for it."""

from __future__ import annotations

import contextvars
import importlib
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

_SECONDS = 0.5


def in_notebook() -> bool:
    """Return whether this process executes the cells of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


class ProgressPanel:
    """A panel that shows lines of text and is updated twice a second, until it shows the last ones.

    A screen reader announces its changes.
    """

    def __init__(self, status: Callable[[], Sequence[str]]) -> None:
        """Prepare the panel.

        Args:
            status: Returns its lines.
        """
        self._status = status
        self._over = threading.Event()
        self._display: Any = importlib.import_module("IPython.display")  # its functions have no types
        # The kernel finds the cell that an output belongs to in the context of the thread.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._update,), daemon=True, name="progress")

    def start(self) -> None:
        """Show the panel."""
        self._handle = self._display.display(self._html(self._status(), "<progress></progress>"), display_id=True)
        self._thread.start()

    def stop(self, last: str) -> None:
        """Show a last line instead of the progress."""
        self._over.set()
        self._thread.join()
        self._handle.update(self._html([last], ""))

    def _update(self) -> None:
        while not self._over.wait(_SECONDS):
            self._handle.update(self._html(self._status(), "<progress></progress>"))

    def _html(self, lines: Sequence[str], bar: str) -> Any:
        from html import escape  # whose entities take time to load, and only notebooks need them

        text = "<br>".join(map(escape, lines))
        return self._display.HTML(f'<div class="scurry-progress" role="status">{bar} <small>{text}</small></div>')
