"""The base of all errors."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, ClassVar, Self

from scurry.errors.user_frames import user_frames, with_source

if TYPE_CHECKING:
    from scurry.errors.table import StatementPlace


HINT = "  hint: "
"""What the notes of errors begin with that say what to do."""


class ScurryError(Exception):
    """Base of all errors raised by scurry itself.

    A public method raises it with only the user's frames in its traceback; the attributes hold what was cut off.

    Attributes:
        permanent: Whether a restart cannot help, so that the restart strategy is not used.
        cause: The error that led to it, or None.
        details: The full text with all tracebacks, after it has left a public method.
        statement: The part of the SQL statement that it is about, None if it is about none.
    """

    permanent: ClassVar[bool] = False
    cause: BaseException | None = None
    details: str = ""
    statement: StatementPlace | None = None
    _place_is_noted = False

    def with_hint(self, text: str) -> Self:
        """Add advice as a note; an empty text adds nothing."""
        if text:
            self.add_note(f"{HINT}{text}")
        return self

    def describe(self) -> str:
        """Return the message, its hints, and the line of the SQL statement with the place underlined."""
        marked = [self.statement.excerpt()] if self.statement is not None and not self._place_is_noted else []
        return "\n".join([str(self), *getattr(self, "__notes__", ()), *marked])

    def note_place(self) -> None:
        """Make the line of the SQL statement a note, which Python prints with the error."""
        if self.statement is not None and not self._place_is_noted:
            self.add_note(self.statement.excerpt())
            self._place_is_noted = True

    def report(self) -> str:
        """Return the message, its notes, and the line of the user's program that caused it, if they do not name it."""
        text = self.describe()
        entries = list(user_frames(self.__traceback__))
        if not entries:
            return text
        place = f"{entries[-1].tb_frame.f_code.co_filename}:{entries[-1].tb_lineno}"
        shown = with_source(place)
        return text if re.search(rf"{re.escape(shown)}(?!\d)", text) else f"{text}\n  at {shown}"

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython and Jupyter show."""
        text = f"{type(self).__name__}: {self.report()}"
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        cells = getattr(getattr(shell, "compile", None), "_filename_map", {})
        for file, number in cells.items():
            text = text.replace(f"{file}:", f"In[{number}]:")
        return text.splitlines()
