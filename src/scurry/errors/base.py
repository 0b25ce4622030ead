"""The base of all errors."""

from __future__ import annotations

import sys
from typing import ClassVar

from scurry.user_frames import user_frames


class ScurryError(Exception):
    """Base of all errors raised by scurry itself.

    A public method raises it with only the user's frames in its traceback; the attributes hold what was cut off.

    Attributes:
        permanent: Whether a restart cannot help, so that the restart strategy is not used.
        cause: The error that led to it, None if there is none.
        details: The full text with all tracebacks, after it has left a public method.
    """

    permanent: ClassVar[bool] = False
    cause: BaseException | None = None
    details: str = ""

    def report(self) -> str:
        """Return the message, its notes, and the line of the user's program that caused it."""
        text = "\n".join([str(self), *getattr(self, "__notes__", ())])
        entries = list(user_frames(self.__traceback__))
        if not entries:
            return text
        return f"{text}\n  at {entries[-1].tb_frame.f_code.co_filename}:{entries[-1].tb_lineno}"

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython and Jupyter show."""
        text = f"{type(self).__name__}: {self.report()}"
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        cells = getattr(getattr(shell, "compile", None), "_filename_map", {})
        for file, number in cells.items():
            text = text.replace(f"{file}:", f"In[{number}]:")
        return text.splitlines()
